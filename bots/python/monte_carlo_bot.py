#!/usr/bin/env python3
"""Plays any game by Monte-Carlo search, without rules of its own: `referee imagine` plays the random continuations. A game whose
rules are a program is named with `--game DIR`; it needs lists of moves, and `imagine` in its manifest.

Each legal move is an arm of a bandit (UCB1). The score of a move is the mean result of random playouts after it, in worlds
that agree with what the seat knows.
"""

from __future__ import annotations

import argparse
import math
import random
import time

from referee_bot import AcceptDraw, Move, Reply, Turn, options, run
from referee_bot.imagine import Imaginer

WORLDS = 64
BATCH = 8  # playouts in a request
CURIOSITY = 0.5  # the exploration constant of UCB1, for scores between 0 and 1
DECISIONS_TO_COME = 20  # the bank is spent as if so many decisions remained


class Arm:
    """A legal move and what its playouts scored."""

    def __init__(self, move: str) -> None:
        self.move = move
        self.playouts = 0
        self.score = 0.0

    @property
    def mean(self) -> float:
        return self.score / self.playouts

    def bound(self, total: int) -> float:
        """Returns the upper confidence bound."""
        return self.mean + CURIOSITY * math.sqrt(math.log(total) / self.playouts)


class MonteCarlo:
    """A search with a budget per decision."""

    def __init__(self, imaginer: Imaginer, *, playouts: int | None, seconds: float | None, seed: int | None) -> None:
        self._imaginer = imaginer
        self._playouts = playouts
        self._seconds = seconds
        self._rng = random.Random(seed)

    def choose(self, turn: Turn) -> Reply:
        if len(turn.legal) == 1:
            return turn.legal[0]
        arms, total = self._search(turn)
        best = max(arms, key=lambda arm: (arm.playouts, arm.mean))
        if turn.draw_offered and best.mean < 0.5:
            return AcceptDraw()
        return Move(best.move, info={"score": round(best.mean, 3), "score_scale": "points", "nodes": total})

    def _search(self, turn: Turn) -> tuple[list[Arm], int]:
        until = time.monotonic() + self._time(turn)
        position = self._imaginer.imagine(turn, worlds=WORLDS, seed=self._rng.getrandbits(50))
        arms = [Arm(move) for move in turn.legal]
        total = 0

        def play(chosen: list[Arm]) -> None:
            nonlocal total
            lines = [[(turn.seat, arm.move)] for arm in chosen]
            scores = position.playouts(lines, BATCH, seed=self._rng.getrandbits(50))
            for arm, score in zip(chosen, scores):
                arm.playouts += BATCH
                arm.score += BATCH * score[turn.seat]
                total += BATCH

        play(arms)
        while time.monotonic() < until and (self._playouts is None or total < self._playouts):
            play([max(arms, key=lambda arm: arm.bound(total))])
        return arms, total

    def _time(self, turn: Turn) -> float:
        """Returns the time for a decision, in seconds: its own limit, or its share of the clock if that is less."""
        limits = [] if self._seconds is None else [self._seconds]
        if turn.clock:
            delay = turn.clock.limit_ms - turn.clock.bank_ms
            share = max(delay, 0) + min(turn.clock.bank_ms, turn.clock.limit_ms) / DECISIONS_TO_COME
            limits.append(max(0.8 * share - 5, 0) / 1000)
        return min(limits, default=math.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("--playouts", type=int, metavar="N", help="maximum playouts per decision")
    parser.add_argument("--time-ms", type=int, metavar="MS", help="maximum time per decision; 50 without --playouts")
    parser.add_argument("--game", action="append", default=[], metavar="DIR", help="a game whose rules are a program")
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable; needs --playouts")
    args = parser.parse_args()
    if args.time_ms is None and args.playouts is None:
        args.time_ms = 50
    seconds = None if args.time_ms is None else args.time_ms / 1000
    with Imaginer(games=args.game) as imaginer:
        search = MonteCarlo(imaginer, playouts=args.playouts, seconds=seconds, seed=args.seed)
        run(search.choose, name="monte carlo", version="0.1.0", wants=["view", "legal"])


if __name__ == "__main__":
    main()
