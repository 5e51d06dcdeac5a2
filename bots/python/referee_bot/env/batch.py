"""Many matches of one game that step together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..messages import Json
from .encodings import encoding
from .referee import Referee
from .table import Table, observation_space


class Step(NamedTuple):
    """What all matches show, n of them. A match that ended in this step shows the beginning of the next one."""

    observation: NDArray[np.float32]
    """n observations of the seats that are asked."""
    action_mask: NDArray[np.int8]
    """n masks."""
    seat: NDArray[np.int64]
    """n numbers: the seats with an open request."""
    reward: NDArray[np.float32]
    """n rows, in each what the step brought to every seat: zeros unless the match ended."""
    terminated: NDArray[np.bool_]
    """n: whether the match ended by its rules."""
    truncated: NDArray[np.bool_]
    """n: whether it ended by the turn limit."""
    infos: list[dict[str, Any]]
    """n: what the asked seats were told, and `end` where a match ended."""


class Batch:
    """`size` matches over one referee: one write and one read for a step of all, two where matches end."""

    def __init__(
        self,
        game: str,
        size: int,
        *,
        seats: int | None = None,
        options: Json | None = None,
        referee: Referee | None = None,
    ) -> None:
        self._encoding = encoding(game, seats)
        self.seats = self._encoding.seats
        self.observation_space = observation_space(self._encoding)["observation"]
        self.action_space = spaces.Discrete(self._encoding.actions)
        self._referee = referee or Referee()
        self._owns_referee = referee is None
        self._tables = [Table(self._referee, self._encoding, options) for _ in range(size)]

    def reset(self, seed: int | None = None) -> Step:
        """Begins all matches; match i has the seed `seed` + i."""
        for table in self._tables:
            table.abort()
        self._referee.settle()
        for i, table in enumerate(self._tables):
            table.open(None if seed is None else seed + i)
        self._referee.settle()
        return self._look({})

    def step(self, actions: Sequence[int] | NDArray[np.integer[Any]]) -> Step:
        """Takes an action in every match. Raises ValueError, with nothing done, if one of them is not possible."""
        if len(actions) != len(self._tables):
            raise ValueError(f"{len(actions)} actions for {len(self._tables)} matches")
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
            np.zeros((size, self.seats), np.float32),
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
        """Breaks off the matches, and ends the referee if it is the batch's own."""
        if self._owns_referee:
            self._referee.close()
            return
        for table in self._tables:
            table.abort()
        self._referee.settle()
