"""The correct behaviour of a hostile bot: plays the first legal move, except where its script overrides that.

Independent of the SDK on purpose: the SDK prevents misbehaviour.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable

# Without `typing` and `pathlib`, which take half of the time to start.
Json = dict
Handler = Callable[[Json], None]

LIFE = 120  # seconds
# Limits the lifetime of a leftover process; no script ignores this signal.
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.alarm(LIFE)

# The turn ids at which a script misbehaves: by default only the third turn.
POINTS = {int(point) for point in sys.argv[1:]} or {2}

_input = open(0, "rb", closefd=False)


def readline() -> bytes:
    """Returns the next line, or nothing at the end of the input."""
    return _input.readline()


def write(data: bytes) -> None:
    """Writes all of `data` in one write; exits if the reader has closed the pipe."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        os._exit(0)


def line(message: object) -> bytes:
    """Returns a message as sent on the wire."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def send(message: object) -> None:
    write(line(message))


def say_hello(message: Json) -> None:
    send({"type": "hello", "protocol": 1, "name": os.path.basename(sys.argv[0]).removesuffix(".py")})


def say_ready(start: Json) -> None:
    send({"type": "ready", "match": start["match"], "seat": start["seat"]})


def move(turn: Json) -> Json:
    """Returns the correct answer to a turn: its first legal move."""
    where = {key: turn[key] for key in ("match", "seat", "turn")}
    return {"type": "move", **where, "move": turn["legal"][0]}


def answer(turn: Json) -> None:
    send(move(turn))


def nothing(message: Json) -> None:
    """Sends nothing."""


def play(
    misbehave: Handler = answer,
    *,
    hello: Handler = say_hello,
    start: Handler = say_ready,
    turn: Handler = answer,
) -> None:
    """Plays until the input ends: `misbehave` takes the turns in POINTS, `turn` the others."""
    while text := readline():
        message = json.loads(text)
        kind = message["type"]
        if kind == "hello":
            hello(message)
        elif kind == "start":
            start(message)
        elif kind == "turn":
            (misbehave if message["turn"] in POINTS else turn)(message)
        elif kind == "ping":
            send({"type": "pong", "id": message["id"]})
        elif kind == "bye":
            return


def read_on() -> None:
    """Reads without answering until the input ends."""
    while readline():
        pass


def sleep_on() -> None:
    """Neither reads nor writes until a signal ends the process."""
    while True:
        signal.pause()
