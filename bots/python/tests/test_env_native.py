"""The backend `native`: the tests of the environments with it, and the same matches with both backends."""

from __future__ import annotations

import sys
import unittest
from typing import Any
from unittest.mock import patch

from . import test_env, test_env_batch, test_env_render, test_env_seat  # skips the tests where packages are missing
from .environments import LONG, WithReferee, tables

# isort: split
import numpy as np

from referee_bot.env import Batch, Referee, RefereeEnv, SeatEnv, env
from referee_bot.env.encodings import encoding

try:
    import referee_bot_native
except ImportError as error:
    raise unittest.SkipTest("the package referee-bot-native is not installed") from error


class Native(WithReferee):
    """The same tests without the program `referee`."""

    def new_referee(self, *, events: bool = False) -> Referee:
        referee = Referee([], events=events, backend="native")
        self.addCleanup(referee.close)
        return referee

    def batch(self, game: str, size: int, **more: Any) -> Batch:
        return Batch(game, size, backend="native", **more)


class PettingZoo(Native, test_env.EveryGame):
    pass


class Actions(Native, test_env.Actions):
    pass


class Secrets(Native, test_env.Secrets):
    pass


class Seeds(Native, test_env.Seeds):
    pass


class Ends(Native, test_env.Ends):
    pass


class Refusals(Native, test_env.Refusals):
    pass


class Gymnasium(Native, test_env_seat.EveryGame):
    pass


class Opponents(Native, test_env_seat.Opponents):
    pass


class Modes(Native, test_env_render.Modes):
    pass


class Batches(Native, test_env_batch.Batches):
    def test_wrong_options_are_reported(self) -> None:
        with self.assertRaisesRegex(ValueError, "turn_limit is 0"):
            self.batch("saxum", 2, options={"turn_limit": 0})

    def test_a_size_that_a_batch_cannot_have_is_refused(self) -> None:
        for size in (0, 1 << 40):
            with self.assertRaisesRegex(ValueError, f"a batch has 1 to 65536 matches, not {size}"):
                self.batch("jeex", size)

    def test_infos_stay_those_of_their_step(self) -> None:
        batch = self.batch("jeex", 3)
        first = batch.reset(seed=1)
        second = batch.step([0, 0, 0])
        self.assertEqual([len(info["view"]["stones"]) for info in first.infos], [0] * 3)
        self.assertEqual([len(info["view"]["stones"]) for info in second.infos], [1] * 3)
        self.assertEqual(second.infos[-1], second.infos[2])
        self.assertEqual(len(second.infos[1:]), 2)
        with self.assertRaises(IndexError):
            second.infos[3]


class BothBackends(WithReferee):
    def test_the_same_seeds_and_actions_give_the_same_steps(self) -> None:
        for game, seats in tables():
            limits = [{}] if game == "xe_queo" else [{}, {"turn_limit": 20}]
            for options in limits:
                with self.subTest(game, seats=seats, options=options):
                    self.play(game, seats, options, positions=50_000 if LONG else 600)

    def play(self, game: str, seats: int, options: dict[str, Any], positions: int) -> None:
        rng = np.random.default_rng(6)
        size = 30
        both = [
            Batch(game, size, seats=seats, options=options, referee=self.referee),
            Batch(game, size, seats=seats, options=options, backend="native"),
        ]
        seen = ends = 0
        steps = [batch.reset(seed=20) for batch in both]
        while seen < positions or (options and ends == 0):
            process, native = steps
            for name, one, other in zip(process._fields, process, native):
                if name == "infos":
                    self.assertEqual(one, list(other))
                else:
                    self.assertEqual(one.dtype, other.dtype)
                    np.testing.assert_array_equal(one, other, err_msg=name, strict=True)
            ends += int(process.terminated.sum() + process.truncated.sum())
            seen += size
            actions = [int(rng.choice(np.flatnonzero(mask))) for mask in process.action_mask]
            steps = [batch.step(actions) for batch in both]
        # The next deals of the same seeds, and then those of random ones.
        first, second = (batch.reset() for batch in both)
        self.assertEqual(first.infos, list(second.infos))
        both[0].close()

    def test_shapes_and_actions_are_those_of_the_encodings(self) -> None:
        for game, seats in tables():
            spelt = encoding(game, seats)
            batch = Batch(game, 2, seats=seats, backend="native")
            step = batch.reset()
            self.assertEqual(step.observation.shape, (2, *spelt.shape))
            self.assertEqual(step.action_mask.shape, (2, spelt.actions))
            self.assertEqual(step.reward.shape, (2, seats))


class Choice(WithReferee):
    def test_each_environment_takes_the_backend_by_name(self) -> None:
        with patch("subprocess.Popen", side_effect=AssertionError("a process")):
            room = env("jeex", backend="native")
            room.reset(seed=1)
            room.close()
            seat = SeatEnv("jeex", backend="native")
            seat.reset(seed=1)
            seat.close()

    def test_a_referee_and_the_backend_are_not_given_together(self) -> None:
        for make in (RefereeEnv, SeatEnv, lambda game, **more: Batch(game, 2, **more)):
            with self.assertRaisesRegex(ValueError, "either a referee or the backend 'native'"):
                make("jeex", referee=self.referee, backend="native")

    def test_a_backend_that_does_not_exist_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "'rust' is no backend: there are process and native"):
            Batch("jeex", 2, backend="rust")  # type: ignore[arg-type]

    def test_a_missing_package_is_named(self) -> None:
        with patch.dict(sys.modules, {"referee_bot_native": None}):
            for make in (lambda: Batch("jeex", 2, backend="native"), lambda: env("jeex", backend="native")):
                with self.assertRaisesRegex(ImportError, "pip install bots/python/native"):
                    make()


class Module(unittest.TestCase):
    def test_lines_that_are_no_messages_are_refused(self) -> None:
        referee = referee_bot_native.Referee()
        for line in (b"[]", b"{}", b'{"type":"open"}', b'{"type":"move"}', b"\xff"):
            with self.assertRaises(ValueError):
                referee.handle(line + b"\n")
        self.assertEqual(referee.handle(b'{"type":"weather"}\n\n'), b"")

    def test_seats_that_a_match_has_not_are_refused(self) -> None:
        referee = referee_bot_native.Referee()
        opened = b'{"type":"open","game":"jeex","seed":"%s","deal":"e0","auto_ready":true}\n' % (b"0" * 64)
        self.assertIn(b'"turn":0', referee.handle(opened))
        for seat in (b"2", b"255", b"null"):
            with self.assertRaisesRegex(ValueError, "m1 has no such `seat`"):
                referee.handle(b'{"type":"resign","match":"m1","seat":%s}\n' % seat)
        self.assertIn(b'"reason":"resign', referee.handle(b'{"type":"resign","match":"m1","seat":1}\n'))

    def test_seeds_and_actions_that_do_not_fit_are_refused(self) -> None:
        batch = referee_bot_native.Batch("jeex", 2, "{}", 2)
        with self.assertRaisesRegex(ValueError, "reset the batch before"):
            batch.step(np.zeros(2, np.int64))
        for seeds in (None, ["0" * 64], ["0" * 64, "g" * 64]):
            with self.assertRaises(ValueError):
                batch.reset(seeds)
        batch.reset(["0" * 64] * 2)
        for action in (-1, 238, 1 << 40):
            with self.assertRaisesRegex(ValueError, f"action {action} is not possible in match 1"):
                batch.step(np.array([0, action], np.int64))
