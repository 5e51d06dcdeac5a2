"""A game of OpenSpiel for referee: `python rules.py "hex(board_size=5)"` answers the referee's requests.

`referee_game` and `pyspiel` are imported from the directory of this file if they are there.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from fractions import Fraction

import pyspiel

from referee_game import BadView, Decide, Dice, Event, Game, Json, Knowledge, Over, Pick, Step, Turn, Viewer, run

# The largest number of things of which the referee draws one.
_MOST_PICKED = 4_294_967_295
# The largest denominator of a probability that is taken for a fraction. Doubles near larger ones are too dense.
_MOST_PARTS = 65_535
# Dice that make a number below 7 * 10^16, which is more than a probability has digits.
_DICE = Dice(7, 255)


class OpenSpielGame(Game["pyspiel.State"]):
    """The rules of a game of the library. `name` may have parameters: `hex(board_size=5)`."""

    def __init__(self, name: str) -> None:
        self.game: pyspiel.Game = pyspiel.load_game(name)
        self.is_hidden = self.game.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION

    def start(self, options: Json, seats: int) -> pyspiel.State:
        return self.game.new_initial_state()

    def turn(self, state: pyspiel.State) -> Turn:
        if state.is_terminal():
            # The sum of many rewards has errors of rounding.
            return Over.by_scores([round(score, 6) for score in state.returns()], "ended")
        if state.is_chance_node():
            return _draw(state.chance_outcomes())
        # In games with hidden information, the views tell what a player may know of a move.
        return [Decide(seat, list(_actions(state, seat)), self.is_hidden) for seat in _deciding(state)]

    def play(self, state: pyspiel.State, moves: dict[int, str]) -> Step[pyspiel.State]:
        after = state.clone()
        chosen = {seat: _actions(state, seat)[move] for seat, move in moves.items()}
        if state.is_simultaneous_node():
            after.apply_actions([chosen.get(seat, 0) for seat in range(state.num_players())])
        else:
            after.apply_action(chosen[state.current_player()])
        return Step(after, [self._seen(after)] if self.is_hidden else [])

    def settle(self, state: pyspiel.State, drawn: list[int]) -> Step[pyspiel.State]:
        outcome = _outcome(state.chance_outcomes(), drawn)
        after = state.clone()
        after.apply_action(outcome)
        if self.is_hidden:
            return Step(after, [self._seen(after)])
        fact = {"kind": "drawn", "outcome": state.action_to_string(pyspiel.PlayerId.CHANCE, outcome)}
        return Step(after, [Event(fact)])

    def _seen(self, state: pyspiel.State) -> Event:
        """Returns an event that tells each player what it knows now. Who decides next is no secret."""

        def form(viewer: Viewer) -> Json:
            deciding = [] if state.is_terminal() or state.is_chance_node() else list(_deciding(state))
            return {"kind": "seen", "deciding": deciding, **self.view(state, viewer)}

        return Event(form("all"), form("public"), {seat: form(seat) for seat in range(state.num_players())})

    def view(self, state: pyspiel.State, viewer: Viewer) -> Json:
        view = {"state": self.text(state, viewer)}
        return view if self.is_hidden else {**view, "serialized": self.pack(state)}

    def imagine(self, knowledge: Knowledge) -> pyspiel.State:
        try:
            return self.unpack(knowledge.view["serialized"])
        except pyspiel.SpielError as error:
            raise BadView(f"serialized: {error}") from error

    def text(self, state: pyspiel.State, viewer: Viewer) -> str:
        if viewer == "all" or not self.is_hidden:
            return str(state)
        if viewer == "public":
            return f"after {state.move_number()} moves and draws"
        if self.game.get_type().provides_information_state_string:
            return str(state.information_state_string(viewer))
        return str(state.observation_string(viewer))

    def pack(self, state: pyspiel.State) -> str:
        return str(state.serialize())

    def unpack(self, packed: str) -> pyspiel.State:
        return self.game.deserialize_state(packed)


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
        text = str(state.action_to_string(player, action)).strip().replace('"', "'").replace("\\", "/")
        if not text or not text.isascii() or not text.isprintable() or len(text) > 200:
            text = f"action {action}"
        actions[f"{text} ({action})" if text in actions else text] = action
    return actions


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
