#!/usr/bin/env python3
"""Plays a small game of OpenSpiel for two, such as leduc_poker: the move that is best if everyone moves at random from
then on. It says what its position is worth if it moves at random, too: the exact mean of the points over all that
agrees with what it knows. `referee luck --value-bot` takes its values.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, field

import pyspiel

from referee_bot import Move, Turn, options, run


@dataclass
class Known:
    """What a player knows: how probable it is, and that times the points of the first player after each move."""

    probability: float = 0.0
    points: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def value(self) -> float:
        """The mean points of the first player."""
        return sum(self.points.values()) / len(self.points) / self.probability


def solved(name: str) -> dict[str, Known]:
    """Returns what can be known in a game, if all moves are drawn uniformly, by information state."""
    states: defaultdict[str, Known] = defaultdict(Known)

    def walk(state: pyspiel.State, probability: float) -> float:
        """Returns the mean points of the first player."""
        if state.is_terminal():
            first, second = state.returns()
            return 0.5 if first == second else float(first > second)
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            return sum((part * walk(state.child(drawn), probability * part) for drawn, part in outcomes), 0.0)
        legal = state.legal_actions()
        known, part = states[state.information_state_string()], probability / len(legal)
        known.probability += probability
        points = {state.action_to_string(action): walk(state.child(action), part) for action in legal}
        for move, value in points.items():
            known.points[move] += probability * value
        return sum(points.values()) / len(legal)

    walk(pyspiel.load_game(name).new_initial_state(), 1.0)
    return states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("game", help="the name of a game in which players decide in turn")
    states = solved(parser.parse_args().game)

    def choose(turn: Turn) -> Move:
        known = states[turn.view["state"]]
        sign = 1 if turn.seat == 0 else -1
        best = max(turn.legal, key=lambda move: sign * known.points[move])
        return Move(best, info={"score": known.value, "score_scale": "points", "score_side": 0})

    run(choose, name="exact", version="0.1.0", wants=["view", "legal"])


if __name__ == "__main__":
    main()
