"""Checkers: squares are numbered 1 to 32, seat 0 is Black."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

from ..messages import Json
from .forms import Forms, read


@dataclass(frozen=True)
class View:
    to_move: list[int]
    board: str
    """A letter for each square from 1: `b` and `w` men, `B` and `W` kings, `.` empty."""
    fen: str
    """The same as PDN's FEN."""
    quiet_plies: int
    """Plies in a row without a capture or a crowning."""

    @classmethod
    def from_json(cls, view: Json) -> View:
        return cls(view["to_move"], view["board"], view["fen"], view["quiet_plies"])


@dataclass(frozen=True)
class Step:
    path: list[int]
    """From where and to where."""

    def __str__(self) -> str:
        return "-".join(map(str, self.path))


@dataclass(frozen=True)
class Capture:
    path: list[int]
    """Every square that the piece visits."""

    def __str__(self) -> str:
        return "x".join(map(str, self.path))


Move = Union[Step, Capture]

_SQUARE = "(?:[1-9]|[12][0-9]|3[0-2])"


def _path(text: str) -> list[int]:
    return [int(square) for square in re.split("[-x]", text)]


_FORMS: Forms[Move] = [
    (f"({_SQUARE}-{_SQUARE})", lambda path: Step(_path(path))),
    (f"({_SQUARE}(?:x{_SQUARE})+)", lambda path: Capture(_path(path))),
]


def read_move(text: str) -> Move:
    """Returns what a move says. Raises ValueError if it is none."""
    return read(text, "checkers", _FORMS)
