#!/usr/bin/env python3
"""Plays Goofspiel: as many cards as it has above the one it plays, there are prizes above this one."""

import json
import sys


def choose(view, legal):
    above = sum(prize > view["prize"] for prize in view["prizes"])
    return sorted(legal, key=int)[-1 - above]


def send(**message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send(type="hello", protocol=1, name="matching", games=["goofspiel"])
    elif message["type"] == "start":
        send(type="ready", match=message["match"], seat=message["seat"])
    elif message["type"] == "turn":
        move = choose(message["view"], message["legal"])
        send(type="move", match=message["match"], seat=message["seat"], turn=message["turn"], move=move)
    elif message["type"] == "bye":
        break
