"""The bot, as its author writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable

from .messages import End, Json, Start, Turn
from .reply import Reply

Choose = Callable[[Turn], Reply]
"""The whole of a simple bot."""

ChooseAll = Callable[[list[Turn]], Sequence[Reply]]
"""The whole of a simple bot that plays many matches at once."""


class Bot:
    """A bot that sees more than its turns. Only `choose` must be written.

    With `slots` above 1 one bot plays several matches at once: `match` tells them apart.
    """

    def start(self, start: Start) -> str | None:
        """Prepares for a match; the referee waits for the return.

        What it returns is sent as the nonce (lower-case hex of at most 64 bytes). It counts only where `start.nonce`
        is true: dice that depend on it were not chosen by the referee alone.
        """
        return None

    def event(self, match: str, seat: int, event: Json) -> None:
        """Something happened in `match`, where this bot has `seat`."""

    def choose(self, turn: Turn) -> Reply:
        """Decides on a turn."""
        raise NotImplementedError(f"{type(self).__name__} has no choose")

    def end(self, end: End) -> None:
        """A match is over."""


class BatchBot(Bot):
    """A bot that decides on all turns that wait together, as a neural network does best: write `choose_all`."""

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
