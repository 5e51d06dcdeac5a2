"""How the texts of moves are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Callable, TypeVar

T = TypeVar("T")
Forms = Sequence[tuple[str, Callable[..., T]]]
"""Patterns, and what takes their groups."""


def read(text: str, game: str, forms: Forms[T]) -> T:
    """Returns what the first form that fits makes of `text`.

    Raises ValueError if there is none.
    """
    for pattern, make in forms:
        found = re.fullmatch(pattern, text)
        if found:
            return make(*found.groups())
    raise ValueError(f"{text!r} is no move of {game}")
