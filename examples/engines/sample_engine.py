#!/usr/bin/env python3
"""An engine for checkers that speaks UCI-like, GTP-like and Hub lines, to try engine_bot.py with: captures if it can.

It stands for engines that know nothing of the referee. pip install pydraughts
"""

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


def best(fen: str, hub: bool) -> str:
    """Returns the first of the moves that capture the most, as PDN writes it, or with the captured squares."""
    move = max(Board(variant="english", fen=fen).legal_moves(), key=lambda move: len(move.steps_move))
    return move.hub_move if hub else move.pdn_move


fen = ""
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "uci":
        print("id name sample\nuciok")
    elif word == "isready":
        print("readyok")
    elif word == "position":
        fen = rest.removeprefix("fen ")
    elif line.startswith("go movetime"):
        print(f"info depth 1\nbestmove {best(fen, False)}")
    elif word == "name":
        print("= sample\n")
    elif word == "fen":
        fen = rest
        print("=\n")
    elif word == "genmove":
        print(f"= {best(fen, False)}\n")
    elif word == "hub":
        print("id name=sample version=1\nwait")
    elif word == "init":
        print("ready")
    elif word == "pos":
        fen = fen_of(rest.removeprefix("pos="))
    elif line.startswith("go think"):
        print(f"info depth=1\ndone move={best(fen, True)}")
    elif word == "level":
        pass
    else:
        print(f"? unknown command {word}\n")
    sys.stdout.flush()
