#!/usr/bin/env python3
"""Plays 64 matches at once against itself, deciding on all that wait together: the skeleton of a training loop."""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence

from referee_bot import Turn, batched, self_play


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--referee", default="referee", metavar="PATH", help="the referee's program")
    parser.add_argument("--game", default="checkers")
    parser.add_argument("--matches", type=int, default=256, metavar="N")
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    sizes: list[int] = []

    def choose_all(turns: Sequence[Turn]) -> list[str]:
        # Here a network would look at `[turn.view for turn in turns]`.
        sizes.append(len(turns))
        return [rng.choice(turn.legal) for turn in turns]

    referee = [options.referee, "stdio", "--clock", "none"]
    setups = [{"game": options.game}] * options.matches
    scores: Counter[float] = Counter()
    for end in self_play(batched(choose_all), setups, slots=64, referee=referee):
        if end.scores:
            scores[end.scores[0]] += 1
    table = ", ".join(f"{score}: {count}" for score, count in sorted(scores.items(), reverse=True))
    print(f"{options.matches} matches of {options.game}; score of seat 0: {{{table}}}")
    print(f"{sum(sizes)} decisions in {len(sizes)} batches, {sum(sizes) / len(sizes):.1f} together")


if __name__ == "__main__":
    main()
