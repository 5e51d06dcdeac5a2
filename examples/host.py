#!/usr/bin/env python3
"""Holds all the seats over `referee stdio`: the skeleton of a training loop or a test harness.

    python3 examples/host.py [REFEREE [GAME [MATCHES]]]

Plays concurrent random matches: one process, and one write and one read for all open requests.
"""

import json
import random
import subprocess
import sys

REFEREE = sys.argv[1] if len(sys.argv) > 1 else "referee"
GAME = sys.argv[2] if len(sys.argv) > 2 else "checkers"
MATCHES = int(sys.argv[3]) if len(sys.argv) > 3 else 100
AT_ONCE = 16

referee = subprocess.Popen(
    [REFEREE, "stdio", "--clock", "none"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)


def say(**message):
    referee.stdin.write(json.dumps(message) + "\n")


def open_match():
    # `auto_ready` saves a round-trip; `seed`, `options` and `clock` may be set for each match.
    say(type="open", game=GAME, auto_ready=True)


say(type="hello", protocol=1, name="host", slots=AT_ONCE)
opened = min(AT_ONCE, MATCHES)
for _ in range(opened):
    open_match()

scores, ended = {}, 0
while ended < MATCHES:
    message = json.loads(referee.stdout.readline())
    if message["type"] == "turn":
        # A network would evaluate message["view"] here, preferably in batches.
        move = random.choice(message["legal"])
        say(type="move", match=message["match"], seat=message["seat"], turn=message["turn"], move=move)
    elif message["type"] == "end" and message["seat"] == 0:
        ended += 1
        scores[message["scores"][0]] = scores.get(message["scores"][0], 0) + 1
        if opened < MATCHES:
            opened += 1
            open_match()
    elif message["type"] == "error":
        sys.exit(message["message"])

referee.stdin.close()
referee.wait()
print(f"{MATCHES} matches of {GAME}; score of seat 0: {dict(sorted(scores.items(), reverse=True))}")
