#!/usr/bin/env python3
"""The rules of Colonel Blotto: see `rules.md`."""

from __future__ import annotations

from referee_game import BadMove, BadOptions, Decide, Event, Game, Json, Knowledge, Over, Step, Turn, Viewer, run

NAMES = ["red", "blue"]
LIMITS = {"coins": (1, 10_000), "fields": (2, 20), "battles": (1, 100)}


class Blotto(Game[Json]):
    def start(self, options: Json, seats: int) -> Json:
        for name, (least, most) in LIMITS.items():
            if type(options[name]) is not int or not least <= options[name] <= most:
                raise BadOptions(f"{name}: {options[name]}; expected {least} to {most}")
        return {**options, "battle": 1, "wins": [0, 0], "last": None}

    def turn(self, state: Json) -> Turn:
        if state["battle"] > state["battles"]:
            return Over.by_scores(state["wins"], "battles_fought")
        return [Decide(seat, None) for seat in range(2)]

    def check(self, state: Json, seat: int, move: str) -> None:
        words = move.split(" ")
        if not all(word.isdecimal() and str(int(word[:6])) == word for word in words):
            raise BadMove("expected numbers with one blank between them")
        if len(words) != state["fields"]:
            raise BadMove(f"{len(words)} numbers; expected one for each of {state['fields']} fields")
        placed = sum(map(int, words))
        if placed != state["coins"]:
            raise BadMove(f"{placed} coins; expected {state['coins']}")

    def play(self, state: Json, moves: dict[int, str]) -> Step[Json]:
        state["last"] = [[int(word) for word in move.split(" ")] for move in moves.values()]
        held = [sum(mine > other for mine, other in zip(*order)) for order in (state["last"], state["last"][::-1])]
        event = {"kind": "battle", "fields": held}
        if held[0] != held[1]:
            event["winner"] = held.index(max(held))
            state["wins"][event["winner"]] += 1
        state["battle"] += 1
        return Step(state, [Event(event)])

    def view(self, state: Json, viewer: Viewer) -> Json:
        return state

    def imagine(self, knowledge: Knowledge) -> Json:
        return knowledge.view

    def words(self, state: Json) -> str:
        if state["battle"] <= state["battles"]:
            return f"battle {state['battle']} of {state['battles']}"
        lead = state["wins"][0] - state["wins"][1]
        return "a draw" if lead == 0 else f"{NAMES[lead < 0]} wins"

    def scene(self, state: Json, viewer: Viewer) -> Json:
        words = [self.words(state)] + [f"{name} has won {wins}" for name, wins in zip(NAMES, state["wins"])]
        shapes = []
        for seat, name in enumerate(NAMES):
            y = 60 + 260 * seat
            shapes.append(label(f"wins {name}", f"{name}: {state['wins'][seat]}", [110, y], "ink"))
            if state["last"]:
                words.append(f"{name} had {' '.join(map(str, state['last'][seat]))}")
        for place in range(state["fields"]):
            x = 260 + 120 * place
            holder = "board"
            for seat in range(2) if state["last"] else ():
                mine, other = state["last"][seat][place], state["last"][1 - seat][place]
                if mine > other:
                    holder = NAMES[seat]
                shapes.append(label(f"coins {seat} {place}", str(mine), [x, 60 + 260 * seat], "ink"))
            field = {"form": "rect", "at": [-50, -80], "width": 100, "height": 160, "radius": 12, "fill": holder}
            shapes.append({"id": f"field {place}", "layer": "board", "at": [x, 190], "parts": [field]})
        return {"width": 220 + 120 * state["fields"], "height": 380, "seats": NAMES, "shapes": shapes, "words": words}


def label(name: str, text: str, at: list[int], fill: str) -> Json:
    part = {"form": "text", "at": [0, 0], "size": 40, "text": text, "fill": fill}
    return {"id": name, "layer": "label", "at": at, "parts": [part]}


if __name__ == "__main__":
    run(Blotto())
