#!/usr/bin/env python3
"""Plays checkers with the rules of pydraughts: the move that leaves the best material, men as 2 and kings as 3.

pip install bots/python pydraughts
referee play checkers 'python3 examples/engines/pydraughts_bot.py' 'python3 bots/python/random_bot.py' -n 20
"""

from __future__ import annotations

import argparse
import random

from draughts import Board, Move

from referee_bot import Turn, options, run


def text(move: Move) -> str:
    """Returns a move as the referee writes it: with every square that the piece visits."""
    return ("x" if "x" in move.pdn_move else "-").join(map(str, move.steps_move))


def material(board: Board) -> int:
    """Returns the material of the side to move minus that of the other."""
    to_move, *sides = board.fen.split(":")
    worth = {side[0]: sum(3 if square.startswith("K") else 2 for square in side[1:].split(",")) for side in sides}
    other = "B" if to_move == "W" else "W"
    return worth[to_move] - worth[other]


def main() -> None:
    parser = argparse.ArgumentParser(description="Plays checkers with the rules of pydraughts.", parents=[options()])
    parser.add_argument("--seed", type=int, metavar="N", help="make the choices repeatable")
    rng = random.Random(parser.parse_args().seed)

    def choose(turn: Turn) -> str:
        board = Board(variant="english", fen=turn.view["fen"])
        moves = {text(move): move for move in board.legal_moves()}
        if sorted(moves) != turn.legal:
            raise ValueError(f"the rules differ in {turn.view['fen']}: {sorted(moves)}, not {turn.legal}")
        values = {}
        for name, move in moves.items():
            board.push(move)
            values[name] = -material(board)
            board.pop()
        best = max(values.values())
        return rng.choice([name for name in turn.legal if values[name] == best])

    run(choose, name="pydraughts", games=["checkers"], wants=["view", "legal"])


if __name__ == "__main__":
    main()
