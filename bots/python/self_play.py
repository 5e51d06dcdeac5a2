#!/usr/bin/env python3
"""Plays 64 concurrent matches against itself and decides in batches: the skeleton of a training loop.

It starts its own referee. With --connect it is a bot with 64 slots that connects over TCP, and another one of it is
its opponent.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence

from referee_bot import Turn, batched, options, run, self_play

SLOTS = 64


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, parents=[options()]
    )
    parser.add_argument("--referee", default="referee", metavar="PATH", help="the referee's program")
    parser.add_argument("--game", default="checkers")
    parser.add_argument("--matches", type=int, default=256, metavar="N")
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    sizes: list[int] = []

    def choose_all(turns: Sequence[Turn]) -> list[str]:
        # Here a network would look at `[turn.view for turn in turns]`.
        sizes.append(len(turns))
        return [rng.choice(turn.legal) for turn in turns]

    bot = batched(choose_all)
    if args.connect:
        run(bot, name="self play", slots=SLOTS)
    else:
        scores: Counter[float] = Counter()
        setups = [{"game": args.game}] * args.matches
        for end in self_play(bot, setups, slots=SLOTS, referee=[args.referee, "stdio", "--clock", "none"]):
            if end.scores:
                scores[end.scores[0]] += 1
        table = ", ".join(f"{score}: {count}" for score, count in sorted(scores.items(), reverse=True))
        print(f"{args.matches} matches of {args.game}; score of seat 0: {{{table}}}")
    if sizes:
        print(f"{sum(sizes)} decisions in {len(sizes)} batches, {sum(sizes) / len(sizes):.1f} together")


if __name__ == "__main__":
    main()
