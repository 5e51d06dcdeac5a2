#!/usr/bin/env python3
"""Plays Colonel Blotto: gives up some of the fields, and places the same number of coins on the others, at random."""

import json
import random
import sys


def choose(view):
    fields, coins = view["fields"], view["coins"]
    held = random.sample(range(fields), random.randint(fields // 2 + 1, fields))
    placed = [0] * fields
    for coin in range(coins):
        placed[held[coin % len(held)]] += 1
    return " ".join(map(str, placed))


def send(**message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send(type="hello", protocol=1, name="sampler", games=["blotto"])
    elif message["type"] == "start":
        send(type="ready", match=message["match"], seat=message["seat"])
    elif message["type"] == "turn":
        move = choose(message["view"])
        send(type="move", match=message["match"], seat=message["seat"], turn=message["turn"], move=move)
    elif message["type"] == "bye":
        break
