"""The Gymnasium environments: one seat against opponents."""

from __future__ import annotations

import os
import sys
from functools import partial
from unittest.mock import patch

from .environments import ROOT, WithReferee, pick, tables  # skips the tests where packages are missing

# isort: split
import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from referee_bot import Bot, End, Start, Turn
from referee_bot.env import BotProcess, Referee, SeatEnv

RANDOM_BOT = [sys.executable, str(ROOT / "bots/python/random_bot.py"), "--seed", "1"]


def play(room: SeatEnv, matches: int) -> list[float]:
    """Plays at random and returns what each match brought."""
    rng = np.random.default_rng(5)
    returned = []
    for _ in range(matches):
        arrays, _ = room.reset()
        done, total = False, 0.0
        while not done:
            arrays, reward, terminated, truncated, _ = room.step(pick(rng, arrays["action_mask"]))
            done, total = terminated or truncated, total + reward
        returned.append(total)
    return returned


class EveryGame(WithReferee):
    def test_it_passes_gymnasiums_check(self) -> None:
        for game, seats in tables():
            for seat in range(seats):
                with self.subTest(game, seats=seats, seat=seat):
                    name = f"{type(self).__name__}/{game}-{seats}-{seat}-v0"
                    gymnasium.register(name, partial(SeatEnv, game, seats=seats, seat=seat, referee=self.referee))
                    check_env(gymnasium.make(name, disable_env_checker=True).unwrapped)

    def test_it_plays_against_another_program(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats):
                opponent = BotProcess(RANDOM_BOT)
                self.addCleanup(opponent.close)
                room = SeatEnv(game, opponent, seat=seats - 1, seats=seats, referee=self.referee)
                matches = 1 if game == "keezen" else 3
                self.assertTrue(all(-1 <= total <= 1 for total in play(room, matches)))


class Opponents(WithReferee):
    def test_a_function_takes_all_other_seats(self) -> None:
        asked = set()

        def first(turn: Turn) -> str:
            asked.add(turn.seat)
            return turn.legal[0]

        play(SeatEnv("xe_queo", first, seat=0, referee=self.referee), 2)
        self.assertEqual(asked, {1})

    def test_a_bot_receives_starts_events_and_ends(self) -> None:
        class Watcher(Bot):
            received: list[str] = []

            def start(self, start: Start) -> None:
                self.received.append(f"start {start.seat}")

            def choose(self, turn: Turn) -> str:
                self.received.append(f"{turn.events[-1]['move']} then {turn.legal[0]}")
                return turn.legal[0]

            def end(self, end: End) -> None:
                self.received.append(f"end {end.ended_by}")

        referee = self.new_referee(events=True)
        room = SeatEnv("checkers", Watcher(), options={"fen": "B:W18,32:B14,1"}, referee=referee)
        room.reset()
        room.step(13 * 4 + 1)
        room.reset()
        self.assertEqual(Watcher.received, ["start 1", "14x23 then 32-27", "end aborted", "start 1"])

    def test_a_win_against_an_opponent_is_worth_1(self) -> None:
        room = SeatEnv("checkers", options={"fen": "B:W18:B14"}, referee=self.referee)
        room.reset()
        _, reward, terminated, truncated, info = room.step(13 * 4 + 1)
        self.assertEqual((reward, terminated, truncated), (1, True, False))
        self.assertEqual(info["end"]["reason"], "no_pieces")
        with self.assertRaisesRegex(RuntimeError, "the match is over"):
            room.step(0)

    def test_an_action_that_is_not_possible_ends_the_match(self) -> None:
        room = SeatEnv("jeex", referee=self.referee)
        room.reset()
        arrays, reward, terminated, truncated, info = room.step(238)
        self.assertEqual((reward, terminated, truncated), (-1, True, False))
        self.assertIn("action 238 is not possible", info["illegal_action"])
        self.assertFalse(arrays["action_mask"].any())
        room.reset()

    def test_a_seed_makes_the_random_opponent_repeatable(self) -> None:
        views = []
        for _ in range(2):
            room = SeatEnv("checkers", seat=1, referee=self.referee)
            views.append([room.reset(seed=9)[1]["view"], room.reset()[1]["view"]])
        self.assertEqual(views[0], views[1])

    def test_a_program_that_exits_is_reported(self) -> None:
        opponent = BotProcess(["true"])
        self.addCleanup(opponent.close)
        room = SeatEnv("checkers", opponent, referee=self.referee)
        with self.assertRaisesRegex(ConnectionError, "true is gone"):
            room.reset()

    def test_a_program_that_is_missing_is_named(self) -> None:
        for start, named in [
            (lambda: Referee(["no-such-referee", "stdio"]), "'no-such-referee'"),
            (lambda: Referee(["./no/referee", "stdio"]), "'./no/referee'"),
            (lambda: BotProcess(["no-such-bot"]).handle([{"type": "start", "seat": 0}]).__next__(), "'no-such-bot'"),
        ]:
            with self.assertRaises(FileNotFoundError) as raised:
                start()
            self.assertIn(named, str(raised.exception))
            self.assertIn("there is no such", str(raised.exception))
        with patch.dict(os.environ, {"PATH": "/nowhere"}), self.assertRaisesRegex(FileNotFoundError, "install it"):
            SeatEnv("checkers")

    def test_action_masks_are_those_that_maskable_ppo_reads(self) -> None:
        room = SeatEnv("keezen", referee=self.referee)
        arrays, _ = room.reset(seed=4)
        rng = np.random.default_rng(4)
        over = False
        while not over:
            masks = room.action_masks()
            self.assertEqual((masks.dtype, masks.tolist()), (np.bool_, (arrays["action_mask"] == 1).tolist()))
            arrays, _, terminated, truncated, _ = room.step(pick(rng, arrays["action_mask"]))
            over = terminated or truncated
        self.assertFalse(room.action_masks().any())

    def test_a_seat_that_the_game_has_not_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "seat 2: checkers has seats 0 to 1"):
            SeatEnv("checkers", seat=2, referee=self.referee)
