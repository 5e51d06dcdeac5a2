"""Imagined positions, over the real `referee imagine`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest.mock import patch

from referee_bot import Bot, Reply, Turn, self_play
from referee_bot.imagine import POSITIONS, Imaginer, ImagineError, Position

PROGRAM = os.environ.get("REFEREE", str(Path(__file__).parents[3] / "target/debug/referee"))


class Asking(Bot):
    """A bot that plays the first legal moves, and asks for each position first."""

    def __init__(self, imaginer: Imaginer, look: Any) -> None:
        self._imaginer = imaginer
        self._look = look

    def choose(self, turn: Turn) -> Reply:
        self._look(turn, self._imaginer.imagine(turn, worlds=2))
        return turn.legal[len(turn.events) % len(turn.legal)]


@unittest.skipUnless(Path(PROGRAM).exists(), "the referee is not built")
class Imagining(unittest.TestCase):
    def setUp(self) -> None:
        self.imaginer = Imaginer(PROGRAM)
        self.addCleanup(self.imaginer.close)

    def play(self, game: str, look: Any, **options: int) -> None:
        referee = [PROGRAM, "stdio", "--clock", "none"]
        setup = {"game": game, "options": options}
        self.assertEqual(len(list(self_play(Asking(self.imaginer, look), [setup], referee=referee))), 1)

    def test_the_imagined_position_has_the_moves_and_the_view_of_the_turn(self) -> None:
        games = subprocess.run([PROGRAM, "games", "--json"], stdout=subprocess.PIPE, check=True).stdout

        def look(turn: Turn, position: Position) -> None:
            state = position.explore(world=position.worlds - 1, view_of=turn.seat)
            self.assertEqual((state.legal[turn.seat], state.view), (turn.legal, turn.view))
            self.assertEqual(state.turns_left, turn.turns_left)

        limits = {"xe_queo": {}}
        for game in map(json.loads, games.splitlines()):
            with self.subTest(game["id"]):
                self.play(game["id"], look, **limits.get(game["id"], {"turn_limit": 30}))

    def test_positions_of_a_game_that_is_a_program_are_imagined(self) -> None:
        directory = Path(__file__).parents[3] / "examples/games/kuhn_poker"
        imagined = []

        def look(turn: Turn, position: Position) -> None:
            state = position.explore(world=position.worlds - 1, view_of=turn.seat)
            self.assertEqual((state.legal[turn.seat], state.view), (turn.legal, turn.view))
            imagined.append(position)

        with Imaginer(PROGRAM, games=[directory]) as imaginer:
            referee = [PROGRAM, "stdio", "--clock", "none", "--game", str(directory)]
            list(self_play(Asking(imaginer, look), [{"game": "kuhn_poker"}], referee=referee))
        self.assertGreater(len(imagined), 2)

    def test_moves_lead_to_the_end_of_the_game(self) -> None:
        def look(turn: Turn, position: Position) -> None:
            line: list[tuple[int, str]] = []
            state = position.explore()
            while state.legal:
                ((seat, legal),) = state.legal.items()
                line.append((seat, legal[0]))
                state = position.explore(line)
            self.assertEqual(state.scores, [0.5, 0.5])
            self.assertEqual((state.ranks, state.reason), ([1, 1], "turn_limit"))

        self.play("checkers", look, turn_limit=6)

    def test_playouts_score_every_seat(self) -> None:
        def look(turn: Turn, position: Position) -> None:
            lines = [[(turn.seat, move)] for move in turn.legal] * 20  # more than one write
            scores = position.playouts(lines, 2, seed=7)
            self.assertEqual(len(scores), len(lines))
            for score in scores:
                self.assertAlmostEqual(sum(score), 1)
            self.assertEqual(position.playouts(lines[:1], 2, seed=7), scores[:1])

        self.play("jeex", look, turn_limit=4)

    def test_errors_name_the_move_and_leave_the_program_usable(self) -> None:
        def look(turn: Turn, position: Position) -> None:
            with self.assertRaisesRegex(ImagineError, "move 1: `1-32` is not a legal move of seat") as caught:
                position.explore([(turn.seat, "1-32")])
            self.assertEqual(caught.exception.code, "illegal_move")
            self.assertEqual(position.explore().legal[turn.seat], turn.legal)

        self.play("checkers", look, turn_limit=2)

    def test_a_position_that_was_replaced_is_an_error(self) -> None:
        kept: list[Position] = []
        self.play("checkers", lambda turn, position: kept.append(position), turn_limit=POSITIONS + 2)
        with self.assertRaisesRegex(ValueError, "was replaced: 64 newer ones"):
            kept[0].explore()
        self.assertEqual(kept[-1].worlds, 1)

    def test_a_program_that_has_ended_is_an_error(self) -> None:
        def look(turn: Turn, position: Position) -> None:
            position.explore()

        imaginer = Imaginer(PROGRAM)
        imaginer.close()
        with self.assertRaises((ConnectionError, ValueError)):
            imaginer.ask([{"type": "explore", "position": 0}])


class Finding(unittest.TestCase):
    def test_a_missing_program_is_named_with_what_to_do(self) -> None:
        with patch.dict(os.environ, {"REFEREE": "/no/such/referee"}):
            with self.assertRaisesRegex(FileNotFoundError, "`/no/such/referee` is no program: install referee"):
                Imaginer()
        with patch.dict(os.environ, {"PATH": "/no/such/folder"}):
            os.environ.pop("REFEREE", None)
            with self.assertRaisesRegex(FileNotFoundError, "`referee` is not on the PATH: .* in REFEREE"):
                Imaginer()

    def test_a_program_that_is_no_referee_is_an_error(self) -> None:
        with Imaginer(sys.executable) as imaginer, self.assertRaisesRegex(ConnectionError, "has ended"):
            imaginer.ask([{"type": "explore", "position": 0}])


if __name__ == "__main__":
    unittest.main()
