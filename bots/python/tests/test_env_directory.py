"""Environments of games whose rules are programs, over the real referee."""

from __future__ import annotations

import json
import os
import unittest
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from .environments import PROGRAM, pick  # skips the tests where packages are missing

# isort: split
import numpy as np
from pettingzoo.test import api_test

from referee_bot.env import Batch, GameDirectory, Referee, RefereeEnv, SeatEnv, env, parallel_env

EXAMPLES = Path(__file__).parents[3] / "examples/games"


class Length(GameDirectory):
    """Any game, by the length of its views and the seat."""

    shape = (2,)

    def write(self, out: Any, view: dict[str, Any], seat: int, chosen: tuple[int, ...]) -> None:
        out[:] = min(len(json.dumps(view)) / 10_000, 1), seat / 10


def game(name: str, **sizes: int) -> GameDirectory:
    return Length(EXAMPLES / name, program=PROGRAM, **sizes)


class Columns(GameDirectory):
    """Connect Four with an encoding of its own: the heights of the columns."""

    shape = (7,)

    def write(self, out: Any, view: dict[str, Any], seat: int, chosen: tuple[int, ...]) -> None:
        out[:] = [len(column) / 6 for column in view["columns"]]


class Directories(unittest.TestCase):
    def test_they_pass_the_api_test(self) -> None:
        for name in "connect_four", "kuhn_poker", "goofspiel":
            with self.subTest(name), warnings.catch_warnings(), redirect_stdout(None):
                warnings.filterwarnings("ignore", message="Observation (is not a NumPy array|space for each agent)")
                room = env(game(name))
                api_test(room, num_cycles=200)
                room.close()

    def test_games_that_do_not_list_their_moves_are_refused(self) -> None:
        room = RefereeEnv(game("blotto"))
        with self.assertRaisesRegex(ValueError, "the game does not list its moves"):
            room.reset(seed=1)
        room.close()

    def test_an_action_is_a_legal_move_and_an_observation_what_the_encoding_writes(self) -> None:
        room = RefereeEnv(Columns(EXAMPLES / "connect_four", program=PROGRAM))
        room.reset(seed=1)
        for action in 3, 3, 2:
            room.step(action)
        arrays, _, _, _, info = room.last()
        self.assertEqual(np.rint(arrays["observation"] * 6).tolist(), [0, 0, 1, 2, 0, 0, 0])
        self.assertEqual(info["view"], {"columns": ["", "", "r", "ry", "", "", ""], "rows": 6})
        self.assertEqual(arrays["action_mask"].sum(), 7)
        with self.assertRaisesRegex(ValueError, "action 7 is not possible"):
            room.step(7)
        room.close()

    def test_the_program_is_found_on_the_path(self) -> None:
        path = f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"
        with patch.dict(os.environ, {"PATH": path}):
            seat = SeatEnv(Length(EXAMPLES / "kuhn_poker"))
        self.assertEqual(seat.action_space.n, 256)
        rng = np.random.default_rng(1)
        arrays, info = seat.reset(seed=3)
        over = False
        while not over:
            arrays, _, over, _, info = seat.step(pick(rng, arrays["action_mask"]))
        self.assertEqual(info["end"]["ended_by"], "rules")
        seat.close()

    def test_a_parallel_environment_needs_to_know_who_decides(self) -> None:
        room = parallel_env(game("kuhn_poker"))
        observations, _ = room.reset(seed=1)
        rng = np.random.default_rng(2)
        while room.agents:
            asked = {agent: seen["action_mask"] for agent, seen in observations.items() if seen["action_mask"].any()}
            self.assertEqual(len(asked), 1)
            observations, rewards, *_ = room.step({agent: pick(rng, mask) for agent, mask in asked.items()})
        self.assertAlmostEqual(sum(rewards.values()), 0)
        room.close()
        both = parallel_env(game("goofspiel"))
        with self.assertRaisesRegex(ValueError, "goofspiel: parallel_env needs `to_move`"):
            both.reset()
        both.close()

    def test_a_batch_and_an_encoding_of_ones_own(self) -> None:
        with Referee((PROGRAM, "stdio", "--clock", "none", "--game", str(EXAMPLES / "connect_four"))) as referee:
            batch = Batch(Columns(EXAMPLES / "connect_four", actions=7, program=PROGRAM), 8, referee=referee)
            step = batch.reset(seed=1)
            self.assertEqual((step.observation.shape, step.action_mask.shape), ((8, 7), (8, 7)))
            for _ in range(60):
                step = batch.step(step.action_mask.argmax(axis=1))
            self.assertTrue((step.observation <= 1).all() and step.observation.any())

    def test_what_is_wrong_is_named(self) -> None:
        with self.assertRaisesRegex(ValueError, "nowhere/ is no game"):
            Length("nowhere", program=PROGRAM)
        with self.assertRaisesRegex(ValueError, "connect_four has 2 seats, not 3"):
            Length(EXAMPLES / "connect_four", 3, program=PROGRAM)
        with self.assertRaisesRegex(ValueError, "subclasses of GameDirectory for games in directories"):
            env("mygame")
        with self.assertRaisesRegex(ValueError, "./mygame does not say what a network sees"):
            env("./mygame")
        for make in (lambda four: env(four, backend="native"), lambda four: Batch(four, 4, backend="native")):
            with self.assertRaisesRegex(ValueError, "connect_four is a program"):
                make(game("connect_four"))
        few = RefereeEnv(game("connect_four", actions=3))
        with self.assertRaisesRegex(ValueError, "7 legal moves"):
            few.reset()
        few.close()
