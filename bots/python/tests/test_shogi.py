"""The example game Shogi against python-shogi, where it is installed."""

from __future__ import annotations

import os
import random
import unittest
from typing import Any

from referee_game import Json
from tests.rules_program import GAMES, Rules

try:
    import shogi
    import shogi.CSA
except ImportError:
    shogi = None

LONG = bool(os.environ.get("LONG_TESTS"))
MATCHES = 100 if LONG else 2
START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
OPTIONS: Json = {"sfen": START, "declaration": True, "moves": 512}


class ShogiTest(unittest.TestCase):
    def rules(self) -> Rules:
        rules = Rules(GAMES / "shogi")
        self.addCleanup(rules.__exit__)
        return rules

    def played(self, *moves: str, **options: Any) -> Json:
        rules = self.rules()
        position = rules.start(**{**OPTIONS, **options})
        for move in moves:
            (decision,) = position["turn"]["decide"]
            self.assertIn(move, decision["legal"])
            position = rules.play(position, {decision["seat"]: move})
        return position

    def test_a_fourth_repetition_is_a_draw_and_perpetual_check_loses(self) -> None:
        circle = ["2h3h", "8b7b", "3h2h", "7b8b"]
        self.assertEqual(self.played(*circle * 3)["turn"]["over"], {"ranks": [1, 1], "reason": "repetition"})
        self.assertEqual(self.played(*(circle * 3)[:-1])["turn"]["decide"][0]["view"]["repetitions"], 3)
        # The king walks to and fro between two files, the rook follows it with a check each time.
        checks = ["4e5e", "5a4a", "5e4e", "4a5a"] * 3
        over = self.played(*checks, sfen="4k4/9/9/9/5R3/9/9/9/K8 b - 1")
        self.assertEqual(over["turn"]["over"], {"ranks": [2, 1], "reason": "perpetual_check"})

    def test_a_side_that_has_entered_with_27_points_may_declare(self) -> None:
        # Black has ten pieces and its king in the camp: rooks and bishops are 20 points, with eight more in hand.
        entered = "+R+R+B+BGGSSK/PP7/9/9/9/9/9/9/4k4 b {}P 1"
        for pawns, may in [(8, True), (2, True), (1, False)]:
            position = self.played(sfen=entered.format(pawns))
            self.assertEqual("win" in position["turn"]["decide"][0]["legal"], may, pawns)
        self.assertNotIn("win", self.played(sfen=entered.format(8), declaration=False)["turn"]["decide"][0]["legal"])
        over = self.played("win", sfen=entered.format(8))["turn"]["over"]
        self.assertEqual(over, {"ranks": [1, 2], "reason": "declaration"})

    def test_positions_that_cannot_be_are_refused(self) -> None:
        rules = self.rules()
        for sfen, what in [
            ("9/9/9/9/9/9/9/9/4K4 b - 1", "a king of each side"),
            ("4k4/9/9/9/9/9/P8/P8/4K4 b - 1", "two pawns"),
            ("P3k4/9/9/9/9/9/9/9/4K4 b - 1", "no square to go to"),
            ("4k4/4R4/9/9/9/9/9/9/4K4 b - 1", "not to move is in check"),
            ("4k4/9/9/9/9/9/9/9/4K4 b 19P 1", "more pieces of a type"),
            ("4k4/9/9/9/9/9/9/9/4K4 b P", "number of the next move"),
            ("4k5/9/9/9/9/9/9/9/4K4 b - 1", "more than nine squares"),
            ("4k4/9/9/9/9/9/9/4K4 b - 1", "nine ranks"),
            ("4x4/9/9/9/9/9/9/9/4K4 b - 1", "letters of pieces"),
            ("\\\"}" * 80, "letters of pieces"),
        ]:
            self.assertIn(what, rules.start(**{**OPTIONS, "sfen": sfen})["bad_options"])

    @unittest.skipUnless(shogi, "python-shogi is not installed")
    def test_random_matches_are_those_of_python_shogi(self) -> None:
        rng = random.Random(1)
        rules = self.rules()
        for match in range(MATCHES):
            board = shogi.Board()
            position = rules.start(**{**OPTIONS, "declaration": False, "moves": 200})
            moves = []
            for ply in range(201):
                if "over" in position["turn"]:
                    break
                (decision,) = position["turn"]["decide"]
                self.assertEqual(decision["view"]["sfen"], board.sfen())
                self.assertEqual(decision["view"]["in_check"], board.is_check())
                listed = set(decision["legal"])
                self.assertEqual(len(listed), len(decision["legal"]))
                # It takes its time.
                if LONG or ply % 3 == 0:
                    self.assertEqual(listed, {move.usi() for move in board.legal_moves})
                # Captures are preferred, so that hands fill.
                takes = [move for move in sorted(listed) if board.piece_at(shogi.Move.from_usi(move).to_square)]
                move = rng.choice(takes if takes and rng.random() < 0.5 else sorted(listed))
                board.push_usi(move)
                moves.append({"seat": ply % 2, "move": move, "took_us": 1_500_000})
                position = rules.play(position, {ply % 2: move})
            reason = position["turn"]["over"]["reason"]
            self.assertEqual(reason == "checkmate", board.is_checkmate())
            self.assertEqual(reason == "repetition", board.is_fourfold_repetition())
            text = rules.ask(
                "export", form="csa", match="m1", options=OPTIONS, seats=2, sides=2, names=["a b", "c"], moves=moves,
                draws=[], ranks=position["turn"]["over"]["ranks"], ended=f"rules ({reason})", tags={"date": "2026.11.30"},
            )["text"]
            (read,) = shogi.CSA.Parser.parse_str(text.removesuffix("/\n"))
            self.assertEqual(read["moves"], [move["move"] for move in moves])
            self.assertEqual(read["names"], ["a b", "c"])


if __name__ == "__main__":
    unittest.main()
