#!/usr/bin/env python3
"""The rules of Goofspiel: see `rules.md`."""

from __future__ import annotations

from referee_game import BadOptions, Decide, Event, Game, Json, Knowledge, Over, Pick, Step, Turn, Viewer, run

NAMES = ["red", "blue", "green", "orange", "purple", "yellow"]


class Goofspiel(Game[Json]):
    def start(self, options: Json, seats: int) -> Json:
        cards = options["cards"]
        if cards not in range(2, 21):
            raise BadOptions(f"cards: {cards}; expected 2 to 20")
        every = list(range(1, cards + 1))
        state = {"cards": cards, "prize": None, "prizes": every, "rounds": []}
        return {**state, "hands": [every] * seats, "points": [0] * seats}

    def turn(self, state: Json) -> Turn:
        if state["prize"] is not None:
            return [Decide(seat, [str(card) for card in hand]) for seat, hand in enumerate(state["hands"])]
        if state["prizes"]:
            return Pick(len(state["prizes"]))
        return Over.by_scores(state["points"], "all_played")

    def settle(self, state: Json, drawn: list[int]) -> Step[Json]:
        state["prize"] = state["prizes"].pop(drawn[0])
        return Step(state, [Event({"kind": "prize", "prize": state["prize"]})])

    def play(self, state: Json, moves: dict[int, str]) -> Json | Step[Json]:
        give(state, [int(move) for move in moves.values()])
        if len(state["prizes"]) > 1:
            return state
        state["prize"] = state["prizes"].pop()
        cards = [hand[0] for hand in state["hands"]]
        last = {"kind": "prize", "prize": state["prize"], "cards": cards}
        give(state, cards)
        return Step(state, [Event(last)])

    def view(self, state: Json, viewer: Viewer) -> Json:
        return state

    def imagine(self, knowledge: Knowledge) -> Json:
        return knowledge.view

    def text(self, state: Json, viewer: Viewer) -> str:
        lines = []
        for name, points, hand in zip(NAMES, state["points"], state["hands"]):
            lines.append(f"{name:<7}{points:>4} points, cards {' '.join(map(str, hand)) or 'none'}")
        return "\n".join([self.words(state), *lines]) + "\n"

    def words(self, state: Json) -> str:
        if state["prize"] is not None:
            return f"all play for a prize of {state['prize']}"
        if state["prizes"]:
            return "a prize is drawn"
        turn = Over.by_scores(state["points"], "all_played")
        winners = [name for name, rank in zip(NAMES, turn.ranks) if rank == 1]
        return f"{' and '.join(winners)} win{'s' if len(winners) == 1 else ''}"

    def scene(self, state: Json, viewer: Viewer) -> Json:
        words = [self.words(state)]
        words += [f"{name} has {points} points" for name, points in zip(NAMES, state["points"])]
        shapes = []
        right = 240 + 82 * state["cards"]
        rows = [("prizes", "gold", state["prizes"]), *zip(NAMES, NAMES, state["hands"])]
        for row, (name, colour, cards) in enumerate(rows):
            top = 20 + 160 * row
            title = name if row == 0 else f"{name}: {state['points'][row - 1]}"
            text = {"form": "text", "at": [0, 0], "size": 34, "text": title, "fill": "ink"}
            shapes.append({"id": f"title {name}", "layer": "label", "at": [120, top + 70], "parts": [text]})
            shapes += [card(f"{name} {value}", colour, value, [158 + 82 * value, top]) for value in cards]
        # At the place of a card that was played: the prize that it won. Those of the last round are framed.
        for number, [prize, *played] in enumerate(state["rounds"], 1):
            last = number == len(state["rounds"])
            for row, value in enumerate([prize, *played]):
                at = [158 + 82 * value, 20 + 160 * row]
                won = row > 0 and played.count(max(played)) == 1 and value == max(played)
                shapes.append(gone(f"gone {row} {value}", value, at, prize if won else None, last))
        if state["prize"] is not None:
            shapes.append(card(f"prizes {state['prize']}", "gold", state["prize"], [right + 30, 20]))
        return {"width": right + 120, "height": 20 + 160 * len(rows), "seats": NAMES, "shapes": shapes, "words": words}


def give(state: Json, cards: list[int]) -> None:
    """Plays these cards for the prize."""
    state["rounds"].append([state["prize"], *cards])
    if cards.count(max(cards)) == 1:
        state["points"][cards.index(max(cards))] += state["prize"]
    state["hands"] = [[card for card in hand if card != played] for hand, played in zip(state["hands"], cards)]
    state["prize"] = None


def card(name: str, colour: str, value: int, at: list[int]) -> Json:
    paper = {"form": "rect", "at": [0, 0], "width": 74, "height": 130, "radius": 10, "fill": "white"}
    number = {"form": "text", "at": [37, 65], "size": 40, "text": str(value), "fill": "black"}
    return {"id": name, "at": at, "parts": [{**paper, "outline": {"colour": colour, "width": 6}}, number]}


def gone(name: str, value: int, at: list[int], won: int | None, last: bool) -> Json:
    frame = {"form": "rect", "at": [0, 0], "width": 74, "height": 130, "radius": 10}
    line = {"colour": "gold" if last else "faint", "width": 6 if last else 2}
    number = {"form": "text", "at": [37, 32], "size": 28, "text": str(value), "fill": "faint"}
    parts = [{**frame, "fill": "board", "outline": line}, number]
    if won is not None:
        parts.append({"form": "circle", "at": [37, 88], "radius": 28, "fill": "gold"})
        parts.append({"form": "text", "at": [37, 88], "size": 34, "text": str(won), "fill": "black"})
    return {"id": name, "layer": "board", "at": at, "parts": parts}


if __name__ == "__main__":
    run(Goofspiel())
