"""Jeex: 239 actions, each a whole move."""

from __future__ import annotations

from ...messages import Json
from .encoding import Encoding, Observation, Word, numbered, share

_DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
_FIELDS = tuple(file + rank for rank in "123" for file in "abcde" if file + rank != "c2")
_PLACES = {field: (int(field[1]) - 1, ord(field[0]) - ord("a")) for field in _FIELDS}


def _words() -> dict[str, Word]:
    words = numbered(
        [f"{verb} {field} {way}" for verb in ("place", "rotate") for field in _FIELDS for way in _DIRECTIONS]
    )
    first = len(words)
    for captor, field in enumerate(_FIELDS):
        # The captor's direction says whom it captures.
        words |= {f"capture {field} {target}": (first + captor,) for target in _FIELDS}
    words["claim"] = (first + len(_FIELDS),)
    return words


class Jeex(Encoding):
    game = "jeex"
    seats = 2
    shape = (3, 5, 21)
    actions = 239

    def __init__(self) -> None:
        self.words = (_words(),) * 2

    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        for field, (owner, direction) in view["stones"].items():
            row, column = _PLACES[field]
            out[row, column, 8 * (owner != seat) + _DIRECTIONS.index(direction)] = 1
        out[..., 16] = share(view["supply"][seat], 14)
        out[..., 17] = share(view["supply"][1 - seat], 14)
        out[..., 18] = share(view["removed"], 14)
        out[..., 19] = share(view["quiet_plies"], 50)
        out[..., 20] = view["phase"] == "opening"
