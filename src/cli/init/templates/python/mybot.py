#!/usr/bin/env python3
"""A bot for any game of the referee."""

import json
import random
import sys


def choose(turn):
    """Chooses a move: `turn["view"]` is the position, `turn["legal"]` lists the legal moves."""
    return random.choice(turn["legal"])


for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        answer = {"type": "hello", "protocol": 1, "name": "@NAME@"}
    elif kind == "start":
        answer = {"type": "ready", "match": message["match"], "seat": message["seat"]}
    elif kind == "turn":
        answer = {key: message[key] for key in ("match", "seat", "turn")}
        answer.update(type="move", move=choose(message))
    elif kind == "error":
        print(line, end="", file=sys.stderr)
        continue
    elif kind == "bye":
        break
    else:
        continue
    print(json.dumps(answer), flush=True)
