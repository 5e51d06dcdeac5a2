"""PettingZoo environments in which all seats that are asked act in one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv

from ..messages import Json
from .agents import Agents, Arrays
from .encodings import Game
from .referee import Backend, Referee
from .table import blank

ByAgent = dict[str, Any]


def parallel_env(
    game: Game,
    *,
    seats: int | None = None,
    options: Json | None = None,
    referee: Referee | None = None,
    backend: Backend = "process",
    render_mode: str | None = None,
) -> ParallelRefereeEnv:
    """Returns the parallel environment of a game, with the arguments of `env`."""
    return ParallelRefereeEnv(
        game, seats=seats, options=options, referee=referee, backend=backend, render_mode=render_mode
    )


class ParallelRefereeEnv(Agents, ParallelEnv):  # type: ignore[misc]  # PettingZoo is not typed
    """A match in which a step takes an action of every seat that is asked.

    Where seats decide simultaneously these are several, else one. The others have an action mask of zeros, and their
    actions are ignored. An action that is not possible ends the match and costs 1.
    """

    def __init__(self, game: Game, **settings: Any) -> None:
        super().__init__(game, **settings)
        self._seen: dict[str, Arrays] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Begins a match. `options` mean nothing here: those of the game are given when the environment is made."""
        self._open(seed)
        self._settle()
        self._seen = {}
        return self._observe(), self._infos()

    def step(self, actions: Mapping[str, int]) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        if not self.agents:
            raise RuntimeError("the match is over: reset the environment")
        agents = self.agents
        rewards = dict.fromkeys(agents, 0.0)
        is_terminated = is_truncated = False
        for decision in self._table.decisions:
            agent = self.possible_agents[decision.seat]
            if agent not in actions:
                raise ValueError(f"{agent} is asked for an action")
            if not decision.allows(int(actions[agent])):
                rewards[agent], is_terminated = -1.0, True
        if is_terminated:
            self._table.abort()
            self._settle()
            infos: ByAgent = {agent: {"illegal_action": rewards[agent] < 0} for agent in agents}
        else:
            for decision in self._table.decisions[:]:
                self._table.act(actions[self.possible_agents[decision.seat]], decision)
            self._settle()
            infos = self._infos()
            if self._table.is_over:
                rewards = dict(zip(self.possible_agents, self._table.rewards()))
                is_truncated = self._table.is_truncated()
                is_terminated = not is_truncated
                infos = {agent: {"end": self._table.ending()} for agent in agents}
        if is_terminated or is_truncated:
            self.agents = []
        observations = self._observe()
        return (
            observations,
            rewards,
            dict.fromkeys(agents, is_terminated),
            dict.fromkeys(agents, is_truncated),
            infos,
        )

    def _settle(self) -> None:
        """Waits for the requests to all seats that decide now."""
        awaits_all = not self._table.decisions
        self._referee.settle()
        while awaits_all and self._table.decisions and not self._table.is_over:
            if len(self._table.decisions) >= self._encoding.deciders(self._table.decisions[0].view):
                return
            self._referee.wait(self._table)
            self._referee.settle()

    def _observe(self) -> ByAgent:
        """Returns what the agents see: those that are not asked see their last observation."""
        for decision in self._table.decisions:
            arrays = blank(self._encoding)
            decision.write(arrays["observation"], arrays["action_mask"])
            self._seen[self.possible_agents[decision.seat]] = arrays
        asked = {self.possible_agents[decision.seat] for decision in self._table.decisions}
        return {agent: self._observation(agent, agent in asked) for agent in self.possible_agents}

    def _observation(self, agent: str, is_asked: bool) -> Arrays:
        arrays = blank(self._encoding)
        seen = self._seen.get(agent, arrays)
        arrays["observation"][...] = seen["observation"]
        if is_asked:
            arrays["action_mask"][...] = seen["action_mask"]
        return arrays

    def _infos(self) -> ByAgent:
        infos: ByAgent = {agent: {} for agent in self.possible_agents}
        for decision in self._table.decisions:
            infos[self.possible_agents[decision.seat]] = decision.info()
        return infos

    def _viewer(self) -> int:
        return self._table.decisions[0].seat if self._table.decisions else 0
