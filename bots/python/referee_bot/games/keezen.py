"""Keezen: a pawn is named by its position: `base`, `t17` on the track, `h0.1` in the home of seat 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from ..messages import Json
from .forms import Forms, read


@dataclass(frozen=True)
class View:
    to_move: list[int]
    track: int
    """How many squares it has."""
    starts: list[int]
    """The start square of each seat."""
    pawns: list[list[str]]
    """Where those of each seat stand."""
    hand: list[str] | None
    """The viewer's cards; None for spectators."""
    hands: dict[str, list[str]]
    """Other hands that the viewer may see, by seat, as text."""
    cards: list[int]
    """How many each hand holds."""
    dealer: int
    cycle: int
    deal: int
    """0 to 2 within the cycle."""
    pile: list[str]
    """Cards played and handed in within this cycle, in order."""
    playing_for: int | None
    """The seat whose pawns the seat to move plays."""

    @classmethod
    def from_json(cls, view: Json) -> View:
        return cls(
            view["to_move"],
            view["track"],
            view["starts"],
            view["pawns"],
            view["hand"],
            view["hands"],
            view["cards"],
            view["dealer"],
            view["cycle"],
            view["deal"],
            view["pile"],
            view["playing_for"],
        )


@dataclass(frozen=True)
class Enter:
    """Brings a pawn from its base onto its start."""

    card: str
    seat: int | None = None
    """The partner, when the pawn is the partner's."""

    def __str__(self) -> str:
        return f"{self.card} enter" if self.seat is None else f"{self.card} enter {self.seat}"


@dataclass(frozen=True)
class Step:
    """Moves one pawn by the worth of the card; a 4 goes backward."""

    card: str
    pawn: str

    def __str__(self) -> str:
        return f"{self.card} {self.pawn}"


@dataclass(frozen=True)
class Split:
    """Splits a 7 over two pawns, in this order."""

    pawn: str
    steps: int
    other: str
    other_steps: int

    def __str__(self) -> str:
        return f"7 {self.pawn} {self.steps} {self.other} {self.other_steps}"


@dataclass(frozen=True)
class Swap:
    """Plays a jack: an own pawn changes places with another player's."""

    pawn: str
    other: str

    def __str__(self) -> str:
        return f"J {self.pawn} {self.other}"


Move = Union[Enter, Step, Split, Swap]

_TRACK = "(t(?:0|[1-9][0-9]?))"
_PAWN = r"(t(?:0|[1-9][0-9]?)|h[0-5]\.[0-3])"


_SPLITS: Forms[Move] = [
    (f"7 {_PAWN} ({steps}) {_PAWN} ({7 - steps})", lambda pawn, n, other, m: Split(pawn, int(n), other, int(m)))
    for steps in range(1, 7)
]
_FORMS: Forms[Move] = [
    ("([AK]) enter", Enter),
    ("([AK]) enter ([0-5])", lambda card, seat: Enter(card, int(seat))),
    (f"(A|[2-9]|10|Q) {_PAWN}", Step),
    *_SPLITS,
    (f"J {_TRACK} {_TRACK}", Swap),
]


def read_move(text: str) -> Move:
    """Returns what a move says. Raises ValueError if it is none."""
    return read(text, "Keezen", _FORMS)
