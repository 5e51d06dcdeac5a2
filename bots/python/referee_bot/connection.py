"""The connection to the referee: over stdin and stdout, or over TCP."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from .stream import Reader, Stream

TOKEN_VARIABLE = "REFEREE_TOKEN"
"""The environment variable that holds the token when no file is named."""


def options() -> argparse.ArgumentParser:
    """Returns a parser of the options that `run` reads, as one of the `parents` of a bot's own parser."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    group = parser.add_argument_group("connection")
    group.add_argument("--connect", metavar="HOST:PORT", type=_address, help="play over TCP, not over stdin and stdout")
    group.add_argument("--tls", action="store_true", help="encrypt, and verify the referee's certificate")
    group.add_argument("--ca", metavar="FILE", help="trust these certificates (PEM), not those of the system")
    group.add_argument("--token-file", metavar="FILE", help=f"where the token is, if not in {TOKEN_VARIABLE}")
    group.add_argument("--name", help="the bot's name")
    return parser


@dataclass(frozen=True)
class Connection:
    """The connection options of the command line."""

    address: tuple[str, int] | None
    """None: stdin and stdout."""
    tls: bool
    ca: str | None
    token: str | None
    """The token, sent only if the referee requires one."""
    name: str | None
    """Overrides the bot's name."""

    @classmethod
    def from_args(cls, args: Sequence[str] | None = None) -> Connection:
        """Reads `args`, by default those of the process. Other arguments are left to the bot."""
        known, _ = options().parse_known_args(args)
        token = _read(known.token_file) if known.token_file else os.environ.get(TOKEN_VARIABLE)
        return cls(known.connect, known.tls, known.ca, token.strip() if token else None, known.name)

    def open(self) -> Stream:
        """Returns the stream to the referee. Raises OSError if it cannot be reached or fails TLS verification."""
        if self.address is None:
            return _take_stdio()
        # Imported here because sockets and TLS double the time that a bot at stdin and stdout takes to start.
        from .tcp import connect

        connected = connect(self.address, self.tls, self.ca)
        return Stream(connected.makefile("rb"), connected.makefile("wb", buffering=0))


def _read(file: str) -> str:
    with open(file, encoding="utf-8") as text:
        return text.read()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not (host and colon and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _take_stdio() -> Stream:
    """Returns the stream over this process's stdin and stdout, and redirects stdout to stderr for all other code.

    A `print` in a bot, a chatty library, a program that the bot starts: none of them may write between the messages.
    So the pipe moves to a descriptor that only the stream knows, for the rest of the process's life: a `print` after
    the last match must not meet a closed pipe either.
    """
    pipe = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # what was printed before this call and is still in its buffer
    sys.stdout = sys.stderr
    return Stream(cast(Reader, sys.stdin.buffer), os.fdopen(pipe, "wb", buffering=0))
