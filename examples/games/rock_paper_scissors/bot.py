#!/usr/bin/env python3
"""Plays Rock Paper Scissors: the choice that beats what the other seat has chosen most often."""

import json
import sys

BEATEN_BY = {"rock": "paper", "paper": "scissors", "scissors": "rock"}


def send(**message):
    print(json.dumps(message), flush=True)


chosen = {}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send(type="hello", protocol=1, name="frequency", games=["rock_paper_scissors"])
    elif message["type"] == "start":
        chosen = dict.fromkeys(BEATEN_BY, 0)
        send(type="ready", match=message["match"], seat=message["seat"])
    elif message["type"] == "turn":
        last = message["view"].get("last")
        if last:
            chosen[last[1 - message["seat"]]] += 1
        move = BEATEN_BY[max(chosen, key=chosen.get)]
        send(type="move", match=message["match"], seat=message["seat"], turn=message["turn"], move=move)
    elif message["type"] == "bye":
        break
