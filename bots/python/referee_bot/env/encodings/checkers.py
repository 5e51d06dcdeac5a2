"""Checkers: 128 actions, a square and a diagonal; a capture takes one for each jump."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ...messages import Json
from .encoding import Encoding, Observation, Word, Words, share

_ROWS = np.arange(32) // 4
_COLUMNS = 2 * (np.arange(32) % 4) + 1 - _ROWS % 2
_SQUARES = {(int(row), int(column)): square for square, (row, column) in enumerate(zip(_ROWS, _COLUMNS))}
_DIAGONALS = ((1, -1), (1, 1), (-1, -1), (-1, 1))
_EMPTY = ord(".")


def _planes(pieces: str) -> Observation:
    planes = np.zeros((128, 4), np.float32)
    for plane, piece in enumerate(pieces):
        planes[ord(piece), plane] = 1
    return planes


class Checkers(Encoding):
    game = "checkers"
    seats = 2
    shape = (8, 8, 6)
    actions = 32 * 4

    def __init__(self) -> None:
        self.words = [Words(partial(_spell, seat)) for seat in range(2)]
        self._planes = (_planes("bBwW"), _planes("wWbB"))

    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        board = np.frombuffer(view["board"].encode("ascii"), np.uint8)
        if seat == 1:
            board = board[::-1]
        if chosen:
            board = board.copy()
            to = 0
            for action in chosen:
                square, diagonal = divmod(action, 4)
                over, to = _towards(square, diagonal, 1), _towards(square, diagonal, 2)
                board[to] = board[square]
                board[[square, over]] = _EMPTY
            out[_ROWS[to], _COLUMNS[to], 4] = 1
        out[_ROWS, _COLUMNS, :4] = self._planes[seat][board]
        out[..., 5] = share(view["quiet_plies"], 50)


def _towards(square: int, diagonal: int, steps: int) -> int:
    rows, columns = _DIAGONALS[diagonal]
    return _SQUARES[int(_ROWS[square]) + steps * rows, int(_COLUMNS[square]) + steps * columns]


def _spell(seat: int, move: str) -> Word:
    squares = [int(square) - 1 for square in re.split("[-x]", move)]
    if seat == 1:
        squares = [31 - square for square in squares]
    return tuple(4 * start + _diagonal(start, end) for start, end in zip(squares, squares[1:]))


def _diagonal(start: int, end: int) -> int:
    rows, columns = _ROWS[end] - _ROWS[start], _COLUMNS[end] - _COLUMNS[start]
    return _DIAGONALS.index((int(np.sign(rows)), int(np.sign(columns))))
