"""Games of OpenSpiel as programs of the referee. They need the package `open_spiel` and the built referee.

With LONG_TESTS=1, all games of the library are compared, and the table of OPENSPIEL.md must be current; with UPDATE=1 it is
written anew.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

from referee_game import Dice, Json, Pick

try:
    import pyspiel
except ImportError as error:
    raise unittest.SkipTest("open_spiel is not installed") from error

from referee_game.openspiel import Unsupported, load
from referee_game.openspiel.rules import _draw, _escaped, _outcome

from .openspiel_games import compare, is_move

PACKAGE_ROOT = Path(__file__).parents[1]
ROOT = PACKAGE_ROOT.parents[1]
PROGRAM = os.environ.get("REFEREE", str(ROOT / "target/debug/referee"))
PAGE = PACKAGE_ROOT / "OPENSPIEL.md"
# In seconds. A game that takes longer hangs.
TIMEOUT = 300

HANDFUL = [
    "backgammon",
    "bargaining",
    "breakthrough",
    "euchre",
    "hex(board_size=4,swap=True)",
    "leduc_poker(players=3)",
    "liars_dice",
    "markov_soccer",
    "oshi_zumo",
    "phantom_ttt",
    "tic_tac_toe",
]


class Games(unittest.TestCase):
    def test_random_matches_are_those_of_the_library(self) -> None:
        for name in HANDFUL:
            with self.subTest(name):
                about = load(name)
                for seed in range(2):
                    compare(about, random.Random(seed))

    def test_games_without_seats_or_listed_chance_are_refused_with_the_reason(self) -> None:
        for name, reason in [
            ("chequers", "chequers: OpenSpiel has no such game"),
            ("2048", "2048: 1 player; expected 2 to 6"),
            ("kuhn_poker(players=7)", "7 players; expected 2 to 6"),
            ("mfg_garnet", "a mean field has no seats"),
            ("nfg_game", "OpenSpiel does not load it"),
            ("hex(size=5)", "OpenSpiel does not load it"),
        ]:
            with self.subTest(name), self.assertRaises(Unsupported) as caught:
                load(name)
            self.assertIn(reason, str(caught.exception))

    def test_the_escape_of_moves_can_be_undone(self) -> None:
        texts = ['wA1 \\bG1', "wA1 /bG1", '"%5C"', "%", " a ", "é\n", "a+b (c) [d]"]
        moves = [_escaped(text) for text in texts]
        self.assertEqual(moves[:2], ["wA1 %5CbG1", "wA1 /bG1"])
        self.assertEqual([unquote(move) for move in moves], texts)
        self.assertTrue(all(map(is_move, moves)), moves)
        self.assertFalse(any(move != move.strip() for move in moves), moves)

    def test_moves_of_hive_keep_their_direction(self) -> None:
        about, rng = load("hive"), random.Random(1)
        state, backslashes = about.game.new_initial_state(), 0
        while not state.is_terminal() and backslashes < 100:
            [decision] = about.turn(state)
            for move, action in zip(decision.legal, state.legal_actions()):
                self.assertEqual(unquote(move), state.action_to_string(action))
                backslashes += "\\" in state.action_to_string(action)
            state.apply_action(rng.choice(state.legal_actions()))
        self.assertGreater(backslashes, 0)

    def test_games_with_parameters_are_those_of_the_library(self) -> None:
        page = PAGE.read_text()
        section = page[page.index("## Games with parameters") : page.index("## Games that work")]
        names = [line.split("`")[1] for line in section.splitlines() if "`" in line]
        self.assertGreater(len(names), 8)
        for name in names:
            with self.subTest(name):
                for seed in range(2):
                    compare(load(name), random.Random(seed))

    def test_games_that_draw_their_chance_themselves_begin_with_a_seed(self) -> None:
        for name in "tarok", "negotiation", "bridge_uncontested_bidding":
            with self.subTest(name):
                about = load(name)
                self.assertEqual(about.turn(about.start({}, 2)), Pick(2**31))
                dealt = [str(about.settle(None, [seed]).state) for seed in (7, 7, 8)]
                # A match of the last one takes 8 s.
                for seed in range(2 if os.environ.get("LONG_TESTS") else 1):
                    compare(about, random.Random(seed))
                state = about.settle(None, [7]).state
                assert state is not None
                while state.is_chance_node():
                    state = about.settle(state, [0]).state
                    assert state is not None
                again = about.unpack(about.pack(state))
                self.assertEqual((str(state), dealt[0]), (str(again), dealt[1]))

    def test_draws_have_the_probabilities_of_the_library(self) -> None:
        thirds = [(5, 1 / 3), (6, 2 / 3)]
        self.assertEqual(_draw(thirds), Pick(3))
        self.assertEqual([_outcome(thirds, [drawn]) for drawn in range(3)], [5, 6, 6])
        dice = [(outcome, (1 if outcome < 6 else 2) / 36) for outcome in range(21)]
        self.assertEqual(_draw(dice), Pick(36))
        found = [_outcome(dice, [drawn]) for drawn in range(36)]
        self.assertEqual([found.count(outcome) for outcome in range(21)], [1] * 6 + [2] * 15)
        odd = [(0, 0.1234567), (1, 0.8765433)]
        self.assertEqual(_draw(odd), Dice(7, 255))
        self.assertEqual([_outcome(odd, [first, *[1] * 6]) for first in (1, 32, 33, 255)], [0, 0, 1, 1])
        many = [(outcome, 1 / 70_000) for outcome in range(70_000)]
        self.assertEqual(_draw(many), Dice(7, 255))
        self.assertEqual([_outcome(many, [1] * 7), _outcome(many, [255] * 7)], [0, 69_999])


class Directories(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, directory: Path) -> subprocess.CompletedProcess[str]:
        return module("referee_game.openspiel", name, str(directory))

    def referee(self, *args: str | Path) -> str:
        done = subprocess.run([PROGRAM, *map(str, args)], text=True, capture_output=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_what_is_written_is_checked_played_and_verified(self) -> None:
        bot = f"python3 '{PACKAGE_ROOT / 'random_bot.py'}'"
        names = ["backgammon", "kuhn_poker", "goofspiel(num_cards=5)", "chess(chess960=true)", "negotiation", "phantom_ttt"]
        for name in names:
            with self.subTest(name):
                game = self.folder / name.partition("(")[0]
                written = self.write(name, game)
                self.assertEqual(written.returncode, 0, written.stderr)
                self.assertIn(f"referee game check {game}", written.stdout)
                self.assertIn("ok      purity", self.referee("game", "check", game, "-n", "2"))
                records = self.folder / f"records {game.name}"
                self.referee("play", game, bot, bot, "-n", "2", "--record", records)
                self.assertIn("2 records, 0 differ", self.referee("verify", records, "--game", game))

    def test_moves_and_draws_with_hidden_information_are_secret(self) -> None:
        self.write("kuhn_poker", self.folder / "kuhn")
        bot = f"python3 '{PACKAGE_ROOT / 'random_bot.py'}'"
        self.referee("play", self.folder / "kuhn", bot, bot, "--record", self.folder)
        shown = self.referee("show", self.folder / "m1.jsonl", "--game", self.folder / "kuhn", "--view", "public")
        self.assertIn("hidden information", shown)
        self.assertNotIn("0pb", shown)

    def test_errors_name_the_game_or_the_directory(self) -> None:
        refused = self.write("2048", self.folder / "game")
        self.assertEqual((refused.returncode, refused.stderr), (1, "error: 2048: 1 player; expected 2 to 6\n"))
        (self.folder / "file").touch()
        refused = self.write("chess", self.folder)
        self.assertEqual(refused.stderr, f"error: {self.folder} is not empty: name a new directory\n")


def module(*args: str) -> subprocess.CompletedProcess[str]:
    """Runs a module in a process of its own, since the library ends it at some errors."""
    command = [sys.executable, "-m", *args]
    return subprocess.run(command, cwd=PACKAGE_ROOT, text=True, capture_output=True, timeout=TIMEOUT)


def row(name: str) -> Json:
    """Returns the row of a game."""
    try:
        done = module("tests.openspiel_games", name)
    except subprocess.TimeoutExpired:
        return {"name": name, "why": f"a match takes more than {TIMEOUT} s"}
    if done.returncode != 0:
        return {"name": name, "why": "the library ends the process"}
    found: Json = json.loads(done.stdout)
    if found["why"] is None:
        with tempfile.TemporaryDirectory() as folder:
            module("referee_game.openspiel", name, folder).check_returncode()
            checked = subprocess.run([PROGRAM, "game", "check", folder, "-n", "1"], text=True, capture_output=True)
        if checked.returncode != 0:
            found["why"] = checked.stdout.splitlines()[-2]
    return found


def table(rows: list[Json]) -> str:
    """Returns the tables of the page."""
    works = [each for each in rows if each["why"] is None]
    lines = ["| game | players | simultaneous | chance | hidden |", "|---|---|---|---|---|"]
    for each in works:
        marks = ["yes" if each[key] else "" for key in ("simultaneous", "chance", "hidden")]
        name = f"{each['name']} (1)" if each["draws"] else each["name"]
        lines.append(f"| {name} | {each['players']} | {' | '.join(marks)} |".replace("  ", " "))
    lines += ["", "## Games that do not work", "", "| reason | games |", "|---|---|"]
    reasons: dict[str, list[str]] = {}
    for each in rows:
        if each["why"] is not None:
            reasons.setdefault(each["why"], []).append(each["name"])
    lines += [f"| {reason} | {', '.join(names)} |" for reason, names in sorted(reasons.items())]
    return "\n".join(lines) + "\n"


@unittest.skipUnless(os.environ.get("LONG_TESTS"), "takes minutes: LONG_TESTS=1 runs it")
class Table(unittest.TestCase):
    maxDiff = None

    def test_the_table_says_which_games_of_the_library_work(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            found = table(list(pool.map(row, pyspiel.registered_names())))
        page = PAGE.read_text()
        before = page[: page.index("| game |")]
        if os.environ.get("UPDATE"):
            PAGE.write_text(before + found)
        self.assertEqual(PAGE.read_text(), before + found, "UPDATE=1 LONG_TESTS=1 writes the table anew")


if __name__ == "__main__":
    unittest.main()
