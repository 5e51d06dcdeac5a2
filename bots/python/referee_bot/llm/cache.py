"""Answers that were paid for, for a bot that is started again."""

from __future__ import annotations

import hashlib
import json
import os

from ..messages import Json
from .transcript import require_private


class Cache:
    """A file of JSON lines with the responses of the server, that only its owner can read.

    A key is the SHA-256 of a request, which has the model, its settings and the prompt, of the match without the number of
    the attempt, the seat and the turn: other matches get answers of their own. Several bots may append to one file; each
    knows what was there when it started.
    """

    def __init__(self, path: str) -> None:
        """Reads the file, or creates it. Raises OSError, and PermissionError if others may read it."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        require_private(os.fstat(self._file))
        self._bodies: dict[str, str] = {}
        line = "\n"
        with open(os.dup(self._file), encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    self._bodies[str(entry["key"])] = str(entry["response"])
                except (ValueError, LookupError, TypeError):
                    pass  # a line that was being written when its bot was killed
        if not line.endswith("\n"):
            os.write(self._file, b"\n")

    @staticmethod
    def key(request: Json, about: Json) -> str:
        """Returns the key of a request. `about` has the `match`, the `seat` and the `turn`."""
        of = {**about, "match": about["match"].partition(".")[0]}
        return hashlib.sha256(json.dumps([request, of], sort_keys=True).encode()).hexdigest()

    def find(self, key: str) -> bytes | None:
        """Returns the body of the response that was stored under this key."""
        body = self._bodies.get(key)
        return None if body is None else body.encode()

    def store(self, key: str, body: bytes) -> None:
        """Appends the body of a response."""
        line = json.dumps({"key": key, "response": body.decode("utf-8", "replace")}) + "\n"
        os.write(self._file, line.encode())
