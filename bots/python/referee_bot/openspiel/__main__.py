"""Plays checkers with a bot of OpenSpiel."""

from __future__ import annotations

import argparse
import random

import pyspiel
from open_spiel.python.algorithms import minimax

from ..connection import options
from ..process import run
from . import Seated

EXAMPLES = """examples:
  python -m referee_bot.openspiel mcts --simulations 500
  python -m referee_bot.openspiel minimax --depth 4

with the referee:
  referee play checkers 'python -m referee_bot.openspiel mcts' ./mybot -n 20
"""


class Minimax(pyspiel.Bot):  # type: ignore[misc]
    """Searches to a fixed depth, and counts men as 1 and kings as 1.5; equal moves are chosen at random."""

    def __init__(self, player: int, depth: int, rng: random.Random) -> None:
        pyspiel.Bot.__init__(self)
        self._player = player
        self._depth = depth
        self._rng = rng

    def step(self, state: pyspiel.State) -> int:
        values: dict[int, float] = {action: self._value(state.child(action)) for action in state.legal_actions()}
        best = max(values.values())
        return self._rng.choice([action for action, value in values.items() if value == best])

    def _value(self, state: pyspiel.State) -> float:
        if state.is_terminal() or self._depth == 1:
            return self._material(state)
        value, _ = minimax.alpha_beta_search(
            state.get_game(),
            state=state,
            value_function=self._material,
            maximum_depth=self._depth - 1,
            maximizing_player_id=self._player,
        )
        return float(value)

    def _material(self, state: pyspiel.State) -> float:
        if state.is_terminal():
            return 100.0 * float(state.returns()[self._player])
        # The last line has the names of the columns, and the others begin with the number of a row.
        board = "".join(line[1:] for line in str(state).splitlines()[:8])
        sign = 1 if self._player == 0 else -1
        worth = {"o": 1.0, "8": 1.5, "+": -1.0, "*": -1.5}
        return sum(worth.get(cell, 0.0) for cell in board) * sign


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m referee_bot.openspiel", None, __doc__, EXAMPLES, [options()], form, allow_abbrev=False
    )
    parser.add_argument("bot", choices=["mcts", "minimax", "random"])
    parser.add_argument(
        "--simulations", type=int, default=200, metavar="N", help="simulations of mcts for a move [200]"
    )
    parser.add_argument("--depth", type=int, default=3, metavar="N", help="actions that minimax looks ahead [3]")
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    return parser


def main() -> None:
    args = parser().parse_args()
    rng = random.Random(args.seed)

    def make_bot(game: pyspiel.Game, player: int) -> pyspiel.Bot:
        seed = rng.randrange(1 << 30)
        if args.bot == "mcts":
            evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
            return pyspiel.MCTSBot(game, evaluator, 2.0, args.simulations, 100, True, seed, False)
        if args.bot == "minimax":
            return Minimax(player, args.depth, random.Random(seed))
        return pyspiel.make_uniform_random_bot(player, seed)

    run(Seated(make_bot, rng), name=f"openspiel {args.bot}", games=["checkers"])


if __name__ == "__main__":
    main()
