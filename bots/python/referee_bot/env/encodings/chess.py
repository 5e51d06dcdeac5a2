"""Chess: 68 actions, a square for the origin, one for the destination, and the piece of a promotion."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...messages import Json
from .encoding import Encoding, Observation, Word, Words, share

_PIECES = "pnbrqk"


def _planes(own: str, enemy: str) -> Observation:
    planes = np.zeros((128, 12), np.float32)
    for plane, piece in enumerate(own + enemy):
        planes[ord(piece), plane] = 1
    return planes


class Chess(Encoding):
    game = "chess"
    seats = 2
    shape = (8, 8, 18)
    actions = 64 + 4

    def __init__(self) -> None:
        self.words = [Words(partial(_spell, seat)) for seat in range(2)]
        self._planes = (_planes(_PIECES.upper(), _PIECES), _planes(_PIECES, _PIECES.upper()))

    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        board = np.frombuffer(view["board"].encode("ascii"), np.uint8).reshape(8, 8)
        # Rank 8 is first.
        out[..., :12] = self._planes[seat][board[::-1] if seat == 0 else board]
        _, _, castling, en_passant, quiet, _ = view["fen"].split(" ")
        for right in castling.strip("-"):
            out[(*divmod(_square(seat, _rook(view["board"], right)), 8), 12)] = 1
        if en_passant != "-":
            out[(*divmod(_square(seat, en_passant), 8), 13)] = 1
        out[..., 14] = share(view["occurrences"] - 1, 2)
        out[..., 15] = share(int(quiet), 100)
        for plane, action in enumerate(chosen, 16):
            out[(*divmod(action, 8), plane)] = 1


def _square(seat: int, square: str) -> int:
    file, rank = ord(square[0]) - ord("a"), int(square[1]) - 1
    return 8 * (rank if seat == 0 else 7 - rank) + file


def _spell(seat: int, move: str) -> Word:
    start, target = _square(seat, move[:2]), _square(seat, move[2:4])
    return (start, target, 64 + "nbrq".index(move[4])) if move[4:] else (start, target)


def _rook(board: str, right: str) -> str:
    """Returns the square of the rook of a castling right: K and Q mean the outermost rook."""
    rank, row, rook = ("1", board[56:], "R") if right.isupper() else ("8", board[:8], "r")
    file = right.lower()
    if file in "kq":
        file = "abcdefgh"[row.rindex(rook) if file == "k" else row.index(rook)]
    return file + rank
