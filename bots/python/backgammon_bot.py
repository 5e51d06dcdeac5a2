#!/usr/bin/env python3
"""Plays OpenSpiel's backgammon by the pip count: the move that leaves the longest lead, less something for each blot.
It says what that is worth; `referee luck --value-bot` takes its values.
"""

from __future__ import annotations

import argparse
import re

import pyspiel

from referee_bot import Move, Turn, options, run

SCALE = 80  # a lead of this number of pips is worth ten wins to one
BLOT = 8  # a lone checker, in pips


def lead(state: pyspiel.State, player: int) -> int:
    """Returns by how many pips a player who has moved is ahead."""
    pips = [0, 0]
    for point in range(24):
        pips[0] += state.board(0, point) * (24 - point)
        pips[1] += state.board(1, point) * (point + 1)
        pips[player] += BLOT * (state.board(player, point) == 1)
    bar = re.search("Bar:(.*)", str(state))
    for owner, checker in enumerate("xo"):
        pips[owner] += 25 * (bar[1].count(checker) if bar else 0)
    return pips[1 - player] - pips[player]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, parents=[options()]).parse_args()
    game = pyspiel.load_game("backgammon")

    def choose(turn: Turn) -> Move:
        state = game.deserialize_state(turn.view["serialized"])
        actions = {state.action_to_string(action): action for action in state.legal_actions()}
        leads = {move: lead(state.child(actions[move]), turn.seat) for move in turn.legal}
        best = max(turn.legal, key=leads.__getitem__)
        return Move(best, info={"score": leads[best], "score_scale": SCALE})

    run(choose, name="pips", version="0.1.0", wants=["view", "legal"])


if __name__ == "__main__":
    main()
