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
    ready: Json | None = None
    events: list[Json] = field(default_factory=list)  # since the previous turn
    next_event: int = 0
    answer: Json | None = None  # the last one, which the referee may not have received


class Session:
    """Translates messages of the referee into calls of the bot, and its results into messages."""

    def __init__(self, bot: Bot, hello: Hello) -> None:
        self._bot = bot
        self._hello = hello
        self._plays: dict[tuple[str, int], _Play] = {}
        self._refusal: Refused | None = None
        self._has_started = False
        self.reconnects = False
        """Whether the matches go on when the connection is lost and the bot connects again."""
        self.is_over = False
        """Whether the referee has sent its last `bye`."""

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
                self.reconnects = bool(message.get("reconnect")) and self._hello.reconnect is not None
                asks_for_token = message.get("auth") == "token"
                yield [self._hello.to_json(asks_for_token=asks_for_token, reconnects=self.reconnects)]
            elif kind == "ping":
                yield [{"type": "pong", "id": message.get("id")}]
            elif kind == "start":
                yield [self._start(message)]
            elif kind == "error":
                _log("error", message)
            elif kind == "bye":
                if self._hello.reconnect is not None:  # over TCP the referee keeps no standard error
                    _log("the referee closes the connection", message.get("reason"))
                if self.reconnects and message.get("reconnect") is True:
                    continue  # the connection ends, and the bot connects again
                self.is_over = True
                return
            elif kind in ("event", "turn", "end"):
                play = self._plays.get((message["match"], message["seat"]))
                if play is None and kind == "end" and self.reconnects:
                    pass  # repeated after a lost connection
                elif play is None:
                    _log("ignored, no such match here", message)
                elif kind == "event":
                    self._event(play, message)
                elif kind == "end":
                    self._end(message)
                elif play.answer is not None and play.answer["turn"] == message["turn"]:
                    yield [play.answer]
                else:
                    events, play.events = play.events, []
                    turn = Turn.from_json(message, play.start, events)
                    if isinstance(self._bot, BatchBot):
                        waiting.append(turn)
                    else:
                        play.answer = to_json(self._bot.choose(turn), turn)
                        yield [play.answer]
        if waiting and isinstance(self._bot, BatchBot):
            replies = self._bot.choose_all(waiting)
            if len(replies) != len(waiting):
                raise ValueError(f"choose_all returned {len(replies)} replies to {len(waiting)} turns")
            answers = [to_json(reply, turn) for reply, turn in zip(replies, waiting)]
            for answer, turn in zip(answers, waiting):
                self._plays[turn.match, turn.seat].answer = answer
            yield answers

    def _start(self, message: Json) -> Json:
        start = Start.from_json(message)
        self._has_started = True
        known = self._plays.get((start.match, start.seat))
        if message.get("resumed") and known is not None and known.ready is not None:
            return known.ready
        play = self._plays[start.match, start.seat] = _Play(start)
        nonce = self._bot.start(start)
        ready: Json = {"type": "ready", "match": start.match, "seat": start.seat}
        if nonce is not None:
            ready["nonce"] = nonce
        play.ready = ready
        return ready

    def _event(self, play: _Play, message: Json) -> None:
        event: Json = message["event"]
        number = message.get("n", play.next_event)
        if number < play.next_event:
            return  # repeated after a lost connection
        play.next_event = number + 1
        play.events.append(event)
        self._bot.event(play.start.match, play.start.seat, event)

    def _end(self, message: Json) -> None:
        end = End.from_json(message)
        del self._plays[end.match, end.seat]
        self._bot.end(end)


def _log(what: str, message: object) -> None:
    print(f"referee_bot: {what}: {message}", file=sys.stderr, flush=True)
