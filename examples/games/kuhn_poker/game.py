#!/usr/bin/env python3
"""The rules of Kuhn poker: see `rules.md`."""

from __future__ import annotations

from referee_game import BadOptions, BadView, Decide, Event, Game, Json, Knowledge, Over, Shuffle, Step, Turn, Viewer, run

CARDS = "JQK"
NAMES = ["red", "blue"]
# Moves that end a hand, by their first letters.
ENDS = ("pp", "bb", "bp", "pbp", "pbb")


class KuhnPoker(Game[Json]):
    def start(self, options: Json, seats: int) -> Json:
        hands = options["hands"]
        if hands not in range(1, 1001):
            raise BadOptions(f"hands: {hands}; expected 1 to 1000")
        return {"hands": hands, "hand": 1, "cards": None, "moves": [], "chips": [0, 0]}

    def amounts(self, options: Json, seats: int) -> tuple[float, float]:
        return -2 * options["hands"], 2 * options["hands"]

    def turn(self, state: Json) -> Turn:
        if state["hand"] > state["hands"]:
            return Over.by_amounts(state["chips"], "hands_played")
        if state["cards"] is None:
            return Shuffle(3)
        return Decide((first(state) + len(state["moves"])) % 2, ["bet", "pass"])

    def settle(self, state: Json, drawn: list[int]) -> Step[Json]:
        cards = [CARDS[card] for card in drawn[:2]]
        seats = {seat: {"kind": "dealt", "card": card} for seat, card in enumerate(cards)}
        return Step({**state, "cards": cards}, [Event({"kind": "dealt", "cards": cards}, {"kind": "dealt"}, seats)])

    def play(self, state: Json, moves: dict[int, str]) -> Json | Step[Json]:
        state["moves"] += moves.values()
        played = "".join(move[0] for move in state["moves"])
        if played not in ENDS:
            return state
        has_folded = played.endswith("bp")
        if has_folded:
            winner = (first(state) + played.index("b")) % 2
        else:
            winner = 0 if CARDS.index(state["cards"][0]) > CARDS.index(state["cards"][1]) else 1
        won = 2 if played.endswith("bb") else 1
        state["chips"][winner] += won
        state["chips"][1 - winner] -= won
        public = {"kind": "hand", "winner": winner, "chips": won}
        shown = {**public, "cards": state["cards"]}
        state.update(hand=state["hand"] + 1, cards=None, moves=[])
        return Step(state, [Event(shown, public if has_folded else shown)])

    def view(self, state: Json, viewer: Viewer) -> Json:
        view = {"hand": state["hand"], "hands": state["hands"], "first": first(state)}
        view.update(moves=state["moves"], chips=state["chips"])
        if viewer == "all":
            view["cards"] = state["cards"]
        elif viewer != "public" and state["cards"]:
            view["card"] = state["cards"][viewer]
        return view

    def imagine(self, knowledge: Knowledge) -> Json:
        view, seat = knowledge.view, knowledge.seat
        if view.get("card") not in list(CARDS):
            raise BadView(f"card: {view.get('card')}; expected J, Q or K")
        cards = [view["card"]] * 2
        cards[1 - seat] = knowledge.random.choice([card for card in CARDS if card != view["card"]])
        return {"cards": cards, **{name: view[name] for name in ("hands", "hand", "moves", "chips")}}

    def scene(self, state: Json, viewer: Viewer) -> Json:
        shapes = []
        for seat, name in enumerate(NAMES):
            left = 60 + 340 * seat
            chips = f"{name}: {state['chips'][seat]:+d}".replace("-", "−")
            shapes.append(label(f"chips {seat}", [left + 120, 40], chips, name))
            # In the end there are no cards, but what each has won.
            if state["cards"] or state["hand"] > state["hands"]:
                is_seen = not state["cards"] or viewer in ("all", seat)
                card = {"form": "rect", "at": [0, 0], "width": 240, "height": 340, "radius": 24}
                parts = [{**card, "fill": "white" if is_seen else "back", "outline": {"colour": "faint", "width": 3}}]
                if is_seen:
                    text, fill = (state["cards"][seat], "black") if state["cards"] else (chips.split(": ")[1], name)
                    size = 220 // max(len(text), 2)
                    parts.append({"form": "text", "at": [120, 170], "size": size, "text": text, "fill": fill})
                shapes.append({"id": f"card {seat}", "at": [left, 80], "parts": parts})
        for index, move in enumerate(state["moves"]):
            seat = (first(state) + index) % 2
            shapes.append(label(f"move {index}", [180 + 340 * seat, 460 + 50 * (index // 2)], move, "ink"))
        return {"width": 700, "height": 560, "seats": NAMES, "shapes": shapes, "words": self.words(state)}

    def words(self, state: Json) -> list[str]:
        turn = self.turn(state)
        chips = ", ".join(f"{name} {chips:+d}" for name, chips in zip(NAMES, state["chips"]))
        if isinstance(turn, Decide):
            moves = ", ".join(state["moves"]) or "no move yet"
            return [f"{NAMES[turn.seat]} to move", f"hand {state['hand']} of {state['hands']}: {moves}", chips]
        if isinstance(turn, Over):
            winners = [name for name, rank in zip(NAMES, turn.ranks) if rank == 1]
            return ["a draw" if len(winners) == 2 else f"{winners[0]} wins", chips]
        return ["the cards are dealt", chips]

    def text(self, state: Json, viewer: Viewer) -> str:
        words = self.words(state)
        if state["cards"]:
            cards = [card if viewer in ("all", seat) else "?" for seat, card in enumerate(state["cards"])]
            words.append(f"cards: {' '.join(cards)}")
        return "\n".join(words) + "\n"


def first(state: Json) -> int:
    """Returns the seat that begins the hand."""
    return int(state["hand"] - 1) % 2


def label(name: str, at: list[int], text: str, colour: str) -> Json:
    part = {"form": "text", "at": [0, 0], "size": 40, "text": text, "fill": colour}
    return {"id": name, "layer": "label", "at": at, "parts": [part]}


if __name__ == "__main__":
    run(KuhnPoker())
