"""The file of all prompts and answers."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime, timezone

from ..messages import Json


class Transcript:
    """A file of JSON lines that only its owner can read. Several bots may append to one file."""

    def __init__(self, path: str) -> None:
        """Creates the file, or appends to it. Raises OSError, and PermissionError if others may read it."""
        # O_NOFOLLOW: a symbolic link planted by another user must not redirect the write.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        require_private(os.fstat(self._file))

    def write(self, entry: Json) -> None:
        """Appends a line, with the time."""
        time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        os.write(self._file, (json.dumps({"time": time, **entry}) + "\n").encode())


def require_private(found: os.stat_result) -> None:
    """Raises PermissionError if others than the owner may use the file."""
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        raise PermissionError(f"other users may read it (mode {mode:04o}): run `chmod 600` on it")
