"""A game of OpenSpiel for referee: `python rules.py "hex(board_size=5)"` answers the referee's requests.

`referee_game` and `pyspiel` are imported from the directory of this file if they are there.
"""

from __future__ import annotations

import math
import re
import string
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Optional
from urllib.parse import quote

import pyspiel

from referee_game import BadView, Decide, Dice, Event, Game, Json, Knowledge, Over, Pick, Step, Turn, Viewer, run

# The largest number of things of which the referee draws one.
_MOST_PICKED = 4_294_967_295
# The largest denominator of a probability that is taken for a fraction. Doubles near larger ones are too dense.
_MOST_PARTS = 65_535
# Dice that make a number below 7 * 10^16, which is more than a probability has digits.
_DICE = Dice(7, 255)
# Of games that draw their chance themselves: the number of seeds.
_SEEDS = Pick(2**31)
# The greatest amount of the referee.
_MOST_AMOUNT = 1e12
# The characters of a move that are written as they are.
_KEPT = "".join(set(string.printable) - set(string.whitespace) - set('"\\%')) + " "


class OpenSpielGame(Game["Optional[pyspiel.State]"]):
    """The rules of a game of the library. `name` may have parameters: `hex(board_size=5)`.

    A game that draws its chance itself, from its parameter `rng_seed`, begins with the draw of that seed: the state is None.
    """

    def __init__(self, name: str) -> None:
        self.game: pyspiel.Game = pyspiel.load_game(name)
        kind = self.game.get_type()
        self.is_hidden = kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
        self.is_seeded = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        # Some games draw their first position although their type says that they have no chance.
        has_chance = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
        self.has_chance = has_chance or self.game.new_initial_state().is_chance_node()

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the most return, if the library has both."""
        try:
            least, most = self.game.min_utility(), self.game.max_utility()
        except pyspiel.SpielError:
            return None
        # As returns are rounded.
        least, most = math.floor(least * 1e6) / 1e6, math.ceil(most * 1e6) / 1e6
        return (least, most) if -_MOST_AMOUNT <= least < most <= _MOST_AMOUNT else None

    def amounts(self, options: Json, seats: int) -> tuple[float, float] | None:
        return self.range

    def start(self, options: Json, seats: int) -> pyspiel.State | None:
        return None if self.is_seeded else self.game.new_initial_state()

    def seeded(self, seed: int, history: Iterable[int]) -> pyspiel.State:
        """Returns a state of a game that draws its chance itself: a game gives the same numbers once."""
        parameters = {**self.game.get_parameters(), "rng_seed": seed}
        state = pyspiel.load_game(self.game.get_type().short_name, parameters).new_initial_state()
        for action in history:
            state.apply_action(action)
        return state

    def turn(self, state: pyspiel.State | None) -> Turn:
        if state is None:
            return _SEEDS
        if state.is_terminal():
            # The sum of many rewards has errors of rounding.
            returns = [round(score, 6) for score in state.returns()]
            return Over.by_amounts(returns, "ended") if self.range else Over.by_scores(returns, "ended")
        if state.is_chance_node():
            return _draw(state.chance_outcomes())
        # In games with hidden information, the views tell what a player may know of a move.
        return [Decide(seat, list(_actions(state, seat)), unseen=self.is_hidden) for seat in _deciding(state)]

    def play(self, state: pyspiel.State | None, moves: dict[int, str]) -> Step[pyspiel.State | None]:
        assert state is not None
        after = state.clone()
        chosen = {seat: _actions(state, seat)[move] for seat, move in moves.items()}
        if state.is_simultaneous_node():
            after.apply_actions([chosen.get(seat, 0) for seat in range(state.num_players())])
        else:
            after.apply_action(chosen[state.current_player()])
        return Step(after, [self._seen(after)] if self.is_hidden else [])

    def settle(self, state: pyspiel.State | None, drawn: list[int]) -> Step[pyspiel.State | None]:
        if state is None:
            return Step(self.seeded(drawn[0], []))
        outcome = _outcome(state.chance_outcomes(), drawn)
        if self.is_seeded:
            after = self.seeded(_seed(state), [*state.history(), outcome])
        else:
            after = state.clone()
            after.apply_action(outcome)
        if self.is_hidden:
            return Step(after, [self._seen(after)])
        fact = {"kind": "drawn", "outcome": state.action_to_string(pyspiel.PlayerId.CHANCE, outcome)}
        return Step(after, [Event(fact)])

    def _seen(self, state: pyspiel.State) -> Event:
        """Returns an event that tells each player that decides what it knows now, and all at the end.

        The library distinguishes positions by what players know when they decide. Others do not see the event: that an opponent
        has moved, and how often, may be a secret.
        """

        def form(viewer: Viewer) -> Json:
            return {"kind": "seen", **self.view(state, viewer)}

        if state.is_chance_node():
            seats: list[int] = []
        else:
            seats = list(range(state.num_players()) if state.is_terminal() else _deciding(state))
        return Event(form("all"), seats={seat: form(seat) for seat in seats}, unseen=True)

    def view(self, state: pyspiel.State | None, viewer: Viewer) -> Json:
        view = {"state": self.text(state, viewer)}
        return view if self.is_hidden else {**view, "serialized": self.pack(state)}

    def imagine(self, knowledge: Knowledge) -> pyspiel.State | None:
        try:
            return self.unpack(knowledge.view["serialized"])
        except pyspiel.SpielError as error:
            raise BadView(f"serialized: {error}") from error

    def text(self, state: pyspiel.State | None, viewer: Viewer) -> str:
        if state is None:
            return "before the draw"
        if viewer == "all" or not self.is_hidden:
            return str(state)
        # What players see while they do not decide may tell them what others do.
        if viewer == "public" or not (state.is_terminal() or viewer in _deciding(state)):
            return "hidden information"
        if self.game.get_type().provides_information_state_string:
            return str(state.information_state_string(viewer))
        return str(state.observation_string(viewer))

    def pack(self, state: pyspiel.State | None) -> Any:
        if state is not None and self.is_seeded:
            return {"seed": _seed(state), "history": state.history()}
        return None if state is None else str(state.serialize())

    def unpack(self, packed: Any) -> pyspiel.State | None:
        if packed is not None and self.is_seeded:
            return self.seeded(packed["seed"], packed["history"])
        return None if packed is None else self.game.deserialize_state(packed)


def _seed(state: pyspiel.State) -> int:
    return int(state.get_game().get_parameters()["rng_seed"])


def _deciding(state: pyspiel.State) -> Iterator[int]:
    """Yields the players that decide, in ascending order."""
    if not state.is_simultaneous_node():
        yield state.current_player()
        return
    for player in range(state.num_players()):
        if state.legal_actions(player):
            yield player


def _actions(state: pyspiel.State, player: int) -> dict[str, int]:
    """Returns the actions of a player by their texts, with the number of the action where a text is not a unique move."""
    actions: dict[str, int] = {}
    for action in state.legal_actions(player):
        text = _escaped(str(state.action_to_string(player, action)))
        if not text or len(text) > 200:
            text = f"action {action}"
        actions[f"{text} ({action})" if text in actions else text] = action
    return actions


def _escaped(text: str) -> str:
    """Returns a text as a move. `urllib.parse.unquote` returns the text again."""
    return re.sub("^ +| +$", lambda spaces: "%20" * len(spaces[0]), quote(text, safe=_KEPT))


def _weights(outcomes: list[tuple[int, float]]) -> list[int] | None:
    """Returns whole numbers in proportion to the probabilities, with a sum that the referee can draw from, if there are any."""
    fractions = [Fraction(probability).limit_denominator(_MOST_PARTS) for _, probability in outcomes]
    common = 1
    for fraction in fractions:
        common = common * fraction.denominator // math.gcd(common, fraction.denominator)
        if common > _MOST_PICKED:
            return None
    weights = [int(fraction * common) for fraction in fractions]
    if sum(weights) != common or any(
        abs(probability - fraction) > 1e-9 for (_, probability), fraction in zip(outcomes, fractions)
    ):
        return None
    return weights


def _draw(outcomes: list[tuple[int, float]]) -> Turn:
    weights = _weights(outcomes)
    return _DICE if weights is None else Pick(sum(weights))


def _outcome(outcomes: list[tuple[int, float]], drawn: list[int]) -> int:
    """Returns the outcome of numbers that were drawn."""
    weights = _weights(outcomes)
    if weights is not None:
        left = drawn[0]
        for (outcome, _), weight in zip(outcomes, weights):
            left -= weight
            if left < 0:
                return outcome
    number = 0
    for die in drawn:
        number = number * _DICE.sides + die - 1
    share = Fraction(number, _DICE.sides**_DICE.count)
    for outcome, probability in outcomes:
        share -= Fraction(probability)
        if share < 0:
            return outcome
    # The probabilities sum to a little less than 1.
    return outcomes[-1][0]


if __name__ == "__main__":
    run(OpenSpielGame(sys.argv[1]))
