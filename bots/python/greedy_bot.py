#!/usr/bin/env python3
"""Plays the checkers move that leaves the best board, looking no move further; in other games a random move."""

from __future__ import annotations

import argparse
import random

from referee_bot import Turn, options, run
from referee_bot.games import checkers

MAN, KING = 100, 160
ADVANCE = 3  # for each row that a man has gone
GUARD = 8  # for a man at home on its back row: no king is made behind it
EXPOSED = 80  # for a piece that can be captured next: less than a man, since it may be recaptured

# The square at each row and column, and back. Row 0 is Black's; squares lie on odd columns in even rows, else on even.
SQUARE = {(i // 4, i % 4 * 2 + (i // 4 + 1) % 2): i + 1 for i in range(32)}
PLACE = {square: place for place, square in SQUARE.items()}
DIAGONALS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]


def after(board: str, move: str) -> str:
    """Returns the board after a legal move, which names every square that the piece visits."""
    read = checkers.read_move(move)
    path = read.path
    places = [PLACE[square] for square in path]
    cells = list(board)
    piece, cells[path[0] - 1] = cells[path[0] - 1], "."
    if isinstance(read, checkers.Capture):
        for (row_a, column_a), (row_b, column_b) in zip(places, places[1:]):
            cells[SQUARE[(row_a + row_b) // 2, (column_a + column_b) // 2] - 1] = "."
    crowned = places[-1][0] == {"b": 7, "w": 0}.get(piece)
    cells[path[-1] - 1] = piece.upper() if crowned else piece
    return "".join(cells)


def value(board: str, own: str) -> int:
    """Returns what the board is worth to the side of `own`, "b" or "w", when the other side is to move."""
    total = 0
    for square, piece in enumerate(board, 1):
        if piece == ".":
            continue
        worth = KING
        if piece in "bw":
            gone = PLACE[square][0] if piece == "b" else 7 - PLACE[square][0]
            worth = MAN + ADVANCE * gone + (GUARD if gone == 0 else 0)
        if piece.lower() != own:
            total -= worth
        else:
            total += worth - (EXPOSED if exposed(board, square) else 0)
    return total


def exposed(board: str, square: int) -> bool:
    """Returns whether a piece of the other side may jump over the one on `square`."""
    man, king = "wW" if board[square - 1] in "bB" else "bB"
    forward = -1 if man == "w" else 1
    row, column = PLACE[square]
    for dr, dc in DIAGONALS:
        origin, landing = SQUARE.get((row - dr, column - dc)), SQUARE.get((row + dr, column + dc))
        if origin and landing and board[landing - 1] == ".":
            hunter = board[origin - 1]
            if hunter == king or (hunter == man and dr == forward):
                return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    parser.add_argument("--slots", type=int, default=1, metavar="N", help="the matches that are played at once [1]")
    args = parser.parse_args()
    rng = random.Random(args.seed)

    def choose(turn: Turn) -> str:
        if not turn.legal:
            parser.exit(1, "greedy: it needs the list of legal moves, which this match does not have\n")
        if turn.start.game != "checkers":
            return rng.choice(turn.legal)
        board, own = checkers.View.from_json(turn.view).board, "bw"[turn.seat]
        values = {move: value(after(board, move), own) for move in turn.legal}
        best = max(values.values())
        return rng.choice([move for move in turn.legal if values[move] == best])

    try:
        run(choose, name="greedy", version="0.1.0", wants=["view", "legal"], slots=args.slots)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
