#!/usr/bin/env python3
"""Plays Shogi: takes the most valuable piece, promotes, and does not move back what it has just moved."""

import json
import random
import sys

VALUES = {"P": 1, "L": 3, "N": 4, "S": 5, "G": 6, "B": 8, "R": 10, "K": 99}


def pieces(sfen):
    """Returns the letters of pieces by their squares."""
    found = {}
    for rank, row in zip("abcdefghi", sfen.split()[0].split("/")):
        file = 9
        for symbol in row:
            if symbol.isdigit():
                file -= int(symbol)
            elif symbol != "+":
                found[f"{file}{rank}"] = symbol
                file -= 1
    return found


def choose(view, legal):
    if "win" in legal:
        return "win"
    board, made = pieces(view["sfen"]), view["moves"]

    def value(move):
        taken = VALUES.get(board.get(move[2:4], "").upper(), 0)
        returns = len(made) > 1 and move[:4] == made[-2][2:4] + made[-2][:2]
        return taken + 2 * move.endswith("+") - returns + random.random()

    return max(legal, key=value)


for line in sys.stdin:
    message = json.loads(line)
    answer = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    if message["type"] == "hello":
        answer.update(type="hello", protocol=1, name="taker", games=["shogi"])
    elif message["type"] == "start":
        answer.update(type="ready")
    elif message["type"] == "turn":
        answer.update(type="move", move=choose(message["view"], message["legal"]))
    elif message["type"] == "bye":
        break
    else:
        continue
    print(json.dumps(answer), flush=True)
