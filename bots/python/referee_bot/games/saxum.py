"""Saxum: dice, rows and columns are numbered from 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from ..messages import Json
from .forms import Forms, read


@dataclass(frozen=True)
class View:
    to_move: list[int]
    phase: str
    """`six` while a six has to be resolved, otherwise `field`."""
    dice: list[int] | None
    """The faces of die 1 and die 2; None when no roll lies on the table, which no turn shows."""
    board: list[str]
    """The rows, in each a letter for each column: `0` and `1` the stones of the seats, `.` free."""
    points: list[int]
    rows: list[int]
    insurance: list[int]
    supply: list[int]
    """By seat, as the three before: points, rows scored, insurance stones left, stones not on the board."""

    @classmethod
    def from_json(cls, view: Json) -> View:
        tally = (view["points"], view["rows"], view["insurance"], view["supply"])
        return cls(view["to_move"], view["phase"], view["dice"], view["board"], *tally)


@dataclass(frozen=True)
class Reroll:
    die: int

    def __str__(self) -> str:
        return f"reroll {self.die}"


@dataclass(frozen=True)
class Turn:
    """Turns a die to a face, for points."""

    die: int
    face: int

    def __str__(self) -> str:
        return f"turn {self.die} {self.face}"


@dataclass(frozen=True)
class Place:
    row: int
    column: int

    def __str__(self) -> str:
        return f"place {self.row} {self.column}"


@dataclass(frozen=True)
class Score:
    row: int
    column: int

    def __str__(self) -> str:
        return f"score {self.row} {self.column}"


@dataclass(frozen=True)
class Pay:
    """Replaces an enemy stone for points."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"pay {self.row} {self.column}"


@dataclass(frozen=True)
class Insure:
    """Replaces an enemy stone for an insurance stone."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"insure {self.row} {self.column}"


Move = Union[Reroll, Turn, Place, Score, Pay, Insure]

_FIELD = "([1-5]) ([1-5])"


_FORMS: Forms[Move] = [
    ("reroll ([12])", lambda die: Reroll(int(die))),
    ("turn ([12]) ([1-5])", lambda die, face: Turn(int(die), int(face))),
    (f"place {_FIELD}", lambda row, column: Place(int(row), int(column))),
    (f"score {_FIELD}", lambda row, column: Score(int(row), int(column))),
    (f"pay {_FIELD}", lambda row, column: Pay(int(row), int(column))),
    (f"insure {_FIELD}", lambda row, column: Insure(int(row), int(column))),
]


def read_move(text: str) -> Move:
    """Returns what a move says. Raises ValueError if it is none."""
    return read(text, "Saxum", _FORMS)
