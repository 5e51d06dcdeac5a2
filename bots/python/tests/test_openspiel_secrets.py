"""What bots learn in games of OpenSpiel with hidden information: what the library tells the player, and nothing else.

Wherever the library does not tell two histories apart for a player that decides, the seat has got the same lines.
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path
from typing import Any

from referee_game import Json, Program

try:
    import pyspiel
except ImportError as error:
    raise unittest.SkipTest("open_spiel is not installed") from error

from referee_game.openspiel import OpenSpielGame, load, write

from .openspiel_games import draw

PROGRAM = os.environ.get("REFEREE", str(Path(__file__).parents[3] / "target/debug/referee"))
MATCHES = 2000 if os.environ.get("LONG_TESTS") else 30
# Histories that are longer are hardly ever indistinguishable.
MOST_STEPS = 20

GAMES = [
    "bargaining",
    "battleship",
    "coop_box_pushing",
    "dark_chess",
    "dark_hex",
    "dark_hex_ir",
    "dark_hex(num_rows=2,num_cols=2)",
    "dark_hex(gameversion=adh)",
    "first_sealed_auction",
    "gin_rummy",
    "goofspiel(imp_info=True,num_cards=4)",
    "kriegspiel",
    "kuhn_poker(players=3)",
    "latent_ttt",
    "leduc_poker",
    "liars_dice",
    "liars_dice_ir",
    "oh_hell",
    "phantom_go",
    "phantom_go(board_size=3)",
    "phantom_ttt",
    "phantom_ttt(obstype=reveal-numturns)",
    "phantom_ttt_ir",
    "rbc",
    "sheriff",
    "tiny_hanabi",
]

class Seat:
    """What a seat has got, and what the library has told its player at each decision, with the moves."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.told: list[str] = []


def play(about: OpenSpielGame, rng: random.Random, learned: dict[Any, dict[str, str]]) -> None:
    """Plays a random match, and adds what seats have got whenever they know something: for each history, as text."""
    program, state = Program(about), about.game.new_initial_state()
    seats = [Seat() for _ in range(about.game.num_players())]
    position = program.answer({"type": "start", "options": {}, "seats": len(seats)})
    for _ in range(MOST_STEPS):
        turn = position["turn"]
        deciding = {decision["seat"]: decision for decision in turn.get("decide", [])}
        for number, seat in enumerate(seats):
            if number in deciding or state.is_terminal():
                decision = deciding.get(number)
                # The names of the seats, the options and all else are the same in each match.
                got = repr((seat.lines, decision and (decision["view"], decision["legal"])))
                # The end and its result are public.
                result = tuple(state.returns()) if state.is_terminal() else None
                key = (number, result, *seat.told, about.text(state, number))
                learned[key][state.history_str()] = got
        if "over" in turn:
            return
        if "draw" in turn:
            drawn, _ = draw(turn["draw"], rng)
            position = program.answer({"type": "settle", "state": position["state"], "drawn": drawn})
        else:
            moves = []
            for number, decision in deciding.items():
                move = rng.choice(decision["legal"])
                moves.append({"seat": number, "move": move})
                seats[number].told += [about.text(state, number), move]
            for number, decision in deciding.items():
                tell_move(seats, number, moves, decision)
            position = program.answer({"type": "play", "state": position["state"], "moves": moves})
        state = about.unpack(position["state"])
        for event in position.get("events", []):
            for number, seat in enumerate(seats):
                form = event.get("seats", {}).get(str(number), event["public"])
                if form is not None:
                    seat.lines.append(form)


def tell_move(seats: list[Seat], mover: int, moves: list[Json], decision: Json) -> None:
    """Adds the event that the referee makes of a move."""
    move = next(move["move"] for move in moves if move["seat"] == mover)
    is_open = not decision.get("secret") and not decision.get("unseen")
    for number, seat in enumerate(seats):
        if number == mover or is_open:
            seat.lines.append(("move", mover, move))
        elif not decision.get("unseen"):
            seat.lines.append(("move", mover, None))


class Secrets(unittest.TestCase):
    def test_seats_get_the_same_in_histories_that_the_library_does_not_tell_apart(self) -> None:
        compared = 0
        for name in GAMES:
            with self.subTest(name):
                about, rng = load(name), random.Random(name)
                learned: dict[Any, dict[str, str]] = defaultdict(dict)
                for _ in range(MATCHES):
                    play(about, rng, learned)
                differ = 0
                for (seat, *_), by_history in learned.items():
                    first, *others = by_history.values()
                    compared += len(others)
                    differ += sum(other != first for other in others)
                    if differ:
                        self.fail(f"seat {seat} of {name} learns more: {by_history}")
        self.assertGreater(compared, 20 * MATCHES)

    def test_an_opponents_failed_attempts_are_not_seen(self) -> None:
        about = load("phantom_ttt")
        learned: dict[Any, dict[str, str]] = defaultdict(dict)
        for seed in range(MATCHES):
            play(about, random.Random(seed), learned)
        attempts = [
            {history.count(",") for history in by_history}
            for (seat, *_), by_history in learned.items()
            if seat == 0 and len(by_history) > 1
        ]
        self.assertTrue(any(len(lengths) > 1 for lengths in attempts), "no opponent has failed")


# Plays these moves while they are legal, otherwise the first legal ones, and keeps what it gets.
SCRIPTED = """
import json, sys
moves, got = sys.argv[2].split(), open(sys.argv[1], "w")
for line in sys.stdin:
    message = json.loads(line)
    answer = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    print(line, end="", file=got, flush=True)
    if message["type"] == "hello":
        answer = {"type": "hello", "protocol": 1, "name": "scripted"}
    elif message["type"] == "start":
        answer["type"] = "ready"
    elif message["type"] == "turn":
        choices = [move for move in moves if move in message["legal"]] or message["legal"]
        answer.update(type="move", move=choices[0])
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


@unittest.skipUnless(Path(PROGRAM).exists(), "the referee is not built")
class Matches(unittest.TestCase):
    def test_a_bot_gets_the_same_lines_whether_or_not_its_opponent_has_failed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            game, script = Path(folder, "game"), Path(folder, "scripted.py")
            write("phantom_ttt", game)
            script.write_text(SCRIPTED)

            def lines(of_second: str) -> list[str]:
                got = Path(folder, "got")
                first, second = (
                    shlex.join([sys.executable, str(script), str(log), moves])
                    for log, moves in ((got, "x(0,0) x(0,1) x(0,2)"), (Path(folder, "other"), of_second))
                )
                options = ["--clock", "none", "--seed", "1" * 64, "--strict"]
                subprocess.run([PROGRAM, "play", str(game), first, second, *options], check=True, capture_output=True)
                return got.read_text().splitlines()

            direct, failing = lines("o(2,2) o(2,0)"), lines("o(0,0) o(2,2) o(0,1) o(2,0)")
            self.assertEqual(sum('"type":"turn"' in line for line in direct), 3)
            # The numbers of the match's salt and nonces aside, `end` is the same, too.
            self.assertEqual(direct[1:-2], failing[1:-2])


if __name__ == "__main__":
    unittest.main()
