"""Xe Queo!: squares are `a1` to `g7`, pawns are named by colour and are neutral."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Union

from ..messages import Json
from .forms import Forms, read

PAWNS = ("red", "orange", "yellow", "green", "blue", "purple", "black")


class Moved(NamedTuple):
    seat: int
    pawn: str
    square: str
    """Where it went."""


@dataclass(frozen=True)
class LastRound:
    winner: int
    choices: list[str]
    """By seat."""
    reason: str
    """`entered`, `entered_rival`, `accused` or `accused_wrongly`."""


@dataclass(frozen=True)
class View:
    round: int
    """From 1."""
    phase: str
    """`ring`, `choose`, `play` or `over`."""
    to_move: list[int]
    """Both seats in phase `choose`."""
    rings: list[int]
    """What each seat has won."""
    pawns: dict[str, str]
    """The square of each."""
    ring: str | None
    """Its square; None until it is placed."""
    choice: str | None
    """The pawn that the viewer has chosen in secret; None before that."""
    moves: list[Moved]
    """Those of this round."""
    last_round: LastRound | None

    @classmethod
    def from_json(cls, view: Json) -> View:
        last = view["last_round"]
        return cls(
            view["round"],
            view["phase"],
            view["to_move"],
            view["rings"],
            view["pawns"],
            view["ring"],
            view["choice"],
            [Moved(*move) for move in view["moves"]],
            LastRound(last["winner"], last["choices"], last["reason"]) if last else None,
        )


@dataclass(frozen=True)
class Ring:
    square: str

    def __str__(self) -> str:
        return f"ring {self.square}"


@dataclass(frozen=True)
class Choose:
    pawn: str

    def __str__(self) -> str:
        return f"choose {self.pawn}"


@dataclass(frozen=True)
class Move:
    pawn: str
    square: str
    """Where it goes; its path is not part of the message."""

    def __str__(self) -> str:
        return f"move {self.pawn} {self.square}"


@dataclass(frozen=True)
class Accuse:
    pawn: str

    def __str__(self) -> str:
        return f"accuse {self.pawn}"


AnyMove = Union[Ring, Choose, Move, Accuse]

_SQUARE = "([a-g][1-7])"
_PAWN = f"({'|'.join(PAWNS)})"


_FORMS: Forms[AnyMove] = [
    (f"ring {_SQUARE}", Ring),
    (f"choose {_PAWN}", Choose),
    (f"move {_PAWN} {_SQUARE}", Move),
    (f"accuse {_PAWN}", Accuse),
]


def read_move(text: str) -> AnyMove:
    """Returns what a move says. Raises ValueError if it is none."""
    return read(text, "Xe Queo!", _FORMS)
