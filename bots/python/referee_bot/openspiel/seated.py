"""A bot of OpenSpiel as a bot of the referee."""

from __future__ import annotations

import random
from typing import Callable

import pyspiel

from ..bot import Bot
from ..messages import End, Start, Turn
from ..reply import AcceptDraw, Move, Reply
from .translation import action, is_over, squares, steps, text

MakeBot = Callable[[pyspiel.Game, int], pyspiel.Bot]
"""Makes a bot for a game and a player, 0 or 1."""

_START = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"


class Seated(Bot):
    """Plays checkers with a bot of OpenSpiel, a new one for each match.

    `make_bot` gets OpenSpiel's game and the player, whose number is the seat. The two sets of rules differ in two ways:

    - OpenSpiel ends the game after 40 plies without a capture, the referee after 50 (the option `draw_plies`). In
      between the bot offers and accepts draws, and moves at random.
    - OpenSpiel always begins with the initial position; `start` raises ValueError for another one. Openings of moves
      are possible.
    """

    def __init__(self, make_bot: MakeBot, rng: random.Random | None = None) -> None:
        self._make_bot = make_bot
        self._rng = rng or random.Random()
        self._tables: dict[tuple[str, int], _Table] = {}

    def start(self, start: Start) -> str | None:
        if start.game != "checkers":
            raise ValueError(f"OpenSpiel has no {start.game} with the rules of the referee; play checkers")
        if start.options.get("fen") != _START:
            raise ValueError("OpenSpiel's checkers cannot begin with another position; omit the option `fen`")
        game = pyspiel.load_game("checkers")
        self._tables[start.match, start.seat] = _Table(
            game.new_initial_state(), start.seat, self._make_bot(game, start.seat)
        )
        return None

    def choose(self, turn: Turn) -> Reply:
        table = self._tables[turn.match, turn.seat]
        for event in turn.events:
            if event["kind"] == "move":
                table.play(event["move"])
        if table.state.is_terminal():
            if turn.draw_offered:
                return AcceptDraw()
            return Move(self._rng.choice(turn.legal), offer_draw=True)
        move = table.choose()
        if move not in turn.legal:
            raise ValueError(f"the rules differ: the referee has no {move} in\n{table.state}")
        return move

    def state(self, match: str, seat: int) -> pyspiel.State:
        """Returns the position of a match as far as its events are known."""
        return self._tables[match, seat].state

    def end(self, end: End) -> None:
        self._tables.pop((end.match, end.seat), None)


class _Table:
    """A match: the state of OpenSpiel and the bot."""

    def __init__(self, state: pyspiel.State, player: int, bot: pyspiel.Bot) -> None:
        self.state = state
        self._player = player
        self._bot = bot

    def play(self, move: str) -> None:
        """Plays the move of either player, unless the game is over for OpenSpiel."""
        if self.state.is_terminal():
            return
        for step in steps(move):
            chosen = action(self.state, step)
            # A bot knows what it chose itself.
            if self.state.current_player() != self._player:
                self._bot.inform_action(self.state, 1 - self._player, chosen)
            self.state.apply_action(chosen)

    def choose(self) -> str:
        """Asks the bot for a move: an action, or one for each jump. The move becomes part of the state by its event."""
        state = self.state
        path: list[int] = []
        while True:
            chosen = self._bot.step(state)
            step = squares(state, chosen)
            path = [*(path or step[:1]), step[1]]
            after = state.child(chosen)
            if is_over(state, after):
                return text(path)
            state = after
