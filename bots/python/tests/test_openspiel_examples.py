"""The example games against OpenSpiel: every list of legal moves, every draw and every result of random matches.

They need the package `open_spiel`, and Node.js and a C compiler for the games in these languages.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

from referee_game import Json
from tests.rules_program import GAMES, Rules

try:
    import pyspiel
except ImportError as error:
    raise unittest.SkipTest("open_spiel is not installed") from error

MATCHES = 1000 if os.environ.get("LONG_TESTS") else 100

Pair = Callable[[str], int]
"""The action of a move."""


def ranks(scores: list[float]) -> list[int]:
    return [1 + sum(other > score for other in scores) for score in scores]


class Examples(unittest.TestCase):
    def assert_legal(self, position: Json, state: pyspiel.State, action: Pair) -> dict[int, list[str]]:
        """Compares the legal moves of all seats, and returns them."""
        decisions = position["turn"]["decide"]
        if state.is_simultaneous_node():
            deciding = [seat for seat in range(state.num_players()) if state.legal_actions(seat)]
        else:
            deciding = [state.current_player()]
        self.assertEqual([decision["seat"] for decision in decisions], deciding)
        for decision in decisions:
            ours = sorted(map(action, decision["legal"]))
            self.assertEqual(ours, state.legal_actions(decision["seat"]), str(state))
        return {decision["seat"]: decision["legal"] for decision in decisions}

    def assert_over(self, position: Json, state: pyspiel.State) -> None:
        self.assertTrue(state.is_terminal(), str(state))
        self.assertEqual(position["turn"]["over"]["ranks"], ranks(state.returns()), str(state))

    def test_connect_four(self) -> None:
        rng = random.Random(1)
        results = set()
        with Rules(GAMES / "connect_four") as rules:
            for _ in range(MATCHES):
                position, state = rules.start(columns=7, rows=6), pyspiel.load_game("connect_four").new_initial_state()
                while "decide" in position["turn"]:
                    [(seat, legal)] = self.assert_legal(position, state, lambda move: ord(move) - 97).items()
                    move = rng.choice(legal)
                    state.apply_action(ord(move) - 97)
                    position = rules.play(position, {seat: move})
                self.assert_over(position, state)
                results.add(position["turn"]["over"]["reason"])
        self.assertIn("four", results)

    def test_hex(self) -> None:
        rng = random.Random(2)
        swaps = 0
        with Rules(GAMES / "hex") as rules:
            for match in range(MATCHES):
                size, swap = rng.choice([2, 3, 4, 5, 7, 11]), match % 2 == 0
                game = pyspiel.load_game("hex", {"board_size": size, "swap": swap})
                position, state = rules.start(size=size, swap=swap), game.new_initial_state()

                def action(move: str, size: int = size) -> int:
                    return size * size if move == "swap" else ord(move[0]) - 97 + (int(move[1:]) - 1) * size

                while "decide" in position["turn"]:
                    [(seat, legal)] = self.assert_legal(position, state, action).items()
                    move = "swap" if "swap" in legal and rng.random() < 0.5 else rng.choice(legal)
                    swaps += move == "swap"
                    state.apply_action(action(move))
                    position = rules.play(position, {seat: move})
                self.assert_over(position, state)
        self.assertGreater(swaps, 5)

    def test_pig(self) -> None:
        rng = random.Random(3)
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder, "pig")
            shutil.copytree(GAMES / "pig", directory, ignore=shutil.ignore_patterns("pig", "bot"))
            sanitized = "-O1 -g -Werror -fsanitize=address,undefined -fno-sanitize-recover"
            subprocess.run(["make", "-s", "-C", directory, f"CFLAGS={sanitized}"], check=True)
            with Rules(directory) as rules:
                for match in range(MATCHES):
                    self.compare_pig(rules, rng, 2 + match % 5)

    def compare_pig(self, rules: Rules, rng: random.Random, seats: int) -> None:
        goal = rng.choice([1, 8, 20, 30])
        game = pyspiel.load_game("pig", {"players": seats, "winscore": goal, "horizon": 100_000})
        position, state = rules.start(seats, goal=goal, turn_limit=9000), game.new_initial_state()
        while "over" not in position["turn"]:
            if "draw" in position["turn"]:
                self.assertEqual(position["turn"]["draw"], {"dice": {"count": 1, "sides": 6}})
                outcomes = state.chance_outcomes()
                self.assertEqual([outcome for outcome, _ in outcomes], list(range(6)))
                self.assertEqual(len({probability for _, probability in outcomes}), 1)
                die = rng.randint(1, 6)
                # The library begins with the roll that ends the turn.
                state.apply_action(die - 1)
                position = rules.settle(position, die)
            else:
                actions = {"roll": 0, "stop": 1}
                [(seat, legal)] = self.assert_legal(position, state, actions.__getitem__).items()
                move = rng.choice(legal)
                state.apply_action(actions[move])
                position = rules.play(position, {seat: move})
        self.assertTrue(state.is_terminal(), str(state))
        returns = state.returns()
        self.assertEqual(position["turn"]["over"]["ranks"].index(1), returns.index(max(returns)))

    def test_kuhn_poker(self) -> None:
        rng = random.Random(4)
        game = pyspiel.load_game("kuhn_poker")
        actions = {"pass": 0, "bet": 1}
        with Rules(GAMES / "kuhn_poker") as rules:
            for _ in range(MATCHES):
                hands = rng.randint(1, 8)
                position = rules.start(hands=hands)
                least, most = hands * game.min_utility(), hands * game.max_utility()
                self.assertEqual(position["amounts"], {"least": least, "most": most})
                chips = [0.0, 0.0]
                for hand in range(hands):
                    self.assertEqual(position["turn"], {"draw": {"shuffle": 3}})
                    state = game.new_initial_state()
                    first = hand % 2
                    drawn = rng.sample(range(3), 3)
                    # In the library, player 0 begins every hand and gets the first card.
                    for card in drawn[first], drawn[1 - first]:
                        self.assertIn(card, [outcome for outcome, _ in state.chance_outcomes()])
                        state.apply_action(card)
                    position = rules.settle(position, *drawn)
                    self.assert_secret(rules, position)
                    while not state.is_terminal():
                        [decision] = position["turn"]["decide"]
                        self.assertEqual(decision["seat"], (state.current_player() + first) % 2)
                        self.assertEqual(sorted(map(actions.__getitem__, decision["legal"])), state.legal_actions())
                        self.assertEqual(decision["view"]["card"], "JQK"[drawn[decision["seat"]]])
                        move = rng.choice(decision["legal"])
                        state.apply_action(actions[move])
                        position = rules.play(position, {decision["seat"]: move})
                        if not state.is_terminal():
                            self.assert_secret(rules, position)
                    returns = state.returns()
                    won = [returns[first], returns[1 - first]]
                    chips = [before + more for before, more in zip(chips, won)]
                    [event] = position["events"]
                    self.assertEqual(event["public"]["winner"], won.index(max(won)))
                    self.assertEqual(event["public"]["chips"], max(won))
                    # Cards are shown unless a seat has passed after a bet.
                    has_folded = str(state)[-2:] == "bp"
                    self.assertEqual("cards" in event["public"], not has_folded)
                self.assertEqual(position["turn"]["over"]["ranks"], ranks(chips))
                self.assertEqual(position["turn"]["over"]["amounts"], chips)

    def assert_secret(self, rules: Rules, position: Json) -> None:
        """What a viewer gets does not depend on the cards that it may not see."""
        cards = position["state"]["cards"]
        [third] = set("JQK") - set(cards)
        for seat in 0, 1:
            other = [*cards]
            other[1 - seat] = third
            state = {**position["state"], "cards": other}
            for viewer in seat, "public":
                shown = rules.ask("show", state=position["state"], viewer=viewer)
                self.assertEqual(shown, rules.ask("show", state=state, viewer=viewer))
        seen = rules.ask("show", state=position["state"], viewer="all")
        self.assertEqual(seen["view"]["cards"], cards)
        for event in position.get("events", []):
            self.assertEqual(event["public"], {"kind": "dealt"})
            dealt = {str(seat): {"kind": "dealt", "card": card} for seat, card in enumerate(cards)}
            self.assertEqual(event["seats"], dealt)

    def test_goofspiel(self) -> None:
        rng = random.Random(5)
        with Rules(GAMES / "goofspiel") as rules:
            for _ in range(MATCHES):
                seats, cards = rng.randint(2, 6), rng.randint(2, 13)
                parameters = {"players": seats, "num_cards": cards, "points_order": "random", "returns_type": "total_points"}
                state = pyspiel.load_game("goofspiel", parameters).new_initial_state()
                position = rules.start(seats, cards=cards)
                while "over" not in position["turn"]:
                    if "draw" in position["turn"]:
                        outcomes = [outcome for outcome, _ in state.chance_outcomes()]
                        self.assertEqual(position["turn"]["draw"], {"pick": len(outcomes)})
                        self.assertEqual(position["state"]["prizes"], [prize + 1 for prize in outcomes])
                        drawn = rng.randrange(len(outcomes))
                        state.apply_action(outcomes[drawn])
                        position = rules.settle(position, drawn)
                    else:
                        legal = self.assert_legal(position, state, lambda move: int(move) - 1)
                        moves = {seat: rng.choice(texts) for seat, texts in legal.items()}
                        state.apply_actions([int(moves[seat]) - 1 for seat in range(seats)])
                        position = rules.play(position, moves)
                self.assertEqual(position["state"]["points"], [int(points) for points in state.returns()])
                self.assert_over(position, state)

    def test_blotto(self) -> None:
        rng = random.Random(7)
        with Rules(GAMES / "blotto") as rules:
            for _ in range(MATCHES):
                coins, fields, battles = rng.randint(1, 12), rng.randint(2, 4), rng.randint(1, 5)
                game = pyspiel.load_game("blotto", {"coins": coins, "fields": fields})
                position, returns = rules.start(coins=coins, fields=fields, battles=battles), [0.0, 0.0]
                for _ in range(battles):
                    state = game.new_initial_state()
                    texts = [state.action_to_string(0, action) for action in state.legal_actions(0)]
                    listed = {text.strip("[]").replace(",", " "): action for action, text in enumerate(texts)}
                    self.assertEqual([set(decision) for decision in position["turn"]["decide"]], [{"seat", "view"}] * 2)
                    for text in listed:
                        checked = rules.ask("check", state=position["state"], seat=0, move=text)
                        self.assertEqual(checked, {"ok": True}, text)
                    for _ in range(20):
                        text = " ".join(str(rng.randint(0, coins)) for _ in range(rng.randint(fields - 1, fields + 1)))
                        checked = rules.ask("check", state=position["state"], seat=1, move=text)
                        self.assertEqual("ok" in checked, text in listed, f"{text}: {checked}")
                    moves = {seat: rng.choice(list(listed)) for seat in range(2)}
                    state.apply_actions([listed[moves[seat]] for seat in range(2)])
                    position = rules.play(position, moves)
                    [event] = position["events"]
                    winner = state.returns().index(1.0) if any(state.returns()) else None
                    self.assertEqual(event["all"].get("winner"), winner, str(moves))
                    returns = [before + more for before, more in zip(returns, state.returns())]
                self.assertEqual(position["turn"]["over"]["ranks"], ranks(returns))

    def test_rock_paper_scissors(self) -> None:
        rng = random.Random(6)
        choices = {"rock": 0, "paper": 1, "scissors": 2}
        with Rules(GAMES / "rock_paper_scissors") as rules:
            for _ in range(MATCHES):
                rounds = rng.randint(1, 12)
                position, returns = rules.start(rounds=rounds), [0.0, 0.0]
                for _ in range(rounds):
                    state = pyspiel.load_game("matrix_rps").new_initial_state()
                    legal = self.assert_legal(position, state, choices.__getitem__)
                    moves = {seat: rng.choice(texts) for seat, texts in legal.items()}
                    state.apply_actions([choices[moves[seat]] for seat in range(2)])
                    position = rules.play(position, moves)
                    [event] = position["events"]
                    winner = state.returns().index(1.0) if any(state.returns()) else None
                    self.assertEqual(event["all"].get("winner"), winner, str(moves))
                    returns = [before + more for before, more in zip(returns, state.returns())]
                self.assertEqual(position["turn"]["over"]["ranks"], ranks(returns))


if __name__ == "__main__":
    unittest.main()
