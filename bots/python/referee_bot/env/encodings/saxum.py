"""Saxum: 112 actions, each a whole move."""

from __future__ import annotations

from ...messages import Json
from .encoding import Encoding, Observation, Word, numbered, share

_TALLIES = (("points", 177), ("rows", 7), ("insurance", 7), ("supply", 15))


def _words() -> dict[str, Word]:
    moves = ["reroll 1", "reroll 2"]
    moves += [f"turn {die} {face}" for die in (1, 2) for face in range(1, 6)]
    for verb in ("place", "score", "pay", "insure"):
        moves += [f"{verb} {row} {column}" for row in range(1, 6) for column in range(1, 6)]
    return numbered(moves)


class Saxum(Encoding):
    game = "saxum"
    seats = 2
    shape = (5, 5, 22)
    actions = 112

    def __init__(self) -> None:
        self.words = (_words(),) * 2

    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        own = str(seat)
        for row, fields in enumerate(view["board"]):
            for column, field in enumerate(fields):
                if field != ".":
                    out[row, column, 0 if field == own else 1] = 1
        for die, face in enumerate(view["dice"] or ()):
            out[..., 2 + 6 * die + face - 1] = 1
        plane = 14
        for name, most in _TALLIES:
            for owner in (seat, 1 - seat):
                out[..., plane] = share(view[name][owner], most)
                plane += 1
