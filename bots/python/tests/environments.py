"""What the tests of the environments share. They need the packages of the extra `env` and the built referee."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import pettingzoo  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest("the packages of the extra `env` are not installed") from error

from referee_bot.env import Batch, Referee

ROOT = Path(__file__).parents[3]
PROGRAM = os.environ.get("REFEREE", str(ROOT / "target/debug/referee"))
LONG = bool(os.environ.get("LONG_TESTS"))
STDIO = [PROGRAM, "stdio", "--clock", "none"]


def tables() -> list[tuple[str, int]]:
    """Returns all games that the referee knows, with every number of seats."""
    listed = subprocess.run([PROGRAM, "games", "--json"], stdout=subprocess.PIPE, check=True).stdout
    games = [json.loads(line) for line in listed.splitlines()]
    return [(game["id"], seats) for game in games for seats in game["seats"]]


def pick(rng: np.random.Generator, mask: np.ndarray[Any, Any]) -> int:
    """Returns a possible action."""
    return int(rng.choice(np.flatnonzero(mask)))


class WithReferee(unittest.TestCase):
    """One referee serves all environments of a test."""

    def setUp(self) -> None:
        self.referee = self.new_referee()

    def new_referee(self, *, events: bool = False) -> Referee:
        referee = Referee(STDIO, events=events)
        self.addCleanup(referee.close)
        return referee

    def batch(self, game: str, size: int, **more: Any) -> Batch:
        batch = Batch(game, size, referee=self.referee, **more)
        self.addCleanup(batch.close)
        return batch
