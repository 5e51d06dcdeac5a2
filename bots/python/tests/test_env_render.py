"""The render modes of the environments, over the real referee."""

from __future__ import annotations

import os
import unittest
from typing import Any
from unittest.mock import patch

from .environments import PROGRAM, WithReferee, pick, tables  # skips the tests where packages are missing

# isort: split
import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded, UnsupportedMode
from pettingzoo.test.render_test import render_test

from referee_bot.env import RefereeEnv, SeatEnv, env, parallel_env
from referee_bot.env.picture import picture

# Half of the sizes of scenes, as README.md has them.
SIZES = {
    ("checkers", 2): (430, 430, 3),
    ("chess", 2): (430, 430, 3),
    ("jeex", 2): (440, 500, 3),
    ("keezen", 2): (500, 500, 3),
    ("keezen", 4): (500, 500, 3),
    ("keezen", 6): (688, 500, 3),
    ("saxum", 2): (450, 395, 3),
    ("xe_queo", 2): (555, 435, 3),
}
BLACK, WHITE, DARK, PAPER = (0x26, 0x29, 0x2D), (0xFD, 0xFB, 0xF5), (0x7A, 0x94, 0x70), (0xFF, 0xFF, 0xFF)


def square(frame: np.ndarray[Any, Any], number: int) -> tuple[int, ...]:
    """Returns the colour in the middle of a square of checkers."""
    row, place = divmod(number - 1, 4)
    column = 2 * place + 1 - row % 2
    return tuple(frame[15 + 50 * row + 25, 15 + 50 * column + 25])


class Modes(WithReferee):
    def test_gymnasium_makes_environments_by_name_with_their_render_modes(self) -> None:
        folder = os.path.dirname(PROGRAM)
        with patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}):
            room = gymnasium.make("referee_bot.env:referee/checkers-v1", render_mode="ansi")
        self.addCleanup(room.close)
        room.reset(seed=1)
        text = room.render()
        assert isinstance(text, str)
        self.assertEqual(text.splitlines()[0], " 1 |     b     b     b     b | 4")
        self.assertIn("Black to move", text)

    def test_frames_of_every_game_are_pictures_of_its_size(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats):
                room = SeatEnv(game, seats=seats, referee=self.referee, render_mode="rgb_array")
                room.reset(seed=1)
                frame = room.render()
                assert isinstance(frame, np.ndarray)
                self.assertEqual((frame.shape, frame.dtype), (SIZES[game, seats], np.uint8))
                self.assertGreater(len(np.unique(frame.reshape(-1, 3), axis=0)), 20)

    def test_a_frame_shows_the_pieces_where_they_stand_until_the_end(self) -> None:
        room = SeatEnv("checkers", options={"fen": "B:W18:B14"}, referee=self.referee, render_mode="rgb_array")
        room.reset()
        before = room.render()
        self.assertEqual([square(before, at) for at in (14, 18, 23)], [BLACK, WHITE, DARK])
        terminated = room.step(13 * 4 + 1)[2]
        self.assertTrue(terminated)
        after = room.render()
        self.assertEqual([square(after, at) for at in (14, 18, 23)], [DARK, DARK, BLACK])

    def test_pettingzoos_environments_pass_its_test_of_render_modes(self) -> None:
        for game, seats in tables():
            with self.subTest(game, seats=seats):

                def make(render_mode: str, game: str = game, seats: int = seats) -> Any:
                    # It begins with `human`, which nothing here has.
                    mode = None if render_mode == "human" else render_mode
                    return env(game, seats=seats, referee=self.referee, render_mode=mode)

                render_test(make)

    def test_a_parallel_environment_is_rendered_until_the_end(self) -> None:
        for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
            for game, seats in tables():
                with self.subTest(game, seats=seats, mode=mode):
                    rng = np.random.default_rng(1)
                    options = {} if game == "xe_queo" else {"turn_limit": 4}
                    room = parallel_env(game, seats=seats, options=options, referee=self.referee, render_mode=mode)
                    observations, _ = room.reset(seed=1)
                    steps = 0
                    while room.agents and steps < 10:
                        self.assertIsInstance(room.render(), kind)
                        asked = [agent for agent in room.agents if observations[agent]["action_mask"].any()]
                        actions = {agent: pick(rng, observations[agent]["action_mask"]) for agent in asked}
                        observations, *_ = room.step(actions)
                        steps += 1
                    self.assertIsInstance(room.render(), kind)

    def test_a_frame_shows_nothing_that_is_hidden_from_its_seat(self) -> None:
        frames = []
        for choice in (49, 55):  # red, black
            room = RefereeEnv("xe_queo", referee=self.referee, render_mode="ansi")
            room.reset(seed=3)
            room.step(int(np.flatnonzero(room.observe("player_1")["action_mask"])[0]))  # the ring
            self.assertEqual(room.agent_selection, "player_0")
            room.step(choice)
            self.assertEqual(room.agent_selection, "player_1")
            frames.append(room.render())
            room.step(50)
            self.assertEqual(room.agent_selection, "player_0")
            self.assertIn(f"seat 0 has chosen {'red' if choice == 49 else 'black'}", str(room.render()))
            self.assertNotIn("seat 1 has chosen", str(room.render()))
        self.assertEqual(frames[0], frames[1])

    def test_without_a_mode_render_warns_and_returns_none(self) -> None:
        for room in (SeatEnv("jeex", referee=self.referee), parallel_env("jeex", referee=self.referee)):
            room.reset(seed=1)
            with self.assertWarnsRegex(UserWarning, "render_mode='ansi' or 'rgb_array'"):
                self.assertIsNone(room.render())

    def test_another_mode_is_refused(self) -> None:
        for make in (SeatEnv, RefereeEnv, env, parallel_env):
            with self.assertRaisesRegex(UnsupportedMode, "'human' is no render mode here: there are ansi and rgb_array"):
                make("jeex", referee=self.referee, render_mode="human")

    def test_before_the_first_reset_there_is_nothing_to_render(self) -> None:
        for make in (SeatEnv, RefereeEnv, parallel_env):
            with self.assertRaises(ResetNeeded):
                make("jeex", referee=self.referee, render_mode="ansi").render()


class Pictures(unittest.TestCase):
    def draw(self, *parts: dict[str, Any]) -> np.ndarray[Any, Any]:
        return picture({"width": 80, "height": 40, "background": "#ffffff", "parts": list(parts)})

    def test_coordinates_are_halved_and_a_later_part_hides_an_earlier_one(self) -> None:
        frame = self.draw(
            {"form": "rect", "at": [20, 10], "width": 40, "height": 20, "radius": 0, "fill": "#ff0000"},
            {"form": "circle", "at": [40, 20], "radius": 8, "fill": "#0000ff"},
        )
        self.assertEqual(frame.shape, (20, 40, 3))
        is_drawn = (frame != PAPER).any(axis=2)
        self.assertEqual(np.argwhere(is_drawn)[[0, -1]].tolist(), [[5, 10], [14, 29]])
        self.assertEqual(is_drawn.sum(), 10 * 20)
        self.assertTrue((frame[8:12, 18:22] == (0, 0, 255)).all())
        self.assertTrue((frame[5:15, 10:15] == (255, 0, 0)).all())

    def test_an_outline_is_drawn_along_the_edge_alone(self) -> None:
        frame = self.draw(
            {"form": "circle", "at": [40, 20], "radius": 16, "outline": {"colour": "#000000", "width": 4}}
        )
        self.assertEqual(tuple(frame[10, 20]), PAPER)
        self.assertEqual(tuple(frame[10, 12]), (0, 0, 0))

    def test_a_translucent_colour_is_mixed_with_what_is_below(self) -> None:
        frame = self.draw({"form": "polygon", "points": [[0, 0], [80, 0], [0, 40]], "fill": "#00000080"})
        self.assertEqual((tuple(frame[3, 3]), tuple(frame[17, 35])), ((127, 127, 127), PAPER))

    def test_parts_beyond_the_edge_and_texts_are_left_out(self) -> None:
        frame = self.draw(
            {"form": "circle", "at": [-40, -40], "radius": 10, "fill": "#000000"},
            {"form": "circle", "at": [140, 90], "radius": 10, "fill": "#000000"},
            {"form": "text", "at": [40, 20], "size": 30, "text": "A", "fill": "#000000"},
        )
        self.assertTrue((frame == 255).all())
