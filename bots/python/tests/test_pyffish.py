"""Variants of Fairy-Stockfish as games, where `pyffish` is installed: the directory is played by its own program."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from referee_game import Program
from tests.rules_program import Rules

try:
    import pyffish
except ImportError as error:
    raise unittest.SkipTest("pyffish is not installed") from error

from referee_game.pyffish import Unsupported, write
from referee_game.pyffish.rules import FairyGame, rows

try:
    import chess.pgn
except ImportError:
    chess = None

VARIANTS = pyffish.variants() if os.environ.get("LONG_TESTS") else [
    "crazyhouse", "antichess", "xiangqi", "janggi"
]
# The library takes more than a millisecond to set a position up.
MOVES = 200 if os.environ.get("LONG_TESTS") else 30


class FairyTest(unittest.TestCase):
    def test_random_matches_of_variants_end_as_the_library_says(self) -> None:
        rng = random.Random(1)
        played = 0
        for variant in VARIANTS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    write(variant, Path(folder))
                except Unsupported:
                    continue
            program = Program(FairyGame(variant))
            fen = pyffish.start_fen(variant)
            position = program.answer({"type": "start", "options": {"fen": fen, "moves": MOVES}, "seats": 2})
            moves: list[str] = []
            while "decide" in position["turn"]:
                (decision,) = position["turn"]["decide"]
                self.assertEqual(decision["seat"], int(decision["view"]["fen"].split()[1] == "b"), variant)
                if len(moves) % 7 == 0:
                    self.assertEqual(pyffish.get_fen(variant, fen, moves), decision["view"]["fen"])
                    self.assertEqual(set(decision["legal"]), set(pyffish.legal_moves(variant, fen, moves)))
                self.assertTrue(all(len(row) == len(rows(fen)[0]) for row in rows(decision["view"]["fen"])))
                moves.append(rng.choice(decision["legal"]))
                made = [{"seat": decision["seat"], "move": moves[-1]}]
                position = program.answer({"type": "play", "state": position["state"], "moves": made})
            over = position["turn"]["over"]
            self.assertEqual(over["reason"] == "turn_limit", len(moves) == MOVES and over["ranks"] == [1, 1], variant)
            played += 1
        self.assertGreater(played, len(VARIANTS) // 2)

    def test_repetitions_end_a_match(self) -> None:
        program = Program(FairyGame("chess"))
        start = {"fen": pyffish.start_fen("chess"), "moves": 99}
        position = program.answer({"type": "start", "options": start, "seats": 2})
        for ply, move in enumerate(["e2e4", "e7e5", *["g1f3", "g8f6", "f3g1", "f6g8"] * 2]):
            made = [{"seat": ply % 2, "move": move}]
            position = program.answer({"type": "play", "state": position["state"], "moves": made})
        self.assertEqual(position["turn"]["over"], {"ranks": [1, 1], "reason": "claim"})

    def test_imagined_position_is_that_of_its_moves(self) -> None:
        rng = random.Random(2)
        for variant in ["crazyhouse", "xiangqi"]:
            program = Program(FairyGame(variant))
            options = {"fen": pyffish.start_fen(variant), "moves": 200}
            position = program.answer({"type": "start", "options": options, "seats": 2})
            for _ in range(MOVES):
                if "decide" not in position["turn"]:
                    break
                (decision,) = position["turn"]["decide"]
                last, state = decision, position["state"]
                made = [{"seat": decision["seat"], "move": rng.choice(decision["legal"])}]
                position = program.answer({"type": "play", "state": state, "moves": made})
            request = {"type": "imagine", "options": options, "seats": 2, "sides": 2, "seat": last["seat"], "random": [1]}
            imagined = program.answer({**request, "view": last["view"]})
            self.assertEqual((imagined["state"], imagined["turn"]["decide"]), (state, [last]))
            for moves, what in [(["a1a9"], "not legal"), ([1], "a list of moves"), ("a1", "a list of moves")]:
                refused = program.answer({**request, "view": {**last["view"], "moves": moves}})
                self.assertIn(what, refused["bad_view"])

    def test_a_mate_is_won_by_the_side_that_gives_it(self) -> None:
        program = Program(FairyGame("chess"))
        position = program.answer(
            {"type": "start", "options": {"fen": pyffish.start_fen("chess"), "moves": 9}, "seats": 2}
        )
        for seat, move in enumerate(["f2f3", "e7e5", "g2g4", "d8h4"]):
            made = [{"seat": seat % 2, "move": move}]
            position = program.answer({"type": "play", "state": position["state"], "moves": made})
        self.assertEqual(position["turn"]["over"], {"ranks": [2, 1], "reason": "checkmate"})

    @unittest.skipUnless(chess, "python-chess is not installed")
    def test_pgn_is_read_by_python_chess(self) -> None:
        for variant, moves in [("chess", ["e2e4", "e7e5", "e1e2"]), ("crazyhouse", ["e2e4", "d7d5", "e4d5", "d8d5", "P@e4"])]:
            match = {
                "form": "pgn", "match": "m1", "options": {"fen": pyffish.start_fen(variant), "moves": 9}, "names": ["a b", "c"],
                "moves": [{"seat": ply % 2, "move": move} for ply, move in enumerate(moves)], "draws": [], "ranks": [1, 2],
                "ended": "resignation (resignation)", "tags": {},
            }
            text = Program(FairyGame(variant)).answer({"type": "export", **match})["text"]
            game = chess.pgn.read_game(io.StringIO(text))
            self.assertEqual(game.errors, [])
            self.assertEqual([move.uci() for move in game.mainline_moves()], moves)
            self.assertEqual((game.headers["White"], game.headers["Result"]), ("a b", "1-0"))

    def test_a_directory_has_all_that_its_program_needs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "referee_game.pyffish", "crazyhouse", f"{folder}/game"]
            root = Path(__file__).parents[1]
            printed = subprocess.run(command, cwd=root, text=True, capture_output=True, check=True).stdout
            self.assertIn("referee game check", printed)
            with Rules(Path(folder, "game")) as rules:
                position = rules.start(fen=pyffish.start_fen("crazyhouse"), moves=100)
                self.assertEqual(len(position["turn"]["decide"][0]["legal"]), 20)
                self.assertIn("no position", rules.start(fen="8/8 w", moves=100)["bad_options"])
            for variant, what in [("chess3", "no such variant"), ("bughouse", "two boards")]:
                with self.assertRaisesRegex(Unsupported, what):
                    write(variant, Path(folder, "other"))


if __name__ == "__main__":
    unittest.main()
