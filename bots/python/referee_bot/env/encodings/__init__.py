"""How positions become arrays and moves become actions, for each game."""

from __future__ import annotations

from typing import Callable, Union

from .checkers import Checkers
from .chess import Chess
from .directory import GameDirectory
from .encoding import Encoding, Observation
from .jeex import Jeex
from .keezen import Keezen
from .saxum import Saxum
from .xe_queo import XeQueo

_MAKE: dict[str, Callable[[int], Encoding]] = {
    "checkers": lambda seats: Checkers(),
    "chess": lambda seats: Chess(),
    "jeex": lambda seats: Jeex(),
    "keezen": Keezen,
    "saxum": lambda seats: Saxum(),
    "xe_queo": lambda seats: XeQueo(),
}

_SEATS = {"keezen": (2, 4, 6)}

GAMES = tuple(_MAKE)
"""The games that there are environments for."""

Game = Union[str, Encoding]
"""A game: its id, or an encoding, such as a subclass of GameDirectory for a game whose rules are a program."""

__all__ = ["GAMES", "Encoding", "Game", "GameDirectory", "Observation", "encoding"]


def encoding(game: Game, seats: int | None = None) -> Encoding:
    """Returns the encoding of a game with so many seats, by default its smallest number.

    Raises ValueError if there is no such game, or it is not for so many.
    """
    if isinstance(game, Encoding):
        if seats not in (None, game.seats):
            raise ValueError(f"the encoding of {game.game} is for {game.seats} seats, not {seats}")
        return game
    if "/" in game:
        raise ValueError(
            f"{game} does not say what a network sees: make a subclass of GameDirectory with a `shape` and a `write`, "
            "and pass an object of it"
        )
    if game not in _MAKE:
        known = ", ".join(GAMES)
        raise ValueError(f"{game!r} is no game here: there are {known}, and subclasses of GameDirectory for games in directories")
    possible = _SEATS.get(game, (2,))
    if seats is None:
        seats = possible[0]
    if seats not in possible:
        raise ValueError(f"{game} has {' or '.join(map(str, possible))} seats, not {seats}")
    return _MAKE[game](seats)
