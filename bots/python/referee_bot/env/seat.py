"""Gymnasium environments: one seat against opponents."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..messages import Json, Turn
from .encodings import Game, encoding
from .opponent import Opponent, player
from .referee import Backend, Referee
from .render import RENDERING, Frame, check_mode, rendered
from .table import Table, blank, observation_space

Arrays = dict[str, NDArray[Any]]


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat of a game. All the others are taken by `opponent`: by default one that plays at random.

    An action that is not possible ends the match and costs 1. Without a `referee` it starts its own, which ends
    with `close`: a program or, with the `backend` `native`, one in this process. An opponent that is a process is the
    caller's to close. `render_mode` is `ansi`, `rgb_array` or None; another one raises gymnasium.error.UnsupportedMode.
    """

    metadata = RENDERING

    def __init__(
        self,
        game: Game,
        opponent: Opponent | None = None,
        *,
        seat: int = 0,
        seats: int | None = None,
        options: Json | None = None,
        referee: Referee | None = None,
        backend: Backend = "process",
        render_mode: str | None = None,
    ) -> None:
        self._encoding = encoding(game, seats)
        if not 0 <= seat < self._encoding.seats:
            raise ValueError(f"seat {seat}: {self._encoding.game} has seats 0 to {self._encoding.seats - 1} here")
        self._seat = seat
        self._player = player(opponent or self._at_random)
        self.observation_space = observation_space(self._encoding)
        self.action_space = spaces.Discrete(self._encoding.actions)
        self.render_mode = check_mode(render_mode)
        self._referee = Referee.of(referee, backend, self._encoding, events=True)
        self._owns_referee = referee is None
        others = [other for other in range(self._encoding.seats) if other != seat]
        self._table = Table(self._referee, self._encoding, options, others, scenes=render_mode is not None)
        self._last = blank(self._encoding)

    def _at_random(self, turn: Turn) -> str:
        return turn.legal[self.np_random.integers(len(turn.legal))]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Arrays, dict[str, Any]]:
        """Begins a match and plays it up to the seat's first decision. `options` mean nothing here.

        Raises RuntimeError if the match ends before that.
        """
        super().reset(seed=seed)
        self._table.abort()
        self._go_on()
        self._table.open(seed)
        self._go_on()
        if self._table.is_over:
            raise RuntimeError(f"seat {self._seat} was not asked before the end: {self._table.ending()}")
        return self._look()

    def step(self, action: int) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        if self._table.is_over:
            raise RuntimeError("the match is over: reset the environment")
        try:
            self._table.act(action)
        except ValueError as error:
            self._table.abort()
            self._go_on()
            return self._again(), -1.0, True, False, {"illegal_action": str(error)}
        self._go_on()
        if not self._table.is_over:
            observation, info = self._look()
            return observation, 0.0, False, False, info
        is_truncated = self._table.is_truncated()
        reward = self._table.rewards()[self._seat]
        return self._again(), reward, not is_truncated, is_truncated, {"end": self._table.ending()}

    def render(self) -> Frame:
        """Returns the position as the seat sees it.

        That is text with `render_mode` `ansi`, and an array of (height, width, 3) with `rgb_array`. An action that does
        not complete a move changes nothing in it. Without a render mode it is None, with a warning. Raises
        gymnasium.error.ResetNeeded before the first `reset`.
        """
        return rendered(self._table.scenes.get(self._seat), self.render_mode)

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns which actions are possible, as MaskablePPO of sb3-contrib asks for them."""
        mask = np.zeros(self._encoding.actions, np.bool_)
        if not self._table.is_over:
            mask[self._table.decisions[0].actions()] = True
        return mask

    def _go_on(self) -> None:
        """Lets the opponents play until the seat is asked or the match is over."""
        self._referee.settle()
        while self._table.inbox:
            inbox, self._table.inbox = self._table.inbox, []
            answers = [answer for answers in self._player.handle(inbox) for answer in answers]
            self._table.answer(answer for answer in answers if answer["type"] != "ready")
            self._referee.settle()

    def _look(self) -> tuple[Arrays, dict[str, Any]]:
        decision = self._table.decisions[0]
        arrays = blank(self._encoding)
        decision.write(arrays["observation"], arrays["action_mask"])
        self._last = {name: array.copy() for name, array in arrays.items()}
        return arrays, decision.info()

    def _again(self) -> Arrays:
        """Returns the seat's last observation, since no seat observes a finished position."""
        return {"observation": self._last["observation"], "action_mask": blank(self._encoding)["action_mask"]}

    def close(self) -> None:
        """Aborts the match, and ends the referee if it is the environment's own."""
        if self._owns_referee:
            self._referee.close()
        else:
            self._table.abort()
            self._go_on()
