"""Jeex: fields are `a1` to `e3` but for the centre `c2`, directions are compass points, seat 0 is White."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Union

from ..messages import Json
from .forms import Forms, read


class Stone(NamedTuple):
    owner: int
    """The seat."""
    direction: str


@dataclass(frozen=True)
class View:
    to_move: list[int]
    phase: str
    """`opening` until both first stones are placed, then `play`."""
    stones: dict[str, Stone]
    """By field."""
    supply: list[int]
    """What each seat can still place."""
    removed: int
    """Stones that are out of the game."""
    quiet_plies: int
    """Rotations in a row."""

    @classmethod
    def from_json(cls, view: Json) -> View:
        stones = {field: Stone(*stone) for field, stone in view["stones"].items()}
        return cls(view["to_move"], view["phase"], stones, view["supply"], view["removed"], view["quiet_plies"])


@dataclass(frozen=True)
class Place:
    field: str
    direction: str

    def __str__(self) -> str:
        return f"place {self.field} {self.direction}"


@dataclass(frozen=True)
class Rotate:
    field: str
    direction: str

    def __str__(self) -> str:
        return f"rotate {self.field} {self.direction}"


@dataclass(frozen=True)
class Capture:
    field: str
    """Where the captor is."""
    target: str

    def __str__(self) -> str:
        return f"capture {self.field} {self.target}"


@dataclass(frozen=True)
class Claim:
    def __str__(self) -> str:
        return "claim"


Move = Union[Place, Rotate, Capture, Claim]

_FIELD = "([abde][123]|c[13])"
_DIRECTION = "(N|NE|E|SE|S|SW|W|NW)"


_FORMS: Forms[Move] = [
    (f"place {_FIELD} {_DIRECTION}", Place),
    (f"rotate {_FIELD} {_DIRECTION}", Rotate),
    (f"capture {_FIELD} {_FIELD}", Capture),
    ("claim", Claim),
]


def read_move(text: str) -> Move:
    """Returns what a move says. Raises ValueError if it is none."""
    return read(text, "Jeex", _FORMS)
