"""One referee process that serves the matches of many environments."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Literal, cast

from ..hello import Hello
from ..messages import Json
from ..stream import Disconnected, Reader, Stream
from .native import Loopback

if TYPE_CHECKING:
    from .encodings import Encoding
    from .table import Table

_COMMAND = ("referee", "stdio", "--clock", "none")

_SLOTS = 4096  # as many as there may be


Backend = Literal["process", "native"]
"""Where matches are played: by the program `referee`, or in this process by the package referee-bot-native."""


def started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts a program. Raises FileNotFoundError, which names the program that is missing."""
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except FileNotFoundError:
        program = command[0]
        where = "there is no such file, or the interpreter that its first line names is missing"
        if "/" not in program:
            where = "there is no such program on the PATH"
        if program == "referee":
            where += "; install it, or name it as in Referee(['path/to/referee', 'stdio', '--clock', 'none'])"
        raise FileNotFoundError(errno.ENOENT, where, program) from None


class Referee:
    """A running `referee stdio`. Requests are buffered and sent in one write, before a caller waits for an answer.

    With the backend `native`, it is a referee in this process, and `command` means nothing. With `events`, the infos
    list the events since the previous turn of a seat; that takes time.
    """

    def __init__(
        self,
        command: Sequence[str] = _COMMAND,
        *,
        events: bool = False,
        backend: Backend = "process",
    ) -> None:
        self._process: subprocess.Popen[bytes] | Loopback
        if backend == "native":
            self._process = Loopback()
            self._stream = Stream(self._process, self._process)
        elif backend == "process":
            self._process = started(command)
            assert self._process.stdin and self._process.stdout
            self._stream = Stream(cast(Reader, self._process.stdout), self._process.stdin)
        else:
            raise ValueError(f"{backend!r} is no backend: there are process and native")
        self._batches = self._stream.batches()
        wants = None if events else ("view", "legal")
        with suppress(Disconnected):  # the first `settle` reports it
            # At once: the referee waits for it for ten seconds, and the first match may come later.
            self._stream.send(Hello("env", slots=_SLOTS, wants=wants).to_json())
        self._outbox: list[Json] = []
        self._opened = 0
        self._opening: dict[str, Table] = {}
        self._playing: dict[str, Table] = {}
        self._waiting: set[Table] = set()

    @classmethod
    def of(cls, given: Referee | None, backend: Backend, encoding: Encoding, *, events: bool = False) -> Referee:
        """Returns the referee that a caller gave to an environment, by default a new one with this backend."""
        if given is not None and backend != "process":
            raise ValueError(f"give either a referee or the backend {backend!r}, not both")
        if given is not None:
            return given
        command = encoding.command
        if backend == "native" and command is not None:
            raise ValueError(f"{encoding.game} is a program, which the backend 'native' does not play")
        return cls(command or _COMMAND, events=events, backend=backend)

    def open(self, table: Table, setup: Json) -> None:
        """Asks for a match, which `table` waits for."""
        self._opened += 1
        name = str(self._opened)
        self._opening[name] = table
        self._outbox.append({"type": "open", "id": name, "auto_ready": True, **setup})
        self._waiting.add(table)

    def send(self, *messages: Json) -> None:
        """Puts messages into the next write."""
        self._outbox += messages

    def wait(self, table: Table) -> None:
        """Lets `table` wait for what comes next in its match."""
        self._waiting.add(table)

    def settle(self) -> None:
        """Returns when no table waits any more.

        Raises ValueError if the referee refused to open a match, ConnectionError if it is gone.
        """
        refusal = None
        if self._waiting:
            outbox, self._outbox = self._outbox, []
            try:
                self._stream.send(*outbox)
            except Disconnected:
                raise ConnectionError("the referee reads no more") from None
        while self._waiting:
            messages = next(self._batches, None)
            if messages is None:
                raise ConnectionError("the referee is gone")
            for message in messages:
                refusal = self._handle(message) or refusal
        if refusal is not None:
            raise ValueError(refusal)

    def _handle(self, message: Json) -> str | None:
        kind = message["type"]
        if kind in ("turn", "event", "end"):
            table = self._playing[message["match"]]
            if table.handle(message):
                self._waiting.discard(table)
            if table.is_over:
                del self._playing[message["match"]]
        elif kind == "start":
            table = self._playing[message["match"]] = self._opening[message["id"]]
            table.handle(message)
            if message["seat"] == len(message["seats"]) - 1:
                del self._opening[message["id"]]
        elif kind == "ping":
            self._stream.send({"type": "pong", "id": message["id"]})
        elif kind == "error":
            refused = self._opening.pop(message.get("id", ""), None)
            if refused is not None:
                self._waiting.discard(refused)
                return cast(str, message["message"])
            print(f"referee_bot: error: {message}", file=sys.stderr, flush=True)
        return None

    def close(self) -> None:
        """Ends the process, and with it the matches of all environments that it serves."""
        if isinstance(self._process, Loopback):
            self._process.close()
            return
        assert self._process.stdin and self._process.stdout
        self._process.kill()
        self._process.wait()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self) -> Referee:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
