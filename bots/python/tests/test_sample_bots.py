"""The sample bots run straight from the repository, and the greedy one knows what it is doing."""

from __future__ import annotations

import unittest

from . import checkers
from .fake_referee import FakeReferee, Json

MOVES = ["10-14", "10-15", "11-15", "11-16", "12-16", "9-13", "9-14"]


def play_checkers(black: FakeReferee, white: FakeReferee, match: str) -> int | None:
    """Plays one match between two bots and returns the winner's seat, or None for a draw."""
    seats = (black, white)
    for seat, bot in enumerate(seats):
        bot.start(match, seat=seat)
    board, quiet, turn = checkers.START, 0, 0
    while True:
        seat = turn % 2
        legal = checkers.legal(board, "bw"[seat])
        if not legal or quiet == checkers.DRAW_PLIES:
            break
        move = seats[seat].turn(legal, match, seat=seat, turn=turn // 2, view=view(board))["move"]
        assert move in legal, move
        before, board = board, checkers.play(board, move)
        quiet = 0 if "x" in move or kings(board) > kings(before) else quiet + 1
        turn += 1
    winner = None if legal else 1 - seat
    for seat, bot in enumerate(seats):
        bot.end(match, seat=seat)
    return winner


def view(board: str) -> Json:
    """Returns what a turn shows, without what the sample bots do not look at."""
    return {"to_move": [], "board": board, "fen": "", "quiet_plies": 0}


def kings(board: str) -> int:
    return board.count("B") + board.count("W")


class Rules(unittest.TestCase):
    def test_the_moves_are_those_of_checkers(self) -> None:
        counts = [checkers.perft(checkers.START, "b", depth) for depth in range(1, 6)]
        self.assertEqual(counts, [7, 49, 302, 1469, 7361])


class RandomBot(unittest.TestCase):
    def test_it_plays_a_legal_move_in_any_game(self) -> None:
        for game in ("checkers", "a game of tomorrow"):
            with self.subTest(game), FakeReferee.of("random_bot.py") as referee:
                referee.hello()
                referee.start(game=game)
                self.assertIn(referee.turn(MOVES)["move"], MOVES)
                self.assertEqual(referee.finish(), 0)

    def test_a_seed_makes_it_repeatable(self) -> None:
        self.assertEqual(self.choices("1"), self.choices("1"))
        self.assertNotEqual(self.choices("1"), self.choices("2"))

    def choices(self, seed: str) -> list[str]:
        with FakeReferee.of("random_bot.py", "--seed", seed) as referee:
            referee.hello()
            referee.start()
            return [referee.turn(MOVES, turn=turn)["move"] for turn in range(20)]


class GreedyBot(unittest.TestCase):
    def choice(self, board: str, side: str) -> str:
        seat = "bw".index(side)
        with FakeReferee.of("greedy_bot.py") as referee:
            referee.hello()
            referee.start(seat=seat)
            move = referee.turn(checkers.legal(board, side), seat=seat, view=view(board))["move"]
            assert isinstance(move, str)
            return move

    def test_it_takes_two_rather_than_one(self) -> None:
        self.assertEqual(self.choice(board(b="1 12", w="6 15 16"), "b"), "1x10x19")

    def test_it_crowns_a_man(self) -> None:
        self.assertEqual(self.choice(board(b="1 25", w="4"), "b")[:3], "25-")
        self.assertEqual(self.choice(board(b="29", w="32 8"), "w")[:2], "8-")

    def test_it_does_not_step_in_front_of_an_enemy(self) -> None:
        self.assertEqual(self.choice(board(b="10", w="19 23"), "b"), "10-14")

    def test_it_plays_at_random_in_a_game_that_it_does_not_know(self) -> None:
        with FakeReferee.of("greedy_bot.py", "--seed", "1") as referee:
            referee.hello()
            referee.start(game="a game of tomorrow")
            chosen = {referee.turn(["a", "b", "c"], turn=turn)["move"] for turn in range(40)}
            self.assertEqual(chosen, {"a", "b", "c"})

    def test_it_clearly_beats_the_random_bot(self) -> None:
        with (
            FakeReferee.of("greedy_bot.py", "--seed", "1") as greedy,
            FakeReferee.of("random_bot.py", "--seed", "2") as other,
        ):
            greedy.hello()
            other.hello()
            won = 0
            for match in range(20):
                seats = (greedy, other) if match % 2 == 0 else (other, greedy)
                winner = play_checkers(*seats, match=f"m{match}")
                won += winner is not None and seats[winner] is greedy
            self.assertGreaterEqual(won, 18)


def board(*, b: str, w: str) -> str:
    """Returns a board with men on the squares named."""
    cells = ["."] * 32
    for piece, squares in (("b", b), ("w", w)):
        for square in squares.split():
            cells[int(square) - 1] = piece
    return "".join(cells)
