#!/usr/bin/env python3
"""Plays Connect Four: takes a win, prevents one, otherwise prefers the middle."""

import json
import sys

DISCS = "ry"


def wins(view, letter, disc):
    """Whether a disc of this colour in this column makes four in a line."""
    columns = list(view["columns"])
    column = ord(letter) - ord("a")
    columns[column] += disc
    row = len(columns[column]) - 1

    def length(right, up):
        count, x, y = 0, column + right, row + up
        while 0 <= x < len(columns) and 0 <= y < len(columns[x]) and columns[x][y] == disc:
            count, x, y = count + 1, x + right, y + up
        return count

    return any(1 + length(right, up) + length(-right, -up) >= 4 for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)))


def choose(view, legal, seat):
    for disc in DISCS[seat], DISCS[1 - seat]:
        for letter in legal:
            if wins(view, letter, disc):
                return letter
    middle = (len(view["columns"]) - 1) / 2
    return min(legal, key=lambda letter: abs(ord(letter) - ord("a") - middle))


def send(**message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send(type="hello", protocol=1, name="four", games=["connect_four"])
    elif message["type"] == "start":
        send(type="ready", match=message["match"], seat=message["seat"])
    elif message["type"] == "turn":
        move = choose(message["view"], message["legal"], message["seat"])
        send(type="move", match=message["match"], seat=message["seat"], turn=message["turn"], move=move)
    elif message["type"] == "bye":
        break
