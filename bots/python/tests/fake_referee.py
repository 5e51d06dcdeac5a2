"""A referee's side of the protocol over real pipes: it says what a test tells it to, and knows no rules."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

PACKAGE_ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 10  # seconds; a test that waits so long has failed

Json = dict[str, Any]


class FakeReferee:
    """Starts a bot, and ends it with the `with` block."""

    def __init__(self, *args: str) -> None:
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, *args],
            cwd=PACKAGE_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @classmethod
    def of(cls, script: str, *args: str) -> FakeReferee:
        """Starts one of the sample bots."""
        return cls(str(PACKAGE_ROOT / script), *args)

    @classmethod
    def of_code(cls, code: str) -> FakeReferee:
        """Starts a bot that is written in the test."""
        return cls("-c", code)

    def __enter__(self) -> FakeReferee:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._stderr.close()

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as stdout:
            for line in stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, kind: str, **fields: Any) -> None:
        self.send_bytes(json.dumps({"type": kind, **fields}).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def receive(self) -> Json:
        """Returns the bot's next message; fails if it is none, or does not come."""
        line = self._lines.get(timeout=TIMEOUT)
        assert line.endswith(b"\n"), f"the bot ended: {line!r}\n{self.stderr()}"
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def ask(self, kind: str, **fields: Any) -> Json:
        self.send(kind, **fields)
        return self.receive()

    def ping(self) -> None:
        """Fails if the bot says anything before it answers a ping: so it had nothing to say until now."""
        answer = self.ask("ping", id=12345)
        assert answer == {"type": "pong", "id": 12345}, answer

    def hello(self) -> Json:
        return self.ask("hello", protocol=1, server="fake/1", auth="none")

    def start(self, match: str = "m1", *, game: str = "checkers", seat: int = 0, **fields: Any) -> Json:
        message: Json = {
            "match": match,
            "game": game,
            "rules": 1,
            "options": {"draw_plies": 50},
            "seat": seat,
            "seats": [{"name": "one", "team": 0}, {"name": "two", "team": 1}],
            "clock": {"delay_ms": 5000, "bank_ms": 60000, "increment_ms": 0},
            "deal": match,
            "commitment": "00" * 32,
            "nonce": False,
        }
        return self.ask("start", **{**message, **fields})

    def turn(self, legal: list[str] | None, match: str = "m1", *, seat: int = 0, turn: int = 0, **fields: Any) -> Json:
        """Asks for a decision and returns the answer. `legal` is None where nobody can list the moves."""
        message: Json = {"match": match, "seat": seat, "turn": turn, "view": {}}
        if legal is not None:
            message["legal"] = legal
        return self.ask("turn", **{**message, "clock": {"bank_ms": 60000, "limit_ms": 65000}, **fields})

    def end(self, match: str = "m1", *, seat: int = 0, **fields: Any) -> None:
        message: Json = {"match": match, "seat": seat, "ranks": [1, 2], "scores": [1, 0]}
        self.send("end", **{**message, "ended_by": "rules", "reason": "no_moves", **fields})

    def finish(self) -> int:
        """Ends the bot's input and returns its exit status; fails if it says anything more."""
        assert self._process.stdin
        self._process.stdin.close()
        return self.status()

    def status(self) -> int:
        """Waits for the bot's exit and returns its status; fails if it says anything more."""
        rest = self._lines.get(timeout=TIMEOUT)
        assert rest == b"", rest
        return self._process.wait(TIMEOUT)

    def stderr(self) -> str:
        """Returns what the bot has written there so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode()
