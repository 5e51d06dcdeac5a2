"""What a bot may answer to a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

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


Reply = Union[str, Move, Resign, AcceptDraw]
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
    if isinstance(reply, Resign):
        return {"type": "resign", **where}
    raise TypeError(f"choose returned {reply!r}, not a str, Move, Resign or AcceptDraw")
