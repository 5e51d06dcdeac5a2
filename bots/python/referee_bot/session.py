"""A bot's side of the protocol, without any input or output."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from . import reply
from .bot import Bot
from .hello import Hello
from .messages import End, Json, Start, Turn


@dataclass
class _Play:
    """One seat in one running match."""

    start: Start
    events: list[Json] = field(default_factory=list)  # since the previous turn


class Session:
    """Turns each message of the referee into calls of the bot and at most one message back."""

    def __init__(self, bot: Bot, hello: Hello) -> None:
        self._bot = bot
        self._hello = hello
        self._plays: dict[tuple[str, int], _Play] = {}

    def handle(self, message: Json) -> Json | None:
        """Returns the answer to `message`, or None if it asks for none. Unknown messages are ignored."""
        kind = message.get("type")
        if kind == "hello":
            return self._hello.to_json()
        if kind == "ping":
            return {"type": "pong", "id": message.get("id")}
        if kind == "start":
            return self._start(message)
        if kind == "error":
            _log("error", message)
        elif kind in ("event", "turn", "end"):
            play = self._plays.get((message["match"], message["seat"]))
            if play is None:
                _log("ignored, no such match here", message)
            elif kind == "event":
                self._event(play, message)
            elif kind == "turn":
                return self._turn(play, message)
            else:
                self._end(message)
        return None

    def _start(self, message: Json) -> Json:
        start = Start.from_json(message)
        self._plays[start.match, start.seat] = _Play(start)
        nonce = self._bot.start(start)
        ready: Json = {"type": "ready", "match": start.match, "seat": start.seat}
        if nonce is not None:
            ready["nonce"] = nonce
        return ready

    def _event(self, play: _Play, message: Json) -> None:
        event: Json = message["event"]
        play.events.append(event)
        self._bot.event(play.start.match, play.start.seat, event)

    def _turn(self, play: _Play, message: Json) -> Json:
        events, play.events = play.events, []
        turn = Turn.from_json(message, play.start, events)
        return reply.to_json(self._bot.choose(turn), turn)

    def _end(self, message: Json) -> None:
        end = End.from_json(message)
        del self._plays[end.match, end.seat]
        self._bot.end(end)


def _log(what: str, message: Json) -> None:
    print(f"referee_bot: {what}: {message}", file=sys.stderr, flush=True)
