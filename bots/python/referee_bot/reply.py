"""What a bot may answer to a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

from .messages import Json, Turn


@dataclass(frozen=True)
class Move:
    """A move with optional fields.

    `offer_draw` offers a draw, in games that know draws by agreement. `info` says what the bot thought (score,
    depth, nodes, pv, text); it is recorded, and at most 4 KiB of JSON.
    """

    move: str
    offer_draw: bool = False
    info: Json | None = None


@dataclass(frozen=True)
class Resign:
    """Resigns the match."""


@dataclass(frozen=True)
class AcceptDraw:
    """Accepts a draw offer; valid only if `Turn.draw_offered` is true."""


@dataclass(frozen=True)
class Unable:
    """Says that there is no move.

    `because` is `no_legal_move` if what chooses the moves named none that is legal, a fault, or `unavailable` if it cannot
    be reached: then the match is void where the organiser trusts bots, and otherwise that is a fault. `info` is that of a
    move.
    """

    because: Literal["no_legal_move", "unavailable"]
    info: Json | None = None


Reply = Union[str, Move, Resign, AcceptDraw, Unable]
"""A string is a plain move."""


def to_json(reply: Reply, turn: Turn) -> Json:
    """Returns the message that gives `reply` to `turn`.

    Raises TypeError if `reply` is none of the known kinds: most often `choose` forgot its `return`.
    """
    if isinstance(reply, str):
        return {"type": "move", "match": turn.match, "seat": turn.seat, "turn": turn.turn, "move": reply}
    where: Json = {"match": turn.match, "seat": turn.seat}
    if isinstance(reply, Move):
        message: Json = {"type": "move", **where, "turn": turn.turn, "move": reply.move}
        if reply.offer_draw:
            message["offer_draw"] = True
        if reply.info is not None:
            message["info"] = reply.info
        return message
    if isinstance(reply, AcceptDraw):
        return {"type": "accept_draw", **where, "turn": turn.turn}
    if isinstance(reply, Unable):
        message = {"type": "unable", **where, "turn": turn.turn, "because": reply.because}
        return message if reply.info is None else {**message, "info": reply.info}
    if isinstance(reply, Resign):
        return {"type": "resign", **where}
    raise TypeError(f"choose returned {reply!r}, not a str, Move, Resign, AcceptDraw or Unable")
