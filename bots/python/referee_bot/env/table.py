"""Where one environment plays its matches, one after the other."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Container, Iterable
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..messages import Json
from .encodings import Encoding, Observation
from .referee import Referee


class Decision:
    """A seat is asked for a move, which one action spells or several."""

    def __init__(self, encoding: Encoding, message: Json, events: list[Json]) -> None:
        self.seat: int = message["seat"]
        self.turn: int = message["turn"]
        self.view: Json = message["view"]
        if "legal" not in message:
            raise ValueError("the game does not list its moves, which environments need")
        self.legal: list[str] = message["legal"]
        self.turns_left: int | None = message.get("turns_left")
        self.events = events
        self._encoding = encoding
        self._chosen: tuple[int, ...] = ()
        self._moves = encoding.spell(self.legal, self.seat)

    def actions(self) -> list[int]:
        """Returns the actions that are possible now; one may be there more than once."""
        at = len(self._chosen)
        return [word[at] for word in self._moves]

    def allows(self, action: int) -> bool:
        """Whether the action is possible now."""
        return (*self._chosen, action) in self._moves or action in self.actions()

    def choose(self, action: int) -> str | None:
        """Takes an action. Returns the move when it is complete. Raises ValueError if the action is not possible."""
        if not self.allows(action):
            raise ValueError(f"action {action} is not possible: the action mask shows those that are")
        at = len(self._chosen)
        self._chosen += (action,)
        move = self._moves.get(self._chosen)
        if move is None:
            self._moves = {word: move for word, move in self._moves.items() if word[at] == action}
        else:
            self._chosen, self._moves = (), {}  # what the seat was shown, and nothing more to choose
        return move

    def write(self, observation: Observation, mask: NDArray[np.int8]) -> None:
        """Writes what the seat sees and may do into arrays of zeros."""
        self._encoding.write(observation, self.view, self.seat, self._chosen)
        mask[self.actions()] = 1

    def info(self) -> dict[str, Any]:
        """Returns the contents of the request. Between the actions of a move they are copies: users keep what they were given."""
        contents = {"view": self.view, "legal": self.legal, "turns_left": self.turns_left, "events": self.events}
        return deepcopy(contents) if self._chosen else contents


class Table:
    """The matches of one environment. Messages to the seats in `others` go to `inbox` unchanged."""

    def __init__(
        self,
        referee: Referee,
        encoding: Encoding,
        options: Json | None = None,
        others: Container[int] = (),
        *,
        scenes: bool = False,
    ) -> None:
        self._referee = referee
        self._encoding = encoding
        self._setup = {"game": encoding.game, "seats": encoding.seats, "options": options or {}, "scenes": scenes}
        self._others = others
        self._seed: str | None = None
        self._episode = 0
        self._match: str | None = None
        self._ends = 0
        self._is_aborted = False
        self._events: list[list[Json]] = []
        self.decisions: list[Decision] = []
        """Those that are open, the first one first."""
        self.inbox: list[Json] = []
        self.end: Json = {}
        self.scenes: dict[int, Json] = {}
        """What each seat saw when it was last asked, or at the end; only with `scenes`."""

    @property
    def is_over(self) -> bool:
        """Whether every seat has received `end`, or no match has begun."""
        return self._match is None or self._ends == self._encoding.seats

    def abort(self) -> None:
        """Aborts the match, if one is running."""
        if not self.is_over:
            self._is_aborted = True
            self.decisions = []
            self.inbox = [message for message in self.inbox if message["type"] != "turn"]
            self._referee.send({"type": "abort", "match": self._match})
            self._referee.wait(self)

    def open(self, seed: int | None) -> None:
        """Begins a match: that of the seed or, without one, the next after it."""
        self._episode += 1
        if seed is not None:
            self._seed, self._episode = match_seed(seed), 0
        elif self._seed is None:
            self._seed, self._episode = secrets.token_hex(32), 0
        self._match, self._ends, self._is_aborted = None, 0, False
        self._events = [[] for _ in range(self._encoding.seats)]
        self.decisions, self.inbox, self.end, self.scenes = [], [], {}, {}
        self._referee.open(self, {**self._setup, "seed": self._seed, "deal": f"e{self._episode}"})

    def act(self, action: int, decision: Decision | None = None) -> None:
        """Takes an action of an open decision, by default the first one. Raises ValueError if it is not possible."""
        decision = decision or self.decisions[0]
        move = decision.choose(int(action))
        if move is not None:
            self.decisions.remove(decision)
            where = {"match": self._match, "seat": decision.seat, "turn": decision.turn}
            self._referee.send({"type": "move", **where, "move": move})
            if not self.decisions:
                self._referee.wait(self)

    def answer(self, messages: Iterable[Json]) -> None:
        """Sends the answers of the other seats to the messages in their inbox."""
        self._referee.send(*messages)
        if not self.decisions and not self.is_over:
            self._referee.wait(self)

    def handle(self, message: Json) -> bool:
        """Processes a message to a seat. Returns whether the table waited for it."""
        kind, seat = message["type"], message["seat"]
        if "scene" in message:
            self.scenes[seat] = message.pop("scene")
        if kind == "start":
            self._match = message["match"]
        elif kind == "end":
            self.end = message
            self._ends += 1
            self.decisions = []
        if kind == "turn" and self._is_aborted:
            return False
        if seat in self._others:
            self.inbox.append(message)
        elif kind == "event":
            self._events[seat].append(message["event"])
        elif kind == "turn":
            events, self._events[seat] = self._events[seat], []
            self.decisions.append(Decision(self._encoding, message, events))
        return self.is_over or kind == "turn"

    def rewards(self) -> list[float]:
        """Returns what the end is worth to each seat, from -1 to 1; the sides together get 0."""
        scores = self.end.get("scores") or [0.5] * self._encoding.seats
        return [2 * score - 1 for score in scores]

    def is_truncated(self) -> bool:
        """Whether the match ended although the rules did not end it."""
        return self.end["ended_by"] in ("turn_limit", "aborted")

    def ending(self) -> Json:
        """Returns how the match ended, without what differs between runs."""
        ending = {name: self.end.get(name) for name in ("ranks", "scores", "ended_by", "reason", "fault")}
        return {**ending, "amounts": self.end["amounts"]} if "amounts" in self.end else ending


def match_seed(seed: int) -> str:
    """Returns the match seed for an environment's seed: a SHA-256 in hex."""
    return hashlib.sha256(f"referee_bot.env/1\n{seed}".encode("ascii")).hexdigest()


def observation_space(encoding: Encoding) -> spaces.Dict:
    """Returns the space of observations with their masks."""
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, encoding.shape, np.float32),
            "action_mask": spaces.Box(0, 1, (encoding.actions,), np.int8),
        }
    )


def blank(encoding: Encoding) -> dict[str, NDArray[Any]]:
    """Returns an observation of nothing, without a possible action."""
    return {
        "observation": np.zeros(encoding.shape, np.float32),
        "action_mask": np.zeros(encoding.actions, np.int8),
    }
