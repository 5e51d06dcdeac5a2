"""A batch whose matches are played by the extension module."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..messages import Json
from .encodings import Encoding
from .native import module
from .step import Step
from .table import match_seed


class NativeMatches:
    """The matches of a batch, played by the extension module."""

    def __init__(self, encoding: Encoding, size: int, options: Json | None) -> None:
        self._size = size
        self._has_begun = False
        self._batch = module().Batch(encoding.game, encoding.seats, json.dumps(options or {}), size)

    def reset(self, seed: int | None) -> Step:
        seeds: list[str] | None = None  # the next deals of the same seeds
        if seed is not None:
            seeds = [match_seed(seed + i) for i in range(self._size)]
        elif not self._has_begun:
            seeds = [secrets.token_hex(32) for _ in range(self._size)]
        shown = self._batch.reset(seeds)
        self._has_begun = True
        return _step(shown)

    def step(self, actions: Sequence[int] | NDArray[np.integer[Any]]) -> Step:
        return _step(self._batch.step(np.ascontiguousarray(actions, np.int64)))

    def close(self) -> None:
        pass


def _step(shown: tuple[Any, ...]) -> Step:
    observation, action_mask, seat, reward, terminated, truncated, infos = shown
    return Step(observation, action_mask, seat, reward, terminated, truncated, _Infos(infos, len(seat)))


class _Infos(Sequence[dict[str, Any]]):
    """The infos of a step, each made when it is asked for."""

    def __init__(self, infos: Any, size: int) -> None:
        self._infos = infos
        self._made: list[dict[str, Any] | None] = [None] * size
        self._ends: dict[int, Json] | None = None

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        info = self._made[index]
        if info is None:
            info = self._made[index] = self._make(range(len(self))[index])
        return info

    def _make(self, i: int) -> dict[str, Any]:
        if self._ends is None:
            self._ends = {at: _ending(*end) for at, *end in self._infos.ends()}
        view, legal, turns_left = self._infos.request(i)
        info = {"view": json.loads(view), "legal": legal, "turns_left": turns_left, "events": []}
        if i in self._ends:
            info["end"] = self._ends[i]
        return info

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))


def _ending(ranks: list[int], scores: list[float], is_truncated: bool, reason: str) -> Json:
    ended_by = "turn_limit" if is_truncated else "rules"
    return {"ranks": ranks, "scores": scores, "ended_by": ended_by, "reason": reason, "fault": None}
