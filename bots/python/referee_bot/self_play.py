"""Plays all seats of concurrent matches with one bot: the core of a training loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import cast

from .bot import Bot
from .hello import Hello
from .messages import End, Json
from .session import Session
from .stream import Disconnected, Reader, Stream


def self_play(
    bot: Bot,
    setups: Iterable[Json],
    *,
    slots: int = 64,
    wants: Sequence[str] | None = None,
    referee: Sequence[str] = ("referee", "stdio", "--clock", "none"),
) -> Iterator[End]:
    """Starts a referee, opens a match for each setup, at most `slots` at once, and lets `bot` play all the seats.

    A setup has the fields of the protocol's `open` but for `auto_ready`, at least `game`. Yields the end of each match
    as seat 0 receives it, in the order of arrival. A `BatchBot` gets all turns that are pending together: up to `slots`
    of them, more where seats decide at once.

    Raises ValueError if the referee refuses a setup, ConnectionError if it ends early.
    """
    import subprocess  # only here: it is slow to import, and other bots do not need it

    with subprocess.Popen(referee, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        try:
            stream = Stream(cast(Reader, process.stdout), process.stdin)
            yield from _play(Session(bot, Hello("self play", slots=slots, wants=wants)), stream, iter(setups), slots)
        except Disconnected:
            raise ConnectionError("the referee reads no more") from None
        finally:
            process.kill()


def _play(session: Session, stream: Stream, setups: Iterator[Json], slots: int) -> Iterator[End]:
    running = 0
    for messages in stream.batches():
        for answers in session.handle(messages):
            stream.send(*answers)
        ends = [End.from_json(message) for message in messages if message.get("type") == "end" and message["seat"] == 0]
        running -= len(ends)
        for message in messages:
            if message.get("type") == "error" and message["code"] in ("bad_setup", "no_slot", "not_allowed"):
                raise ValueError(message["message"])
        opens: list[Json] = [{"type": "open", **setup} for setup in islice(setups, slots - running)]
        stream.send(*opens)
        running += len(opens)
        yield from ends
        if running == 0 and session.is_idle:
            return
    raise ConnectionError("the referee ended before the matches did")
