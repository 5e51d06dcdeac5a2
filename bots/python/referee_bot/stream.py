"""A bidirectional stream of JSON objects, one per line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Protocol

from .messages import Json

# As much as a pipe holds. The buffer of a larger read would be mapped into memory anew each time.
_CHUNK = 1 << 16

_decode = json.JSONDecoder().raw_decode
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Reader(Protocol):
    """The interface of a buffered binary file that is open for reading."""

    def read1(self, size: int, /) -> bytes: ...


class Writer(Protocol):
    """The interface of a binary file that is open for writing."""

    def write(self, data: Any, /) -> int | None: ...

    def flush(self) -> None: ...


class Disconnected(Exception):
    """The referee has closed its input."""


class Stream:
    """Messages over a pair of binary files."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def batches(self) -> Iterator[list[Json]]:
        """Yields the messages that have arrived, as many as there are at once, until the end of the input.

        What is no JSON object is logged and skipped, and so is a last line without its end.
        """
        rest = b""
        while data := self._read():
            *lines, rest = (rest + data).split(b"\n")
            yield [message for line in lines if (message := _parse(line)) is not None]

    def send(self, *messages: Json) -> None:
        """Writes each message as one line, all of them in one write unless the system takes only a part.

        Raises Disconnected if the referee has closed it, ValueError if it holds a number that JSON cannot express.
        """
        lines = [_encode(message) + "\n" for message in messages]
        rest = memoryview("".join(lines).encode("ascii"))
        try:
            while rest:
                rest = rest[self._writer.write(rest) :]
            self._writer.flush()
        except (ConnectionError, TimeoutError) as error:
            raise Disconnected from error

    def _read(self) -> bytes:
        try:
            return self._reader.read1(_CHUNK)
        except OSError:
            return b""


def _parse(line: bytes) -> Json | None:
    try:
        text = line.decode()
        message, end = _decode(text)
        if end == len(text) and type(message) is dict:
            return message
    except (ValueError, RecursionError):
        pass
    return _parse_other(line)


def _parse_other(line: bytes) -> Json | None:
    """Parses a line that is not just a JSON object: one with a byte order mark or spaces around it, or invalid."""
    if not line.strip():
        return None
    try:
        message = json.loads(line)  # takes off a byte order mark
    except (ValueError, RecursionError) as error:
        _log(f"skipped a line that is not JSON: {error}")
        return None
    if not isinstance(message, dict):
        _log("skipped a line that is no JSON object")
        return None
    return message


def _log(text: str) -> None:
    print(f"referee_bot: {text}", file=sys.stderr, flush=True)
