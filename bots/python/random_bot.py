#!/usr/bin/env python3
"""Plays a random legal move, in any game. Where the game does not list its moves, it resigns."""

import argparse
import random

from referee_bot import Reply, Resign, Turn, options, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    parser.add_argument("--slots", type=int, default=1, metavar="N", help="the matches that are played at once [1]")
    args = parser.parse_args()
    rng = random.Random(args.seed)

    def choose(turn: Turn) -> Reply:
        return rng.choice(turn.legal) if turn.legal else Resign()

    # It looks at nothing but the legal moves, so it asks for nothing else.
    try:
        run(choose, name="random", version="0.1.0", wants=["legal"], slots=args.slots)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
