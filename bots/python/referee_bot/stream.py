"""A stream of JSON objects, one a line, in both directions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from .messages import Json


class Disconnected(Exception):
    """The referee reads no more."""


class Stream:
    """Messages over a pair of binary files. The writer is unbuffered, so that no message waits in it."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer

    def __iter__(self) -> Iterator[Json]:
        """Yields what the referee sends, until the end of the input; what is no JSON object is logged and skipped."""
        # readline returns as soon as a line is there, where iterating over the file may wait for a full buffer.
        for line in iter(self._reader.readline, b""):
            if not line.strip():
                continue
            try:
                message = json.loads(line)  # takes off a byte order mark
            except ValueError as error:
                print(f"referee_bot: skipped a line that is not JSON: {error}", file=sys.stderr, flush=True)
                continue
            if isinstance(message, dict):
                yield message
            else:
                print("referee_bot: skipped a line that is no JSON object", file=sys.stderr, flush=True)

    def send(self, message: Json) -> None:
        """Writes `message` as one line, in one write unless the system takes only a part.

        Raises Disconnected if nobody reads it, ValueError if it holds a number that JSON cannot express.
        """
        rest = memoryview(json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n")
        try:
            while rest:
                rest = rest[self._writer.write(rest) :]
        except ConnectionError as error:
            raise Disconnected from error


def take_stdio() -> Stream:
    """Returns the stream over this process's stdin and stdout, and turns stdout into stderr for everybody else.

    A `print` in a bot, a chatty library, a program that the bot starts: none of them may write between the messages.
    So the pipe moves to a descriptor that only the stream knows, for the rest of the process's life: a `print` after
    the last match must not meet a closed pipe either.
    """
    pipe = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before this call and is still in its buffer
    sys.stdout = sys.stderr
    return Stream(sys.stdin.buffer, os.fdopen(pipe, "wb", buffering=0))
