"""Xe Queo!: 406 actions, each a whole move."""

from __future__ import annotations

from ...games.xe_queo import PAWNS
from ...messages import Json
from .encoding import Encoding, Observation, Word, numbered, share

_SQUARES = tuple(file + rank for rank in "1234567" for file in "abcdefg")
# Those in which a seat decides. An observation belongs to a request, and in the phase `over` there is none.
_PHASES = ("ring", "choose", "play")


def _words() -> dict[str, Word]:
    moves = [f"ring {square}" for square in _SQUARES]
    moves += [f"choose {pawn}" for pawn in PAWNS]
    moves += [f"move {pawn} {square}" for pawn in PAWNS for square in _SQUARES]
    moves += [f"accuse {pawn}" for pawn in PAWNS]
    return numbered(moves)


def _place(square: str) -> tuple[int, int]:
    return int(square[1]) - 1, ord(square[0]) - ord("a")


class XeQueo(Encoding):
    game = "xe_queo"
    seats = 2
    shape = (7, 7, 34)
    actions = 406

    def __init__(self) -> None:
        self.words = (_words(),) * 2

    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        for plane, pawn in enumerate(PAWNS):
            out[(*_place(view["pawns"][pawn]), plane)] = 1
        if view["ring"] is not None:
            out[(*_place(view["ring"]), 7)] = 1
        if view["choice"] is not None:
            out[..., 8 + PAWNS.index(view["choice"])] = 1
        out[..., 15 + _PHASES.index(view["phase"])] = 1
        out[..., 18] = share(view["rings"][seat], 4)
        out[..., 19] = share(view["rings"][1 - seat], 4)
        for mover, pawn, _ in view["moves"]:
            plane = 20 + 7 * (mover != seat) + PAWNS.index(pawn)
            out[..., plane] = min(out[0, 0, plane] + 1 / 8, 1)
