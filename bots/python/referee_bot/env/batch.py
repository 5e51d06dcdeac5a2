"""Many matches of one game that step together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..messages import Json
from .encodings import Encoding, Game, encoding
from .native_batch import NativeMatches
from .referee import Backend, Referee
from .step import Step
from .table import Table, observation_space


class Batch:
    """`size` matches of one game that step together.

    With the backend `process` they are matches of `referee`: one write and one read for a step of all, two where
    matches end. With `native` they are played in this process, by the package referee-bot-native.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        *,
        seats: int | None = None,
        options: Json | None = None,
        referee: Referee | None = None,
        backend: Backend = "process",
    ) -> None:
        spelt = encoding(game, seats)
        self.seats = spelt.seats
        self.observation_space = observation_space(spelt)["observation"]
        self.action_space = spaces.Discrete(spelt.actions)
        self._size = size
        self._matches: _Matches
        if backend == "native" and referee is None and spelt.command is None:
            self._matches = NativeMatches(spelt, size, options)
        else:
            self._matches = _ProcessMatches(spelt, size, options, Referee.of(referee, backend, spelt), referee is None)

    def reset(self, seed: int | None = None) -> Step:
        """Begins all matches; match i has the seed `seed` + i."""
        return self._matches.reset(seed)

    def step(self, actions: Sequence[int] | NDArray[np.integer[Any]]) -> Step:
        """Takes an action in every match. Raises ValueError, with nothing done, if one of them is not possible."""
        if len(actions) != self._size:
            raise ValueError(f"{len(actions)} actions for {self._size} matches")
        return self._matches.step(actions)

    def close(self) -> None:
        """Aborts the matches, and ends the referee if it is the batch's own."""
        self._matches.close()


class _Matches(Protocol):
    """The matches of a batch."""

    def reset(self, seed: int | None) -> Step: ...

    def step(self, actions: Sequence[int] | NDArray[np.integer[Any]]) -> Step: ...

    def close(self) -> None: ...


class _ProcessMatches:
    """The matches of a batch, over a referee."""

    def __init__(
        self, encoding: Encoding, size: int, options: Json | None, referee: Referee, owns_referee: bool
    ) -> None:
        self._encoding = encoding
        self._referee = referee
        self._owns_referee = owns_referee
        self._tables = [Table(referee, encoding, options) for _ in range(size)]

    def reset(self, seed: int | None) -> Step:
        for table in self._tables:
            table.abort()
        self._referee.settle()
        for i, table in enumerate(self._tables):
            table.open(None if seed is None else seed + i)
        self._referee.settle()
        if any(table.is_over for table in self._tables):
            raise ValueError("the match is over before its first decision")
        return self._look({})

    def step(self, actions: Sequence[int] | NDArray[np.integer[Any]]) -> Step:
        for i, (table, action) in enumerate(zip(self._tables, actions)):
            if not table.decisions[0].allows(int(action)):
                raise ValueError(f"action {action} is not possible in match {i}: the action mask shows those that are")
        for table, action in zip(self._tables, actions):
            table.act(int(action))
        self._referee.settle()
        ended = {}
        for i, table in enumerate(self._tables):
            if table.is_over:
                ended[i] = (table.rewards(), table.is_truncated(), table.ending())
                table.open(None)
        self._referee.settle()
        return self._look(ended)

    def _look(self, ended: dict[int, tuple[list[float], bool, Json]]) -> Step:
        size = len(self._tables)
        step = Step(
            np.zeros((size, *self._encoding.shape), np.float32),
            np.zeros((size, self._encoding.actions), np.int8),
            np.array([table.decisions[0].seat for table in self._tables]),
            np.zeros((size, self._encoding.seats), np.float32),
            np.zeros(size, np.bool_),
            np.zeros(size, np.bool_),
            [table.decisions[0].info() for table in self._tables],
        )
        for i, table in enumerate(self._tables):
            table.decisions[0].write(step.observation[i], step.action_mask[i])
        for i, (rewards, is_truncated, ending) in ended.items():
            step.reward[i] = rewards
            (step.truncated if is_truncated else step.terminated)[i] = True
            step.infos[i]["end"] = ending
        return step

    def close(self) -> None:
        if self._owns_referee:
            self._referee.close()
            return
        for table in self._tables:
            table.abort()
        self._referee.settle()
