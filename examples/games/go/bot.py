#!/usr/bin/env python3
"""Plays Go: takes stones, saves its own, and otherwise plays anywhere but in its own eyes, until nothing else is left."""

import json
import random
import sys

COLUMNS = "ABCDEFGHJKLMNOPQRST"


def neighbours(column, row, size):
    near = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return [(x, y) for x, y in near if 0 <= x < size and 0 <= y < size]


def chain(board, at):
    """Returns the stones and the liberties of a chain."""
    stones, liberties, stack = {at}, set(), [at]
    while stack:
        for near in neighbours(*stack.pop(), len(board)):
            if board[near] == ".":
                liberties.add(near)
            elif board[near] == board[at] and near not in stones:
                stones.add(near)
                stack.append(near)
    return stones, liberties


class Board(dict):
    """The symbols of points, by column and row."""

    def __init__(self, rows):
        super().__init__({(x, len(rows) - 1 - y): symbol for y, row in enumerate(rows) for x, symbol in enumerate(row)})
        self.size = len(rows)

    def __len__(self):
        return self.size


def choose(view, legal):
    board, own = Board(view["board"]), "X" if view["to_move"] == "black" else "O"
    values = {}
    for move in legal:
        if move == "pass":
            continue
        at = COLUMNS.index(move[0]), int(move[1:]) - 1
        near = neighbours(*at, len(board))
        if all(board[point] == own and len(chain(board, point)[1]) > 1 for point in near):
            continue
        values[move] = random.random()
        for point in near:
            if board[point] != ".":
                stones, liberties = chain(board, point)
                if len(liberties) == 1:
                    values[move] += len(stones)
    return max(values, key=values.get) if values else "pass"


for line in sys.stdin:
    message = json.loads(line)
    answer = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    if message["type"] == "hello":
        answer.update(type="hello", protocol=1, name="eyes", games=["go"])
    elif message["type"] == "start":
        answer.update(type="ready")
    elif message["type"] == "turn":
        answer.update(type="move", move=choose(message["view"], message["legal"]))
    elif message["type"] == "bye":
        break
    else:
        continue
    print(json.dumps(answer), flush=True)
