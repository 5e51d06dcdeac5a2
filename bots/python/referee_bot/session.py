"""A bot's side of the protocol, without I/O."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .bot import BatchBot, Bot
from .hello import Hello
from .messages import End, Json, Start, Turn
from .reply import to_json


class Refused(ConnectionError):
    """The referee rejected the bot before its first match, for example for a wrong token."""

    def __init__(self, error: Json) -> None:
        self.code = str(error.get("code"))
        """The code of the referee's `error`, such as `wrong_token`."""
        super().__init__(f"the referee refused the bot: {self.code}: {error.get('message')}")


@dataclass
class _Play:
    """One seat in one running match."""

    start: Start
    events: list[Json] = field(default_factory=list)  # since the previous turn


class Session:
    """Translates messages of the referee into calls of the bot, and its results into messages."""

    def __init__(self, bot: Bot, hello: Hello) -> None:
        self._bot = bot
        self._hello = hello
        self._plays: dict[tuple[str, int], _Play] = {}
        self._refusal: Refused | None = None
        self._has_started = False
        self.is_over = False
        """Whether the referee has sent `bye`."""

    @property
    def refusal(self) -> Refused | None:
        """Why the referee rejected the bot: the last `error` before any match started."""
        return None if self._has_started else self._refusal

    @property
    def is_idle(self) -> bool:
        """Whether no match is running."""
        return not self._plays

    def handle(self, messages: Sequence[Json]) -> Iterator[list[Json]]:
        """Handles a batch of messages, and yields batches of answers.

        A `BatchBot` gets the turns among them at once, after all the other messages. Unknown messages are ignored.
        """
        waiting: list[Turn] = []
        for message in messages:
            kind = message.get("type")
            if kind != "bye":
                self._refusal = Refused(message) if kind == "error" else None
            if kind == "hello":
                yield [self._hello.to_json(asks_for_token=message.get("auth") == "token")]
            elif kind == "ping":
                yield [{"type": "pong", "id": message.get("id")}]
            elif kind == "start":
                yield [self._start(message)]
            elif kind == "error":
                _log("error", message)
            elif kind == "bye":
                self.is_over = True
                return
            elif kind in ("event", "turn", "end"):
                play = self._plays.get((message["match"], message["seat"]))
                if play is None:
                    _log("ignored, no such match here", message)
                elif kind == "event":
                    self._event(play, message)
                elif kind == "end":
                    self._end(message)
                else:
                    events, play.events = play.events, []
                    turn = Turn.from_json(message, play.start, events)
                    if isinstance(self._bot, BatchBot):
                        waiting.append(turn)
                    else:
                        yield [to_json(self._bot.choose(turn), turn)]
        if waiting and isinstance(self._bot, BatchBot):
            replies = self._bot.choose_all(waiting)
            if len(replies) != len(waiting):
                raise ValueError(f"choose_all returned {len(replies)} replies to {len(waiting)} turns")
            yield [to_json(reply, turn) for reply, turn in zip(replies, waiting)]

    def _start(self, message: Json) -> Json:
        start = Start.from_json(message)
        self._has_started = True
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

    def _end(self, message: Json) -> None:
        end = End.from_json(message)
        del self._plays[end.match, end.seat]
        self._bot.end(end)


def _log(what: str, message: Json) -> None:
    print(f"referee_bot: {what}: {message}", file=sys.stderr, flush=True)
