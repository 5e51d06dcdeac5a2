"""Many matches that step together."""

from __future__ import annotations

from unittest.mock import patch

from .environments import LONG, WithReferee, pick, tables  # skips the tests where packages are missing

# isort: split
import numpy as np

from referee_bot.env import RefereeEnv
from referee_bot.stream import Stream


class Batches(WithReferee):
    def test_a_batch_plays_the_matches_that_single_environments_play(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats):
                rng = np.random.default_rng(4)
                batch = self.batch(game, 5, seats=seats)
                rooms = [RefereeEnv(game, seats=seats, referee=self.referee) for _ in range(5)]
                step = batch.reset(seed=10)
                for i, room in enumerate(rooms):
                    room.reset(seed=10 + i)
                for _ in range(200 if LONG else 80):
                    for i, room in enumerate(rooms):
                        agent = room.agent_selection
                        self.assertEqual(agent, f"player_{step.seat[i]}")
                        arrays = room.observe(agent)
                        np.testing.assert_array_equal(step.observation[i], arrays["observation"])
                        np.testing.assert_array_equal(step.action_mask[i], arrays["action_mask"])
                    actions = [pick(rng, mask) for mask in step.action_mask]
                    step = batch.step(actions)
                    for i, (room, action) in enumerate(zip(rooms, actions)):
                        room.step(action)
                        np.testing.assert_array_equal(step.reward[i], np.array(list(room.rewards.values()), np.float32))
                        self.assertEqual(step.terminated[i], any(room.terminations.values()))
                        self.assertEqual(step.truncated[i], any(room.truncations.values()))
                        if step.terminated[i] or step.truncated[i]:
                            self.assertEqual(step.infos[i]["end"], room.infos["player_0"]["end"])
                            room.reset()

    def test_all_matches_of_a_large_batch_may_end_in_the_same_step(self) -> None:
        batch = self.batch("checkers", 200, options={"fen": "B:W18:B14"})
        batch.reset()
        for _ in range(2):
            step = batch.step([13 * 4 + 1] * 200)
            self.assertTrue(step.terminated.all())
            self.assertEqual(step.reward.tolist(), [[1, -1]] * 200)

    def test_an_action_that_is_not_possible_is_named_and_nothing_is_done(self) -> None:
        batch = self.batch("jeex", 3)
        before = batch.reset(seed=1)
        with self.assertRaisesRegex(ValueError, "action 238 is not possible in match 1"):
            batch.step([0, 238, 0])
        after = batch.step([0, 0, 0])
        self.assertEqual((before.seat.tolist(), after.seat.tolist()), ([0] * 3, [1] * 3))

    def test_matches_that_are_over_before_their_first_decision_are_refused(self) -> None:
        batch = self.batch("checkers", 2, options={"fen": "B:W5,6,10:B1"})
        with self.assertRaisesRegex(ValueError, "the match is over before its first decision"):
            batch.reset()

    def test_too_few_actions_are_refused(self) -> None:
        batch = self.batch("jeex", 3)
        batch.reset()
        with self.assertRaisesRegex(ValueError, "2 actions for 3 matches"):
            batch.step([0, 0])


class OverAProcess(WithReferee):
    def test_a_step_of_all_is_one_write(self) -> None:
        batch = self.batch("jeex", 64)
        step = batch.reset(seed=1)
        with patch.object(Stream, "send", autospec=True, side_effect=Stream.send) as send:
            batch.step(step.action_mask.argmax(axis=1))
        self.assertEqual(send.call_count, 1)
