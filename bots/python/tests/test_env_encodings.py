"""What observations and actions mean."""

from __future__ import annotations

import json
import unittest

from .environments import LONG, ROOT, WithReferee, pick, tables  # skips the tests where packages are missing

# isort: split
import numpy as np

from referee_bot.env import GAMES, RefereeEnv
from referee_bot.env.encodings import encoding
from referee_bot.games.xe_queo import PAWNS


class EveryGame(WithReferee):
    def test_every_game_of_the_referee_has_an_encoding(self) -> None:
        for game, seats in tables():
            self.assertIn(game, GAMES)
            encoding(game, seats)

    def test_no_move_begins_with_the_whole_of_another(self) -> None:
        rng = np.random.default_rng(3)
        for game, seats in tables():
            spelt = encoding(game, seats)
            room = RefereeEnv(game, seats=seats, referee=self.referee)
            room.reset(seed=3)
            for _ in range(500 if LONG else 200):
                arrays, _, terminated, truncated, info = room.last()
                if terminated or truncated:
                    room.reset()
                    continue
                seat = room.possible_agents.index(room.agent_selection)
                words = sorted(spelt.words[seat][move] for move in info["legal"])
                for word, after in zip(words, words[1:]):
                    self.assertNotEqual(word, after[: len(word)], info["legal"])
                room.step(pick(rng, arrays["action_mask"]))


class Checkers(unittest.TestCase):
    def test_both_seats_see_the_board_from_their_own_side(self) -> None:
        checkers = encoding("checkers")
        seen = []
        for seat, board in enumerate(("b...B......................W...w", "b...B......................W...w")):
            out = np.zeros(checkers.shape, np.float32)
            checkers.write(out, {"board": board, "quiet_plies": 10}, seat, ())
            seen.append(out)
        self.assertEqual(seen[0].tolist(), seen[1].tolist())
        self.assertEqual([seen[0][0, 1, 0], seen[0][1, 0, 1], seen[0][7, 6, 2], seen[0][6, 7, 3]], [1] * 4)
        self.assertAlmostEqual(float(seen[0][4, 4, 5]), 0.2)
        self.assertEqual(checkers.words[0]["1-5"], checkers.words[1]["32-28"])


class Chess(unittest.TestCase):
    def test_each_field_is_where_the_table_says(self) -> None:
        chess = encoding("chess")
        board = "r...k..r" + "." * 16 + "Pp......" + "." * 24 + ".R.RK..."
        fen = "r3k2r/8/8/Pp6/8/8/8/1R1RK3 w Bkq b6 25 40"
        seen = []
        for seat in range(2):
            out = np.zeros(chess.shape, np.float32)
            chess.write(out, {"board": board, "fen": fen, "occurrences": 2}, seat, (chess.words[seat]["a5b6"]))
            seen.append(out)
        white, black = seen
        self.assertEqual([white[0, 4, 5], white[4, 0, 0], white[4, 1, 6], white[7, 0, 9]], [1] * 4)
        self.assertEqual([black[0, 4, 5], black[3, 1, 0], black[3, 0, 6], black[7, 1, 9]], [1] * 4)
        self.assertEqual(np.argwhere(white[..., 12]).tolist(), [[0, 1], [7, 0], [7, 7]])
        self.assertEqual(np.argwhere(black[..., 12]).tolist(), [[0, 0], [0, 7], [7, 1]])
        self.assertEqual(np.argwhere(white[..., 13]).tolist(), [[5, 1]])
        self.assertEqual([white[3, 3, 14], white[3, 3, 15]], [0.5, 0.25])
        self.assertEqual([white[4, 0, 16], white[5, 1, 17], black[3, 0, 16], black[2, 1, 17]], [1] * 4)

    def test_a_move_is_its_squares_and_the_piece_of_a_promotion(self) -> None:
        words = encoding("chess").words
        self.assertEqual(words[0]["e2e4"], (12, 28))
        self.assertEqual(words[1]["e7e5"], (12, 28))
        self.assertEqual(words[1]["a2b1q"], (48, 57, 67))


class Keezen(unittest.TestCase):
    VIEW = {
        "pawns": [
            ["base", "base", "t53", "h0.0"],
            ["base", "base", "base", "t3"],
            ["base", "base", "t17", "h2.2"],
            ["base"] * 4,
        ],
        "hand": ["2", "5", "8", "J", "A"],
        "hands": {"2": ["K"]},
        "cards": [5, 4, 4, 0],
        "dealer": 3,
        "deal": 1,
        "pile": ["9", "9"],
        "playing_for": 0,
    }

    def test_each_field_is_where_the_table_says(self) -> None:
        keezen = encoding("keezen", 4)
        out = np.zeros(keezen.shape, np.float32)
        keezen.write(out, self.VIEW, 0, (5,))
        own, left, partner, right = out[: 4 * 69].reshape(4, 69)
        self.assertEqual([own[0], own[1 + 53], own[65]], [0.5, 1, 1])
        self.assertEqual([left[0], left[1 + 3], partner[1 + 17], partner[67], right[0]], [0.75, 1, 1, 1, 1])
        rest = out[4 * 69 :]
        hand, others, pile = rest[:39].reshape(3, 13)
        self.assertEqual(np.flatnonzero(hand).tolist(), [0, 3, 6, 9, 12])
        self.assertEqual((np.flatnonzero(others).tolist(), pile[7]), ([11], 0.5))
        cards, dealer, played = rest[39:51].reshape(3, 4)
        np.testing.assert_allclose(cards, [1, 0.8, 0.8, 0])
        self.assertEqual([dealer.tolist(), played.tolist()], [[0, 0, 0, 1], [1, 0, 0, 0]])
        self.assertEqual(rest[51:54].tolist(), [0, 1, 0])
        self.assertEqual(np.flatnonzero(rest[54:]).tolist(), [5])

    def test_squares_are_counted_from_ones_own_start(self) -> None:
        words = encoding("keezen", 4).words
        self.assertEqual(words[1]["5 t17"], (3, 15 + 1))
        self.assertEqual(words[1]["5 t3"], (3, 15 + 51))
        self.assertEqual(words[1]["2 h3.1"], (0, 79 + 5))
        self.assertEqual(words[1]["K enter"], (11, 13))
        self.assertEqual(words[1]["K enter 3"], (11, 14))
        self.assertEqual(words[1]["J t17 t40"], (9, 16, 15 + 24))

    def test_a_seven_is_a_pawn_and_steps_and_the_pawn_that_makes_the_rest(self) -> None:
        words = encoding("keezen", 2).words
        self.assertEqual(words[0]["7 t17"], (5, 32, 87 + 6))
        self.assertEqual(words[0]["7 t17 4 t30 3"], (5, 32, 87 + 3, 45))


class XeQueo(WithReferee):
    def test_every_phase_in_which_a_seat_decides_has_a_plane(self) -> None:
        schema = json.loads((ROOT / "protocol/schemas/games/xe_queo.json").read_text("utf-8"))
        phases = [phase["const"] for phase in schema["$defs"]["Phase"]["oneOf"]]
        self.assertEqual(phases.pop(), "over")
        view = {
            "pawns": {pawn: f"{file}1" for pawn, file in zip(PAWNS, "abcdefg")},
            "ring": None,
            "choice": None,
            "rings": [1, 0],
            "moves": [],
        }
        spelt = encoding("xe_queo")
        for number, phase in enumerate(phases):
            out = np.zeros(spelt.shape, np.float32)
            spelt.write(out, {**view, "phase": phase}, 0, ())
            self.assertEqual(out[0, 0, 15:18].tolist(), [float(number == plane) for plane in range(3)])

    def test_no_seat_observes_the_position_in_which_the_game_is_over(self) -> None:
        rng = np.random.default_rng(5)
        room = RefereeEnv("xe_queo", referee=self.referee)
        room.reset(seed=5)
        before = {}
        while True:
            arrays, _, terminated, truncated, _ = room.last()
            if terminated or truncated:
                break
            before[room.agent_selection] = arrays["observation"].copy()
            room.step(pick(rng, arrays["action_mask"]))
        for agent, observation in before.items():
            np.testing.assert_array_equal(room.observe(agent)["observation"], observation)


class Documentation(unittest.TestCase):
    def test_it_names_the_shape_and_the_number_of_actions_of_every_game(self) -> None:
        text = (ROOT / "bots/python/referee_bot/env/README.md").read_text("utf-8")
        sections = dict(section.split("\n", 1) for section in text.split("\n## ")[1:])
        self.assertEqual(sorted(sections), sorted(GAMES))
        for game in set(GAMES) - {"keezen"}:
            self.assertIn(f"planes of {encoding(game).shape}", sections[game])
            self.assertIn(f"| {encoding(game).actions} actions", sections[game])
        lengths = [encoding("keezen", seats).shape[0] for seats in (2, 4, 6)]
        self.assertIn("That is {}, {} and {} numbers".format(*lengths), sections["keezen"])
        self.assertEqual([encoding("keezen", seats).actions for seats in (4, 6)], [64 + 30, 96 + 30])
