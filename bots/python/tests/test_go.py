"""The example game Go against a slow implementation of its rules, and against GNU Go and sgfmill where they are installed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import unittest
import warnings
from collections.abc import Iterator

from tests.rules_program import GAMES, Rules

try:
    with warnings.catch_warnings():
        # Python warns of its escapes when it compiles it.
        warnings.simplefilter("ignore")
        from sgfmill import sgf, sgf_moves
except ImportError:
    sgf = None

COLUMNS = "ABCDEFGHJKLMNOPQRST"
GNU_GO = shutil.which("gnugo", path=f"{os.environ['PATH']}:/usr/games")
MATCHES = 200 if os.environ.get("LONG_TESTS") else 12

Board = dict[tuple[int, int], str]


def neighbours(board: Board, at: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if (at[0] + x, at[1] + y) in board:
            yield at[0] + x, at[1] + y


def region(board: Board, at: tuple[int, int]) -> tuple[set[tuple[int, int]], set[str]]:
    """Returns the connected points that have the symbol of this one, and the symbols around them."""
    points, around = {at}, set()
    stack = [at]
    while stack:
        for near in neighbours(board, stack.pop()):
            if board[near] != board[at]:
                around.add(board[near])
            elif near not in points:
                points.add(near)
                stack.append(near)
    return points, around


class Position:
    """A position, and all boards before it."""

    def __init__(self, size: int) -> None:
        self.size, self.board, self.passes, self.moves = size, {(x, y): "." for x in range(size) for y in range(size)}, 0, 0
        self.earlier = {self.rows()}

    def rows(self) -> tuple[str, ...]:
        return tuple("".join(self.board[x, y] for x in range(self.size)) for y in reversed(range(self.size)))

    def after(self, at: tuple[int, int]) -> Board | None:
        """Returns the board after a stone, if it is legal."""
        if self.board[at] != ".":
            return None
        own, other = "XO" if self.moves % 2 == 0 else "OX"
        board = {**self.board, at: own}
        for near in neighbours(board, at):
            if board[near] == other:
                stones, around = region(board, near)
                if "." not in around:
                    board.update(dict.fromkeys(stones, "."))
        before, self.board = self.board, board
        is_legal = "." in region(board, at)[1] and self.rows() not in self.earlier
        self.board = before
        return board if is_legal else None

    def legal(self) -> set[str]:
        return {f"{COLUMNS[x]}{y + 1}" for x, y in self.board if self.after((x, y))} | {"pass"}

    def play(self, move: str) -> None:
        self.passes = self.passes + 1 if move == "pass" else 0
        if move != "pass":
            board = self.after((COLUMNS.index(move[0]), int(move[1:]) - 1))
            assert board
            self.board = board
            self.earlier.add(self.rows())
        self.moves += 1

    def margin(self) -> int:
        points = list(self.board.values()).count("X") - list(self.board.values()).count("O")
        for at, symbol in self.board.items():
            around = region(self.board, at)[1] if symbol == "." else set()
            points += {frozenset("X"): 1, frozenset("O"): -1}.get(frozenset(around), 0)
        return points


class Gtp:
    """GNU Go, by its text protocol."""

    def __init__(self, size: int) -> None:
        assert GNU_GO
        command = [GNU_GO, "--mode", "gtp", "--chinese-rules"]
        self.process = subprocess.Popen(command, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask(f"boardsize {size}")

    def ask(self, command: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(command + "\n")
        answer = "".join(iter(self.process.stdout.readline, "\n"))
        assert answer.startswith("="), f"{command}: {answer}"
        return answer[1:].strip()


class GoTest(unittest.TestCase):
    def test_random_matches_are_those_of_a_slow_implementation(self) -> None:
        rng = random.Random(1)
        repeated = 0
        with Rules(GAMES / "go") as rules:
            for match in range(MATCHES):
                size = 2 + match % 4
                komi = rng.choice([0, 0.5, 7.5, -3])
                given = rules.start(size=size, komi=komi, handicap=0, moves=200)
                expected = Position(size)
                for ply in range(201):
                    view = rules.ask("show", state=given["state"], viewer="public")["view"]
                    self.assertEqual(tuple(view["board"]), expected.rows())
                    self.assertEqual(view["komi"], komi)
                    if expected.passes == 2 or ply == 200:
                        break
                    (decision,) = given["turn"]["decide"]
                    self.assertEqual(decision["seat"], ply % 2)
                    self.assertEqual(set(decision["legal"]), expected.legal())
                    self.assertEqual(len(set(decision["legal"])), len(decision["legal"]))
                    # Passes are rare, so that positions come that were there before.
                    stones = [move for move in decision["legal"] if move != "pass"]
                    move = rng.choice(stones) if stones and rng.random() < 0.97 else "pass"
                    given = rules.play(given, {ply % 2: move})
                    expected.play(move)
                    self.assertEqual(given["turns_left"], 199 - ply)
                repeated += len(expected.earlier) > 3 * size * size
                margin = expected.margin() - komi
                over = given["turn"]["over"]
                self.assertEqual(over["ranks"], [1 + (margin < 0), 1 + (margin > 0)])
                self.assertEqual(over["reason"], "two_passes" if expected.passes == 2 else "move_limit")
        self.assertGreater(repeated, 0)

    @unittest.skipUnless(GNU_GO, "GNU Go is not installed")
    def test_legal_moves_and_handicaps_are_those_of_gnu_go(self) -> None:
        rng = random.Random(2)
        with Rules(GAMES / "go") as rules:
            engine = Gtp(9)
            for stones, size in [(2, 9), (5, 13), (9, 19), (4, 8), (7, 19)]:
                engine.ask(f"boardsize {size}")
                given = rules.start(size=size, komi=0, handicap=stones, moves=0)
                rows = given["turn"]["decide"][0]["view"]["board"]
                placed = {f"{COLUMNS[x]}{size - y}" for y, row in enumerate(rows) for x, c in enumerate(row) if c == "X"}
                self.assertEqual(placed, set(engine.ask(f"fixed_handicap {stones}").split()))
            for _ in range(MATCHES // 10):
                engine.ask("boardsize 9")
                engine.ask("clear_board")
                given = rules.start(size=9, komi=7.5, handicap=0, moves=0)
                while "decide" in given["turn"]:
                    (decision,) = given["turn"]["decide"]
                    colour = decision["view"]["to_move"]
                    legal = set(decision["legal"]) - {"pass"}
                    # It knows the simple ko alone.
                    self.assertLessEqual(legal, set(engine.ask(f"all_legal {colour}").split()))
                    move = rng.choice(sorted(legal) or ["pass"])
                    engine.ask(f"play {colour} {move}")
                    given = rules.play(given, {decision["seat"]: move})
            engine.process.communicate("quit\n")

    @unittest.skipUnless(sgf, "sgfmill is not installed")
    def test_sgf_is_read_by_sgfmill_with_the_same_moves_and_points(self) -> None:
        rng = random.Random(3)
        names = ["a [b] \\:", "wei\u00df"]
        with Rules(GAMES / "go") as rules:
            for match in range(MATCHES):
                options = {"size": rng.randrange(2, 14), "komi": rng.choice([0, 0.5, 7.5, -3]), "handicap": 0, "moves": 0}
                if match % 3 == 0:
                    options |= {"size": 9 + 2 * (match % 4), "handicap": 2 + match % 4}
                given = rules.start(**options)
                moves = []
                while "decide" in given["turn"]:
                    (decision,) = given["turn"]["decide"]
                    moves.append({"seat": decision["seat"], "move": rng.choice(decision["legal"]), "took_us": 1_500_000})
                    given = rules.play(given, {decision["seat"]: moves[-1]["move"]})
                over = given["turn"]["over"]
                text = rules.ask(
                    "export", form="sgf", match="m1", options=options, seats=2, sides=2, names=names, moves=moves, draws=[],
                    ranks=over["ranks"], ended=f"rules ({over['reason']})", tags={"date": "2026.11.30"},
                )["text"]
                read = sgf.Sgf_game.from_bytes(text.encode())
                self.assertEqual((read.get_size(), read.get_komi()), (options["size"], options["komi"]))
                self.assertEqual(read.get_handicap() or 0, options["handicap"])
                self.assertEqual([read.get_player_name("b"), read.get_player_name("w")], names)
                self.assertEqual(read.root.get("DT"), "2026-11-30")
                board, made = sgf_moves.get_setup_and_moves(read)
                vertex = lambda at: f"{COLUMNS[at[1]]}{at[0] + 1}" if at else "pass"  # noqa: E731
                expected = [{"b": 0, "w": 1}[colour] for colour, _ in made], [vertex(at) for _, at in made]
                self.assertEqual(expected, ([move["seat"] for move in moves], [move["move"] for move in moves]))
                for colour, at in made:
                    if at:
                        board.play(*at, colour)
                margin = board.area_score() - options["komi"]
                result = f"{'B' if margin > 0 else 'W'}+{abs(margin):g}" if margin else "Draw"
                self.assertEqual(read.root.get("RE"), result)


if __name__ == "__main__":
    unittest.main()
