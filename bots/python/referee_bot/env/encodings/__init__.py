"""How positions become arrays and moves become actions, for each game."""

from __future__ import annotations

from typing import Callable

from .checkers import Checkers
from .encoding import Encoding, Observation
from .jeex import Jeex
from .keezen import Keezen
from .saxum import Saxum
from .xe_queo import XeQueo

_MAKE: dict[str, Callable[[int], Encoding]] = {
    "checkers": lambda seats: Checkers(),
    "jeex": lambda seats: Jeex(),
    "keezen": Keezen,
    "saxum": lambda seats: Saxum(),
    "xe_queo": lambda seats: XeQueo(),
}

_SEATS = {"keezen": (2, 4, 6)}

GAMES = tuple(_MAKE)
"""The games that there are environments for."""

__all__ = ["GAMES", "Encoding", "Observation", "encoding"]


def encoding(game: str, seats: int | None = None) -> Encoding:
    """Returns the encoding of a game with so many seats, by default its smallest number.

    Raises ValueError if there is no such game, or it is not for so many.
    """
    if game not in _MAKE:
        raise ValueError(f"{game!r} is no game here: there are {', '.join(GAMES)}")
    possible = _SEATS.get(game, (2,))
    if seats is None:
        seats = possible[0]
    if seats not in possible:
        raise ValueError(f"{game} has {' or '.join(map(str, possible))} seats, not {seats}")
    return _MAKE[game](seats)
