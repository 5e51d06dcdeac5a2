"""PettingZoo environments."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from ..messages import Json
from .agents import Agents, Arrays
from .encodings import Game
from .referee import Backend, Referee
from .table import Decision, blank


def env(
    game: Game,
    *,
    seats: int | None = None,
    options: Json | None = None,
    referee: Referee | None = None,
    backend: Backend = "process",
    render_mode: str | None = None,
) -> AECEnv:
    """Returns the environment of a game as PettingZoo's own come: an illegal action ends the match and costs 1.

    `game` is an id, the path of the directory of a game whose rules are a program (with a slash), or an encoding. `seats` is by default the game's smallest number, `options` are the game's. Without a `referee` it starts one of
    its own, which ends with `close`: a program or, with the `backend` `native`, one in this process. `render_mode`
    is `ansi`, `rgb_array` or None; another one raises gymnasium.error.UnsupportedMode.
    """
    raw = RefereeEnv(game, seats=seats, options=options, referee=referee, backend=backend, render_mode=render_mode)
    return wrappers.OrderEnforcingWrapper(wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1))


class RefereeEnv(Agents, AECEnv):  # type: ignore[misc]  # PettingZoo is not typed
    """The bare environment: `step` raises ValueError if the action is not possible."""

    def __init__(self, game: Game, **settings: Any) -> None:
        super().__init__(game, **settings)
        self.metadata["is_parallelizable"] = False
        self.infos: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, Decision] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a match. `options` mean nothing here: those of the game are given when the environment is made."""
        self._open(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._seen = {}
        self._go_on()

    def observe(self, agent: str) -> Arrays:
        """Returns what the agent saw when it was last asked for a move: all zeros before the first time.

        Only the agent that is asked now has possible actions.
        """
        arrays = blank(self._encoding)
        decision = self._seen.get(agent)
        if decision is not None:
            decision.write(arrays["observation"], arrays["action_mask"])
        return arrays

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is asked for an action, not None")
        self._table.act(action)
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self._go_on()
        self._accumulate_rewards()

    def _viewer(self) -> int:
        return self.possible_agents.index(self.agent_selection)

    def _go_on(self) -> None:
        self._referee.settle()
        if self._table.is_over:
            is_truncated = self._table.is_truncated()
            ending = self._table.ending()
            for agent, reward in zip(self.possible_agents, self._table.rewards()):
                self.rewards[agent] = reward
                self.terminations[agent] = not is_truncated
                self.truncations[agent] = is_truncated
                self.infos[agent] = {**self.infos[agent], "end": ending}
            self.agent_selection = self.agents[0]
        else:
            decision = self._table.decisions[0]
            agent = self.agent_selection = self.possible_agents[decision.seat]
            self._seen[agent] = decision
            self.infos[agent] = decision.info()
