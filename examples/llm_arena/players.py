"""Players of checkers whose strength is known: of their moves, a share is that of a search one move deep, the rest are random."""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "bots/python"))

import greedy_bot  # noqa: E402

MODELS = {f"search-{share:02}": share / 100 for share in range(0, 100, 11)}
"""The share by the name of the model: `search-00`, which plays at random, to `search-99`."""


def choose(model: str, board: str, side: str, legal: list[str]) -> str:
    """Returns the move of a model for the side "b" or "w": the same one whenever the position is the same."""
    rng = random.Random(hashlib.sha256(f"{model} {board} {side}".encode()).digest())
    if rng.random() >= MODELS[model]:
        return rng.choice(legal)
    values = {move: greedy_bot.value(greedy_bot.after(board, move), side) for move in legal}
    best = max(values.values())
    return rng.choice([move for move in legal if values[move] == best])
