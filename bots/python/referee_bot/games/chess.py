"""Chess: squares are `a1` to `h8`, seat 0 is White."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from ..messages import Json
from .forms import Forms, read


@dataclass(frozen=True)
class Line:
    """A position and the moves that follow it."""

    fen: str
    moves: list[str]


@dataclass(frozen=True)
class View:
    to_move: list[int]
    board: str
    """A letter for each square from a8 to h8, then a7 to h7, to h1: those of FEN, `.` empty."""
    fen: str
    checks: list[str]
    """The squares of the pieces that give check."""
    occurrences: int
    """How often the position has occurred, including now."""
    since: Line
    """What led here since the last capture, move of a pawn or loss of a castling right."""

    @classmethod
    def from_json(cls, view: Json) -> View:
        since = Line(view["since"]["fen"], view["since"]["moves"])
        return cls(view["to_move"], view["board"], view["fen"], view["checks"], view["occurrences"], since)


@dataclass(frozen=True)
class Move:
    """Also castling: the king's move, in Chess960 to the square of its rook."""

    start: str
    target: str

    def __str__(self) -> str:
        return self.start + self.target


@dataclass(frozen=True)
class Promote:
    start: str
    target: str
    piece: str
    """`q`, `r`, `b` or `n`."""

    def __str__(self) -> str:
        return self.start + self.target + self.piece


AnyMove = Union[Move, Promote]

_SQUARE = "([a-h][1-8])"

_FORMS: Forms[AnyMove] = [
    (_SQUARE + _SQUARE, Move),
    (_SQUARE + _SQUARE + "([qrbn])", Promote),
]


def read_move(text: str) -> AnyMove:
    """Returns what a move says. Raises ValueError if it is none."""
    return read(text, "chess", _FORMS)
