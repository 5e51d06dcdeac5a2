#!/usr/bin/env python3
"""Plays a random legal move, in any game. Where there is no list of legal moves, it says so and resigns."""

import argparse
import random
import sys

from referee_bot import Reply, Resign, Turn, options, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    parser.add_argument("--slots", type=int, default=1, metavar="N", help="the matches that are played at once [1]")
    args = parser.parse_args()
    rng = random.Random(args.seed)

    def choose(turn: Turn) -> Reply:
        if not turn.legal:
            print("random: it needs the list of legal moves, which this match does not have; it resigns", file=sys.stderr)
            return Resign()
        return rng.choice(turn.legal)

    # It looks at nothing but the legal moves, so it asks for nothing else.
    try:
        run(choose, name="random", version="0.1.0", wants=["legal"], slots=args.slots)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
