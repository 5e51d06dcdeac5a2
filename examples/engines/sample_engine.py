#!/usr/bin/env python3
"""An engine for checkers that speaks Hub: it captures as much as it can.

It stands for engines that know nothing of the referee. pip install pydraughts
referee play checkers 'hub:python3 examples/engines/sample_engine.py' 'python3 bots/python/random_bot.py' -n 20
"""

import re
import sys

from draughts import Board


def fen_of(squares: str) -> str:
    """Returns the FEN of a position in the manner of Hub: the side to move, then a character a square."""
    sides = {
        color: ",".join(
            ("K" if piece.isupper() else "") + str(square)
            for square, piece in enumerate(squares[1:], 1)
            if piece.upper() == color
        )
        for color in "WB"
    }
    return f"{squares[0]}:W{sides['W']}:B{sides['B']}"


board = Board(variant="english")
greed = True
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    arguments = {name: text or quoted for name, quoted, text in re.findall(r'([\w-]+)=(?:"([^"]*)"|(\S+))', rest)}
    if word == "hub":
        print('id name="sample engine" version=1 author="the referee"')
        print("param name=greed value=true type=bool")
        print("wait")
    elif word == "set-param":
        greed = arguments["value"] == "true"
    elif word == "init":
        print("ready")
    elif word == "ping":
        print("pong")
    elif word == "pos":
        board = Board(variant="english", fen=fen_of(arguments["pos"]))
        for move in arguments.get("moves", "").split():
            board.push(next(legal for legal in board.legal_moves() if legal.hub_move == move))
    elif line.startswith("go think"):
        moves = board.legal_moves()
        move = max(moves, key=lambda move: len(move.steps_move)) if greed else moves[0]
        print(f"info depth=1 score={len(move.steps_move) - 2:.2f} nodes={len(moves)} time=0.001 pv={move.hub_move}")
        print(f"done move={move.hub_move}")
    elif word not in ("level", "new-game", "stop", "quit"):
        print(f'error message="unknown command {word}"')
    sys.stdout.flush()
