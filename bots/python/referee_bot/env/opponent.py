"""Who sits in the seats that do not learn."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Protocol, Union, cast

from ..bot import Bot, Choose, FunctionBot
from ..hello import PROTOCOL, Hello
from ..messages import Json
from ..session import Session
from ..stream import Disconnected, Reader, Stream
from .referee import started


class BotProcess:
    """A bot that is another program, as the referee would start it: a process for each seat that it takes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._seats: dict[int, _Process] = {}

    def handle(self, messages: Sequence[Json]) -> Iterator[list[Json]]:
        """Passes messages on and yields what the processes answer. Raises ConnectionError if one of them is gone."""
        for message in messages:
            seat = message["seat"]
            if seat not in self._seats:
                self._seats[seat] = _Process(self._command)
                self._seats[seat].greet()
            yield self._seats[seat].ask(message)

    def close(self) -> None:
        """Ends the processes."""
        for process in self._seats.values():
            process.close()
        self._seats.clear()


class _Process:
    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process = started(command)
        assert self._process.stdin and self._process.stdout
        self._stream = Stream(cast(Reader, self._process.stdout), self._process.stdin)
        self._received = self._messages()

    def greet(self) -> None:
        self._tell({"type": "hello", "protocol": PROTOCOL, "server": "referee_bot.env", "auth": "none"})
        self._hear("hello")

    def _messages(self) -> Iterator[Json]:
        for messages in self._stream.batches():
            yield from messages
        raise ConnectionError(f"{self._command[0]} is gone")

    def _tell(self, message: Json) -> None:
        try:
            self._stream.send(message)
        except Disconnected:
            raise ConnectionError(f"{self._command[0]} is gone") from None

    def _hear(self, *kinds: str) -> Json:
        return next(message for message in self._received if message.get("type") in kinds)

    def ask(self, message: Json) -> list[Json]:
        """Passes on a message and returns the answers that the referee waits for."""
        self._tell(message)
        if message["type"] == "start":
            return [self._hear("ready")]
        if message["type"] == "turn":
            return [self._hear("move", "resign", "accept_draw", "unable")]
        return []

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        with suppress(BrokenPipeError):  # what a bot that is gone did not read
            self._process.stdin.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Player(Protocol):
    """What turns messages of the referee into answers."""

    def handle(self, messages: Sequence[Json]) -> Iterator[list[Json]]: ...


Opponent = Union[Choose, Bot, BotProcess]


def player(opponent: Opponent) -> Player:
    """Returns what plays for an opponent."""
    if isinstance(opponent, BotProcess):
        return opponent
    return Session(opponent if isinstance(opponent, Bot) else FunctionBot(opponent), Hello("opponent"))
