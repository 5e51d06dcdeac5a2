"""The sample bots for games of OpenSpiel say what their positions are worth."""

from __future__ import annotations

import unittest

from .fake_referee import FakeReferee, Json

try:
    import pyspiel
except ImportError as error:
    raise unittest.SkipTest("open_spiel is not installed") from error


class ExactBot(unittest.TestCase):
    def answer(self, known: str, seat: int) -> Json:
        with FakeReferee.of("exact_bot.py", "kuhn_poker") as referee:
            referee.hello()
            referee.start(game="openspiel_kuhn_poker", seat=seat)
            return referee.turn(["Bet", "Pass"], seat=seat, view={"state": known})

    def test_it_calls_with_the_best_card_and_says_what_a_random_answer_is_worth(self) -> None:
        answer = self.answer("2b", 1)
        self.assertEqual(answer["move"], "Bet")
        # A call wins, a fold loses.
        self.assertEqual(answer["info"], {"score": 0.5, "score_scale": "points", "score_side": 0})

    def test_it_knows_the_value_of_the_first_decision(self) -> None:
        # With the worst card half of the answers to a bet fold, and a pass wins nothing.
        answer = self.answer("0", 0)
        self.assertEqual(answer["move"], "Bet")
        self.assertEqual(answer["info"]["score"], 0.25)


class BackgammonBot(unittest.TestCase):
    def test_it_says_how_far_it_is_ahead_after_its_move(self) -> None:
        state = pyspiel.load_game("backgammon").new_initial_state()
        state.apply_action(state.legal_actions()[0])
        seat = state.current_player()
        legal = sorted(state.action_to_string(action) for action in state.legal_actions())
        with FakeReferee.of("backgammon_bot.py") as referee:
            referee.hello()
            referee.start(game="openspiel_backgammon", seat=seat)
            answer = referee.turn(legal, seat=seat, view={"state": str(state), "serialized": state.serialize()})
        self.assertIn(answer["move"], legal)
        # At most the pips of the roll.
        self.assertIn(answer["info"]["score"], range(-24, 12))
        self.assertEqual(answer["info"]["score_scale"], 80)
