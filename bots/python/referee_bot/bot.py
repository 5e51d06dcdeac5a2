"""The interface that a bot implements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

from .messages import End, Json, Start, Turn
from .reply import Reply

Choose = Callable[[Turn], Reply]
"""A simple bot."""

ChooseAll = Callable[[list[Turn]], Sequence[Reply]]
"""A simple bot that plays concurrent matches."""


class Bot:
    """A bot that handles other messages too. Only `choose` is required.

    With `slots` above 1 one bot plays concurrent matches, identified by `match`.
    """

    def start(self, start: Start) -> str | None:
        """Prepares for a match. The referee waits until it returns.

        The return value is sent as the nonce (lower-case hex of at most 64 bytes). It is used only if `start.nonce`
        is true. It prevents the referee alone from choosing the dice.
        """
        return None

    def event(self, match: str, seat: int, event: Json) -> None:
        """Handles an event in `match`, in which this bot has `seat`."""

    def choose(self, turn: Turn) -> Reply:
        """Decides on a turn."""
        raise NotImplementedError(f"{type(self).__name__} has no choose")

    def end(self, end: End) -> None:
        """Handles the end of a match."""


class BatchBot(Bot):
    """A bot that decides on all open requests in one batch, as a neural network does. Implement `choose_all`."""

    def choose(self, turn: Turn) -> Reply:
        return self.choose_all([turn])[0]

    def choose_all(self, turns: list[Turn]) -> Sequence[Reply]:
        """Decides on turns of different matches and seats, at least one. Returns a reply to each, in their order."""
        raise NotImplementedError(f"{type(self).__name__} has no choose_all")


def batched(choose_all: ChooseAll) -> BatchBot:
    """Makes a bot of a function from a list of turns to the list of their moves; give `run` some `slots` with it."""
    return _FunctionBatchBot(choose_all)


class FunctionBot(Bot):
    """A bot that is nothing but its `choose`."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def choose(self, turn: Turn) -> Reply:
        return self._choose(turn)


class _FunctionBatchBot(BatchBot):
    def __init__(self, choose_all: ChooseAll) -> None:
        self._choose_all = choose_all

    def choose_all(self, turns: list[Turn]) -> Sequence[Reply]:
        return self._choose_all(turns)
