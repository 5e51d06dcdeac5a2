"""What all PettingZoo environments have: agents with spaces, and a match of a referee."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from numpy.typing import NDArray

from ..messages import Json
from .encodings import Game, encoding
from .referee import Backend, Referee
from .render import RENDERING, Frame, check_mode, rendered
from .table import Table, observation_space

Arrays = dict[str, NDArray[Any]]


class Agents:
    """The agents of a match, one for each seat."""

    def __init__(
        self,
        game: Game,
        *,
        seats: int | None = None,
        options: Json | None = None,
        referee: Referee | None = None,
        backend: Backend = "process",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._encoding = encoding(game, seats)
        self.metadata: dict[str, Any] = {"name": f"{self._encoding.game}_v1", **RENDERING}
        self.possible_agents = [f"player_{seat}" for seat in range(self._encoding.seats)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(self._encoding) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self._encoding.actions) for agent in self.possible_agents}
        self.render_mode = check_mode(render_mode)
        self._referee = Referee.of(referee, backend, self._encoding)
        self._owns_referee = referee is None
        self._table = Table(self._referee, self._encoding, options, scenes=render_mode is not None)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def _open(self, seed: int | None) -> None:
        """Begins a match in place of the one before."""
        self._table.abort()
        self._referee.settle()
        self._table.open(seed)
        self.agents = self.possible_agents[:]

    def render(self) -> Frame:
        """Returns the position as the agent that is asked sees it; if there are several, the first of them.

        That is text with `render_mode` `ansi`, and an array of (height, width, 3) with `rgb_array`. An action that does
        not complete a move changes nothing in it. Without a render mode it is None, with a warning. Raises
        gymnasium.error.ResetNeeded before the first `reset`.
        """
        return rendered(self._table.scenes.get(self._viewer()) if self._table.scenes else None, self.render_mode)

    def _viewer(self) -> int:
        """Returns the seat whose scene is rendered."""
        raise NotImplementedError

    def close(self) -> None:
        """Aborts the match, and ends the referee if it is the environment's own."""
        if self._owns_referee:
            self._referee.close()
        else:
            self._table.abort()
            self._referee.settle()
