#!/usr/bin/env python3
"""The rules of Connect Four: a line of JSON in, a line of JSON out. It remembers nothing."""

import json
import sys

DISCS = "ry"
NAMES = ["red", "yellow"]


def start(options, **_):
    columns, rows = options["columns"], options["rows"]
    for name, value in ("columns", columns), ("rows", rows):
        if not isinstance(value, int) or not 4 <= value <= 9:
            return {"bad_options": f"{name}: {value}; expected 4 to 9"}
    return position({"columns": [""] * columns, "rows": rows})


def play(state, moves, **_):
    column = ord(moves[0]["move"]) - ord("a")
    state["columns"][column] += DISCS[moves[0]["seat"]]
    return position(state)


def position(state):
    columns, rows = state["columns"], state["rows"]
    seat = sum(map(len, columns)) % 2
    left = rows * len(columns) - sum(map(len, columns))
    if has_four(columns, DISCS[1 - seat]):
        turn = {"over": {"ranks": [1, 2] if seat == 1 else [2, 1], "reason": "four"}}
    elif left == 0:
        turn = {"over": {"ranks": [1, 1], "reason": "full_board"}}
    else:
        legal = [chr(ord("a") + column) for column, discs in enumerate(columns) if len(discs) < rows]
        turn = {"decide": [{"seat": seat, "legal": legal, "view": state}]}
    return {"state": state, "turn": turn, "turns_left": left}


def imagine(view, **_):
    # Nothing is hidden.
    return position(view)


def has_four(columns, disc):
    def at(column, row):
        return 0 <= column < len(columns) and 0 <= row < len(columns[column]) and columns[column][row] == disc

    return any(
        all(at(column + step * right, row + step * up) for step in range(4))
        for column, discs in enumerate(columns)
        for row in range(len(discs))
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
    )


def show(state, **_):
    columns, rows = state["columns"], state["rows"]
    over = position(state)["turn"].get("over")
    to_move = NAMES[sum(map(len, columns)) % 2]
    words = "a draw" if over and over["ranks"] == [1, 1] else f"{NAMES[over['ranks'].index(1)]} wins" if over else f"{to_move} to move"
    lines = [" ".join(discs[row] if row < len(discs) else "." for discs in columns) for row in reversed(range(rows))]
    letters = [chr(ord("a") + column) for column in range(len(columns))]
    return {
        "view": state,
        "text": "\n".join([*lines, " ".join(letters), words]) + "\n",
        "scene": {
            "width": 100 * len(columns),
            "height": 100 * rows + 60,
            "seats": NAMES,
            "shapes": shapes(columns, rows),
            "words": [words],
            # Where a person clicks to drop a disc.
            "places": {letter: [f"column {letter}"] for letter in letters},
        },
    }


def shapes(columns, rows):
    width, height = 100 * len(columns), 100 * rows
    board = [{"form": "rect", "at": [0, 0], "width": width, "height": height, "radius": 20, "fill": "blue"}]
    found = [{"id": "board", "layer": "board", "at": [0, 0], "parts": board}]
    for column, discs in enumerate(columns):
        letter = chr(ord("a") + column)
        # Without a fill it is not seen.
        whole = {"form": "rect", "at": [-50, 0], "width": 100, "height": height, "radius": 20}
        found.append({"id": f"column {letter}", "layer": "board", "at": [100 * column + 50, 0], "parts": [whole]})
        label = {"form": "text", "at": [0, 0], "size": 40, "text": letter, "fill": "faint"}
        found.append({"id": f"label {letter}", "layer": "board", "at": [100 * column + 50, height + 35], "parts": [label]})
        for row in range(rows):
            at = [100 * column + 50, height - 100 * row - 50]
            hole = {"form": "circle", "at": [0, 0], "radius": 40, "fill": "paper"}
            found.append({"id": f"hole {letter}{row + 1}", "layer": "board", "at": at, "parts": [hole]})
            if row < len(discs):
                disc = {"form": "circle", "at": [0, 0], "radius": 40, "fill": NAMES[DISCS.index(discs[row])]}
                found.append({"id": f"disc {letter}{row + 1}", "at": at, "parts": [disc]})
    return found


for line in sys.stdin:
    request = json.loads(line)
    answer = {"start": start, "play": play, "imagine": imagine, "show": show}[request["type"]](**request)
    print(json.dumps(answer, separators=(",", ":")), flush=True)
