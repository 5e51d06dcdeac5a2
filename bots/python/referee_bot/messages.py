"""Messages from the referee as values. Unknown fields are ignored.

Times are whole milliseconds. The names are those of the protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
"""A JSON object."""


@dataclass(frozen=True)
class Clock:
    """The time control of a match: `delay_ms` of each answer are free, the rest comes from the bank."""

    delay_ms: int
    bank_ms: int
    increment_ms: int

    @classmethod
    def from_json(cls, clock: Json) -> Clock:
        return cls(clock["delay_ms"], clock["bank_ms"], clock["increment_ms"])


@dataclass(frozen=True)
class SeatInfo:
    """A seat: the display name and the number of its side."""

    name: str
    team: int


@dataclass(frozen=True)
class Start:
    """A match begins, and the bot has `seat` in it."""

    match: str
    game: str
    rules: int
    options: Json
    seat: int
    seats: list[SeatInfo]
    clock: Clock | None
    """None: there is no limit."""
    deal: str | None
    commitment: str | None
    """The SHA-256 commitment to the seed; `End.reveal` lets a bot verify it."""
    nonce: bool
    """True: a nonce returned by `Bot.start` is mixed into the dice."""
    unlisted: bool = False
    """True: the legal moves have no list, or it is hidden, so `legal` of a turn may be empty."""

    @classmethod
    def from_json(cls, message: Json) -> Start:
        clock = message.get("clock")
        return cls(
            match=message["match"],
            game=message["game"],
            rules=message["rules"],
            options=message.get("options", {}),
            seat=message["seat"],
            seats=[SeatInfo(seat["name"], seat["team"]) for seat in message["seats"]],
            clock=Clock.from_json(clock) if clock else None,
            deal=message.get("deal"),
            commitment=message.get("commitment"),
            nonce=message.get("nonce", False),
            unlisted=message.get("unlisted", False),
        )


@dataclass(frozen=True)
class TimeLeft:
    """`bank_ms` is the bank, `limit_ms` the total time for this answer."""

    bank_ms: int
    limit_ms: int


@dataclass(frozen=True)
class Retry:
    """Why the answer to the request `of` was rejected."""

    of: int
    code: str
    message: str


@dataclass(frozen=True)
class Turn:
    """A request for a decision. It is self-contained, so a bot can be stateless."""

    match: str
    seat: int
    turn: int
    """The request's id."""
    view: Json
    """The position as visible to the seat; empty if `wants` omits it."""
    legal: list[str]
    """Every legal move, sorted; empty if `wants` omits it, or if the game does not list its moves."""
    clock: TimeLeft | None
    banks_ms: list[int | None] | None
    """The banks of all seats by seat, None for a seat without a clock; None if no seat has one."""
    turns_left: int | None
    draw_offered: bool
    """True: `AcceptDraw()` is a valid answer."""
    retry: Retry | None
    start: Start
    """How this match began: the game, its options, the seats."""
    events: list[Json]
    """What happened in this match since its previous turn."""

    @classmethod
    def from_json(cls, message: Json, start: Start, events: list[Json]) -> Turn:
        clock = message.get("clock")
        retry = message.get("retry")
        turn = cls.__new__(cls)
        # The constructor of a frozen class assigns each field by a call: as slow as parsing the message.
        vars(turn).update(
            match=message["match"],
            seat=message["seat"],
            turn=message["turn"],
            view=message.get("view", {}),
            legal=message.get("legal", []),
            clock=TimeLeft(clock["bank_ms"], clock["limit_ms"]) if clock else None,
            banks_ms=message.get("banks_ms"),
            turns_left=message.get("turns_left"),
            draw_offered=message.get("draw_offered", False),
            retry=Retry(retry["of"], retry["code"], retry["message"]) if retry else None,
            start=start,
            events=events,
        )
        return turn


@dataclass(frozen=True)
class Fault:
    """The fault that ended the match, and its seat."""

    seat: int
    code: str
    detail: str | None


@dataclass(frozen=True)
class End:
    """The end of a match. Ranks count from 1, scores range from 0 to 1, both by seat."""

    match: str
    seat: int
    ended_by: str
    reason: str | None
    ranks: list[int] | None
    """None when the match was aborted, as `scores`."""
    scores: list[float] | None
    amounts: list[float] | None
    """What each seat gets, in the unit of the game; None when the match was aborted, and in games without amounts."""
    fault: Fault | None
    reveal: Json | None
    """Seed, salt, deal and nonces, once they may be revealed."""

    @classmethod
    def from_json(cls, message: Json) -> End:
        fault = message.get("fault")
        return cls(
            match=message["match"],
            seat=message["seat"],
            ended_by=message["ended_by"],
            reason=message.get("reason"),
            ranks=message.get("ranks"),
            scores=message.get("scores"),
            amounts=message.get("amounts"),
            fault=Fault(fault["seat"], fault["code"], fault.get("detail")) if fault else None,
            reveal=message.get("reveal"),
        )
