"""The parallel environments, over the real referee."""

from __future__ import annotations

import warnings

from .environments import WithReferee, pick, tables  # skips the tests where packages are missing

# isort: split
import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import parallel_api_test, parallel_seed_test

from referee_bot.env import RefereeEnv, parallel_env


class Parallel(WithReferee):
    def test_it_passes_the_tests_of_pettingzoo(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats), warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Observation (is not a NumPy array|space for each agent)")
                parallel_api_test(parallel_env(game, seats=seats, referee=self.referee), num_cycles=200)
                parallel_seed_test(lambda g=game, s=seats: parallel_env(g, seats=s, referee=self.referee), num_cycles=50)

    def test_seats_that_decide_simultaneously_act_in_one_step(self) -> None:
        room = parallel_env("xe_queo", referee=self.referee)
        observations, infos = room.reset(seed=3)
        asked = [agent for agent in room.agents if observations[agent]["action_mask"].any()]
        self.assertEqual(asked, ["player_1"], "who places the ring")
        ring = {"player_1": int(np.flatnonzero(observations["player_1"]["action_mask"])[0])}
        observations, rewards, *_, infos = room.step(ring)
        self.assertEqual(rewards, {"player_0": 0, "player_1": 0})
        for agent in room.agents:
            self.assertEqual(np.flatnonzero(observations[agent]["action_mask"]).tolist(), list(range(49, 56)))
            self.assertEqual(infos[agent]["view"]["to_move"], [0, 1])
        observations, *_ = room.step({"player_0": 49, "player_1": 55})
        asked = [agent for agent in room.agents if observations[agent]["action_mask"].any()]
        self.assertEqual(len(asked), 1, "both have chosen")

    def test_it_plays_the_match_of_the_environment_that_asks_one_seat_at_a_time(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats):
                rng = np.random.default_rng(5)
                room, other = parallel_env(game, seats=seats, referee=self.referee), RefereeEnv(
                    game, seats=seats, referee=self.referee
                )
                observations, _ = room.reset(seed=5)
                other.reset(seed=5)
                for _ in range(200):
                    asked = [agent for agent in room.agents if observations[agent]["action_mask"].any()]
                    actions = {agent: pick(rng, observations[agent]["action_mask"]) for agent in asked}
                    seen = dict(observations)
                    for agent in asked:
                        self.assertTrue(data_equivalence(other.observe(agent), seen[agent]))
                        other.step(actions[agent])
                    observations, rewards, terminated, truncated, infos = room.step(actions)
                    if not room.agents:
                        self.assertEqual(rewards, other.rewards)
                        self.assertEqual((terminated, truncated), (other.terminations, other.truncations))
                        self.assertEqual(infos["player_0"]["end"], other.infos["player_0"]["end"])
                        break

    def test_an_action_that_is_not_possible_ends_the_match(self) -> None:
        room = parallel_env("jeex", referee=self.referee)
        room.reset(seed=1)
        _, rewards, terminated, _, infos = room.step({"player_0": 238, "player_1": 0})
        self.assertEqual((rewards, room.agents), ({"player_0": -1, "player_1": 0}, []))
        self.assertTrue(all(terminated.values()) and infos["player_0"]["illegal_action"])
        with self.assertRaisesRegex(RuntimeError, "the match is over"):
            room.step({})
        room.reset(seed=1)
        with self.assertRaisesRegex(ValueError, "player_0 is asked for an action"):
            room.step({"player_1": 0})
