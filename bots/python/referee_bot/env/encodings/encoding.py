"""What every game's encoding has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...messages import Json

Observation = NDArray[np.float32]

Word = tuple[int, ...]
"""The actions that spell a move. No legal move's word begins another's."""


class Words(dict[str, Word]):
    """The words of moves, by their texts. What is not there yet is spelt once."""

    def __init__(self, spell: Callable[[str], Word]) -> None:
        super().__init__()
        self._spell = spell

    def __missing__(self, move: str) -> Word:
        word = self[move] = self._spell(move)
        return word


class Encoding(ABC):
    """How the positions and moves of one game look to a network."""

    game: str
    seats: int
    shape: tuple[int, ...]
    """Of an observation: numbers from 0 to 1, float32."""
    actions: int
    """How many there are."""
    words: Sequence[Mapping[str, Word]]
    """By seat, the actions that spell each move."""
    command: Sequence[str] | None = None
    """What starts the referee, if the game needs another command than usual."""

    def spell(self, legal: Sequence[str], seat: int) -> dict[Word, str]:
        """Returns the legal moves of a seat by the actions that spell them."""
        words = self.words[seat]
        return {words[move]: move for move in legal}

    def deciders(self, view: Json) -> int:
        """Returns how many seats decide, by the view of one of them."""
        return len(view["to_move"])

    @abstractmethod
    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        """Writes what `seat` sees into `out`, which is all zeros.

        `chosen` are the actions of its decision so far, where a move takes several.
        """


def numbered(moves: Iterable[str], first: int = 0) -> dict[str, Word]:
    """Makes each move one action, in their order."""
    return {move: (action,) for action, move in enumerate(moves, first)}


def share(number: int, of: int) -> float:
    """Returns a number divided by its usual maximum, capped at 1."""
    return min(number / of, 1.0)
