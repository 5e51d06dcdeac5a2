"""What the bots of the black-box tests begin with: a bot that plays the first legal move, to be varied."""

import json
import os
import signal
import sys

signal.alarm(300)  # a test that fails leaves no bot behind


def say(**message):
    os.write(1, json.dumps(message).encode() + b"\n")


def hello(_):
    say(type="hello", protocol=1, name="test bot")


def ready(start, **more):
    say(type="ready", match=start["match"], seat=start["seat"], **more)


def move(turn, text, **more):
    say(type="move", match=turn["match"], seat=turn["seat"], turn=turn["turn"], move=text, **more)


def first(turn):
    move(turn, turn["legal"][0])


def play(**handlers):
    """Plays until `bye` or the end of the input, with these handlers of messages in place of the usual ones."""
    handlers = {"hello": hello, "start": ready, "turn": first, **handlers}
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        handlers.get(message["type"], lambda _: None)(message)
        if message["type"] == "bye":
            return
