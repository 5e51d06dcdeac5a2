#!/usr/bin/env python3
"""The bot `direct.py MODEL`: a player of server.py without a server in between, which plays the same moves."""

from __future__ import annotations

import argparse

from players import MODELS, choose

from referee_bot import Turn, options, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, parents=[options()])
    parser.add_argument("model", choices=MODELS)
    args = parser.parse_args()

    def move(turn: Turn) -> str:
        return choose(args.model, turn.view["board"], "bw"[turn.seat], turn.legal)

    run(move, name=args.model, games=["checkers"], wants=["view", "legal"], slots=64)


if __name__ == "__main__":
    main()
