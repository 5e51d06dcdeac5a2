#!/usr/bin/env python3
"""Plays a random legal move, in any game."""

import argparse
import random

from referee_bot import Turn, options, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    rng = random.Random(parser.parse_args().seed)

    def choose(turn: Turn) -> str:
        return rng.choice(turn.legal)

    # It looks at nothing but the legal moves, so it asks for nothing else.
    run(choose, name="random", version="0.1.0", wants=["legal"])


if __name__ == "__main__":
    main()
