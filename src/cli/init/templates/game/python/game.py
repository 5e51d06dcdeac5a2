#!/usr/bin/env python3
"""The rules of @NAME@: see `rules.md`. The SDK beside this file, `referee_game.py`, documents each method."""

from __future__ import annotations

from referee_game import BadOptions, Decide, Game, Json, Knowledge, Over, Turn, Viewer, run


class MyGame(Game[Json]):
    def start(self, options: Json, seats: int) -> Json:
        if options["sticks"] not in range(1, 101):
            raise BadOptions(f"sticks: {options['sticks']}; expected 1 to 100")
        return {"sticks": options["sticks"], "seat": 0}

    def turn(self, state: Json) -> Turn:
        seat = state["seat"]
        if state["sticks"] == 0:
            return Over([1, 2] if seat == 1 else [2, 1], "last_stick")
        return Decide(seat, ["1", "2", "3"][: state["sticks"]])

    def play(self, state: Json, moves: dict[int, str]) -> Json:
        for seat, move in moves.items():
            state = {"sticks": state["sticks"] - int(move), "seat": 1 - seat}
        return state

    def view(self, state: Json, viewer: Viewer) -> Json:
        return {"sticks": state["sticks"]}

    def imagine(self, knowledge: Knowledge) -> Json:
        # The seat knows everything: there is only this state.
        return {"sticks": knowledge.view["sticks"], "seat": knowledge.seat}

    def scene(self, state: Json, viewer: Viewer) -> Json:
        stick = {"form": "rect", "at": [0, 0], "width": 10, "height": 160, "radius": 5, "fill": "orange"}
        sticks = [{"id": f"stick {i}", "at": [20 * i + 15, 20], "parts": [stick]} for i in range(state["sticks"])]
        words = f"seat {state['seat']} to move" if sticks else f"seat {1 - state['seat']} wins"
        plate = {"form": "rect", "at": [-900, -75], "width": 1800, "height": 150, "radius": 20, "fill": "board"}
        text = {"form": "text", "at": [0, 0], "size": 90, "text": words}
        end = {"id": "end", "at": [1000, 100], "parts": [plate, text]}
        return {"width": 2000, "height": 200, "shapes": sticks or [end], "words": [words, f"{len(sticks)} sticks"]}


if __name__ == "__main__":
    run(MyGame())
