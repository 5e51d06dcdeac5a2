"""The PettingZoo environments, over the real referee."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import unittest
import warnings
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

from .environments import LONG, PROGRAM, STDIO, WithReferee, pick, tables  # skips the tests where packages are missing

# isort: split
import numpy as np
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.env_logger import EnvLogger

from referee_bot.env import Referee, RefereeEnv, env


class EveryGame(WithReferee):
    def test_it_passes_the_api_test(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats), warnings.catch_warnings(), redirect_stdout(None):
                # An observation with its mask is a Dict, as in PettingZoo's own games; only those are excused by name.
                warnings.filterwarnings("ignore", message="Observation (is not a NumPy array|space for each agent)")
                api_test(env(game, seats=seats, referee=self.referee), num_cycles=1000 if LONG else 200)

    def test_it_passes_the_seed_test(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats):
                seed_test(lambda g=game, s=seats: env(g, seats=s, referee=self.referee), num_cycles=500 if LONG else 100)

    def test_random_play_goes_on_from_match_to_match(self) -> None:
        rng = np.random.default_rng(1)
        for game, seats in tables():
            with self.subTest(game, seats=seats):
                room = RefereeEnv(game, seats=seats, referee=self.referee)
                steps = ends = 0
                while steps < (3000 if LONG else 500) or ends == 0:
                    room.reset(seed=7) if ends == 0 else room.reset()
                    returned = dict.fromkeys(room.agents, 0.0)
                    for agent in room.agent_iter():
                        arrays, reward, terminated, truncated, info = room.last()
                        self.assertIn(arrays, room.observation_space(agent))
                        returned[agent] += reward
                        if terminated or truncated:
                            self.assertFalse(arrays["action_mask"].any())
                            self.assertIn("ended_by", info["end"])
                            room.step(None)
                        else:
                            self.assertIn(room.possible_agents.index(agent), info["view"]["to_move"])
                            room.step(pick(rng, arrays["action_mask"]))
                            steps += 1
                    self.assertAlmostEqual(sum(returned.values()), 0)
                    ends += 1
                room.close()

    def test_its_own_referee_ends_with_it(self) -> None:
        folder = os.path.dirname(PROGRAM)
        with patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}):
            room = env("saxum")
        room.reset()
        room.close()


class Actions(WithReferee):
    def test_an_action_that_is_not_possible_is_refused_and_changes_nothing(self) -> None:
        room = RefereeEnv("jeex", referee=self.referee)
        room.reset(seed=1)
        before = room.observe("player_0")
        with self.assertRaisesRegex(ValueError, "action 238 is not possible"):
            room.step(238)  # a claim before the opening
        self.assertTrue(data_equivalence(room.observe("player_0"), before))
        room.step(0)
        self.assertEqual(room.agent_selection, "player_1")

    def test_as_pettingzoo_has_it_such_an_action_ends_the_match(self) -> None:
        room = env("jeex", referee=self.referee)
        room.reset(seed=1)
        with patch.object(EnvLogger, "warn_on_illegal_move"):
            room.step(238)
        self.assertEqual(room.rewards, {"player_0": -1, "player_1": 0})
        self.assertTrue(all(room.terminations.values()))
        room.reset(seed=1)
        self.assertFalse(any(room.terminations.values()))

    def test_a_capture_is_made_jump_by_jump(self) -> None:
        # 1x10x19 or 1x10x17, over 6 and then 15 or 14.
        room = RefereeEnv("checkers", options={"fen": "B:W6,14,15,32:B1"}, referee=self.referee)
        room.reset()
        first = room.observe("player_0")
        self.assertEqual(np.flatnonzero(first["action_mask"]).tolist(), [0 * 4 + 1])
        room.step(1)
        self.assertEqual(room.agent_selection, "player_0")
        between = room.observe("player_0")
        self.assertEqual(np.flatnonzero(between["action_mask"]).tolist(), [9 * 4 + 0, 9 * 4 + 1])
        men, enemies, jumping = (np.argwhere(between["observation"][..., plane]).tolist() for plane in (0, 2, 4))
        self.assertEqual((men, jumping), ([[2, 3]], [[2, 3]]), "the man stands on 10")
        self.assertEqual(len(enemies), 3, "and 6 is off the board")
        room.step(9 * 4 + 1)
        self.assertEqual(room.agent_selection, "player_1")
        self.assertEqual(room.infos["player_1"]["view"]["fen"], "W:W14,32:B19")


class Secrets(WithReferee):
    def test_the_second_to_choose_sees_nothing_of_the_first_choice(self) -> None:
        seen = []
        for choice in (49, 55):  # red, black
            room = RefereeEnv("xe_queo", referee=self.referee)
            room.reset(seed=3)
            self.assertEqual(room.agent_selection, "player_1")
            room.step(int(np.flatnonzero(room.observe("player_1")["action_mask"])[0]))  # the ring
            self.assertEqual(room.agent_selection, "player_0")
            room.step(choice)
            self.assertEqual(room.agent_selection, "player_1")
            output = [room.observe("player_1"), room.infos["player_1"]]
            room.step(50)
            own = room.observe("player_0")
            self.assertEqual(np.flatnonzero(own["observation"][0, 0, 8:15]).tolist(), [choice - 49])
            room.step(int(np.flatnonzero(own["action_mask"])[0]))
            output += [room.observe("player_1"), room.infos["player_1"]]
            seen.append(output)
        self.assertTrue(data_equivalence(seen[0], seen[1]))

    def test_a_seat_sees_its_own_cards_alone(self) -> None:
        if ("keezen", 4) not in tables():
            self.skipTest("the referee has no Keezenspel")
        room = RefereeEnv("keezen", seats=4, referee=self.referee)
        rng = np.random.default_rng(2)
        room.reset(seed=2)
        for _ in range(60):
            arrays, _, _, _, info = room.last()
            hands = arrays["observation"][4 * 69 : 4 * 69 + 26]
            self.assertEqual(round(float(hands[:13].sum() * 5)), len(info["view"]["hand"]))
            self.assertFalse(hands[13:].any(), "not even the partner's, while both have pawns to bring home")
            room.step(pick(rng, arrays["action_mask"]))


class Seeds(WithReferee):
    def test_a_seed_stands_for_a_match_seed_and_a_deal(self) -> None:
        room = RefereeEnv("saxum", referee=self.referee)
        room.reset(seed=42)
        first = room.infos[room.agent_selection]["view"]
        room.reset()
        second = room.infos[room.agent_selection]["view"]
        seed = hashlib.sha256(b"referee_bot.env/1\n42").hexdigest()
        lines: list[dict[str, Any]] = [{"type": "hello", "protocol": 1, "name": "host", "slots": 2}]
        for deal in ("e0", "e1"):
            lines.append({"type": "open", "game": "saxum", "seed": seed, "deal": deal, "auto_ready": True})
        said = "".join(json.dumps(line) + "\n" for line in lines).encode()
        output = subprocess.run(STDIO, input=said, stdout=subprocess.PIPE, check=True).stdout
        views = [line["view"] for line in map(json.loads, output.splitlines()) if line["type"] == "turn"]
        self.assertEqual(views, [first, second])
        self.assertNotEqual(first, second)

    def test_without_a_seed_no_two_environments_are_alike(self) -> None:
        boards = set()
        for _ in range(2):
            room = RefereeEnv("xe_queo", referee=self.referee)
            room.reset()
            boards.add(str(room.infos[room.agent_selection]["view"]["pawns"]))
        self.assertEqual(len(boards), 2)


class Ends(WithReferee):
    def test_the_turn_limit_truncates(self) -> None:
        room = RefereeEnv("checkers", options={"turn_limit": 1}, referee=self.referee)
        room.reset()
        self.assertEqual(room.infos["player_0"]["turns_left"], 1)
        room.step(int(np.flatnonzero(room.observe("player_0")["action_mask"])[0]))
        self.assertEqual(room.truncations, {"player_0": True, "player_1": True})
        self.assertEqual(room.terminations, {"player_0": False, "player_1": False})
        self.assertEqual(room.rewards, {"player_0": 0, "player_1": 0})

    def test_a_win_is_worth_1_and_a_defeat_the_opposite(self) -> None:
        room = RefereeEnv("checkers", options={"fen": "B:W18:B14"}, referee=self.referee)
        room.reset()
        room.step(13 * 4 + 1)
        self.assertEqual(room.rewards, {"player_0": 1, "player_1": -1})
        self.assertEqual(room.infos["player_1"]["end"]["reason"], "no_pieces")


class Processes(unittest.TestCase):
    def test_a_referee_is_greeted_before_the_first_match(self) -> None:
        # It waits for ten seconds; what comes first may take longer, such as the import of a library.
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
            with patch("referee_bot.env.referee.started", return_value=cat), Referee():
                assert cat.stdout
                self.assertEqual(json.loads(cat.stdout.readline())["type"], "hello")


class Refusals(WithReferee):
    def test_a_game_that_does_not_exist_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "'ludo' is no game here"):
            env("ludo", referee=self.referee)

    def test_a_number_of_seats_that_the_game_has_not_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "saxum has 2 seats, not 3"):
            env("saxum", seats=3, referee=self.referee)

    def test_wrong_options_are_reported_and_the_referee_continues(self) -> None:
        room = env("saxum", options={"turn_limit": 0}, referee=self.referee)
        with self.assertRaisesRegex(ValueError, "turn_limit"):
            room.reset()
        env("saxum", referee=self.referee).reset()

    def test_a_referee_that_has_exited_is_reported(self) -> None:
        room = env("saxum", referee=self.referee)
        room.reset()
        self.referee.close()
        with self.assertRaises((ConnectionError, ValueError)):
            room.reset()
