#!/usr/bin/env python3
"""Reads 1,000 replies that name a legal move of checkers, in 30 styles, as `referee_bot.llm` reads them; with --kaggle DIR also as
the harness of checkers of kaggle-environments does (`pip install --no-deps --target DIR kaggle-environments`)."""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock

from styles import STYLES

sys.path.append(str(Path(__file__).parents[2] / "bots/python"))

from referee_bot.llm.prompt import resolve  # noqa: E402
from tests import checkers  # noqa: E402

Reader = Callable[[str, list[str]], "str | None"]


def replies(count: int = 1000) -> list[tuple[str, str, str, list[str]]]:
    """Returns so many replies: the style, the text, the move that it names, and the legal moves, of random play."""
    rng, found, board, side = random.Random(1), [], checkers.START, "b"
    while len(found) < count:
        legal = checkers.legal(board, side)
        if not legal or len(found) % 80 == 79:
            board, side = checkers.START, "b"
            legal = checkers.legal(board, side)
        style, move = list(STYLES)[len(found) % len(STYLES)], rng.choice(legal)
        found.append((style, STYLES[style](move), move, legal))
        board, side = checkers.play(board, move), "w" if side == "b" else "b"
    return found


def own(text: str, legal: list[str]) -> str | None:
    resolved = resolve(text, legal, {})
    return resolved[0] if resolved else None


def of_kaggle(folder: Path) -> Reader:
    """Returns the reader of kaggle-environments, without the clients of models that its module imports."""
    path = next(folder.glob("**/kaggle_environments/core_harness.py"))
    for name in ("httpx", "litellm", "litellm.exceptions"):
        sys.modules.setdefault(name, MagicMock())
    spec = importlib.util.spec_from_file_location("core_harness", path)
    assert spec is not None and spec.loader is not None
    harness = importlib.util.module_from_spec(spec)
    sys.modules["core_harness"] = harness
    spec.loader.exec_module(harness)
    return lambda text, legal: harness.parse_json_action(text, legal).legal_action


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kaggle", type=Path, metavar="DIR", help="where kaggle-environments is installed")
    args = parser.parse_args()
    readers: dict[str, Reader] = {"referee_bot.llm": own}
    if args.kaggle:
        readers["kaggle-environments"] = of_kaggle(args.kaggle)
    right: Counter[tuple[str, str]] = Counter()
    totals: Counter[tuple[str, str]] = Counter()
    read = replies()
    for style, text, move, legal in read:
        for name, reader in readers.items():
            found = reader(text, legal)
            right[name, style] += found == move
            totals[name, "read" if found == move else "not read" if found is None else "misread"] += 1
    print(f"{'style':<28}" + "".join(f"{name:>22}" for name in readers))
    for style in STYLES:
        count = sum(of == style for of, *_ in read)
        print(f"{style:<28}" + "".join(f"{right[name, style]:>18} /{count}" for name in readers))
    for what in ("read", "not read", "misread"):
        print(f"{what:<28}" + "".join(f"{totals[name, what]:>22}" for name in readers))


if __name__ == "__main__":
    main()
