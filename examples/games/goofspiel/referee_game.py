"""Write the rules of a game for referee in Python: a class whose methods are functions of the position.

    from referee_game import Decide, Game, Over, run

    class Race(Game):
        def start(self, options, seats):
            return {"steps": [0] * seats, "seat": 0}

        def turn(self, state):
            if max(state["steps"]) >= 10:
                return Over.by_scores(state["steps"], "arrived")
            return Decide(state["seat"], ["one", "two"])

        def play(self, state, moves):
            for seat, move in moves.items():
                state["steps"][seat] += 1 if move == "one" else 2
            state["seat"] = (state["seat"] + 1) % len(state["steps"])
            return state

        def view(self, state, viewer):
            return state

    run(Race())

This file needs Python 3.9 and nothing else: copied next to a game as `referee_game.py`, it serves the game on every machine.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, Union

__version__ = "0.1.0"

__all__ = [
    "BadMove",
    "BadOptions",
    "BadView",
    "Decide",
    "Dice",
    "Event",
    "Game",
    "Json",
    "Knowledge",
    "Over",
    "Pick",
    "Program",
    "Shuffle",
    "Step",
    "Turn",
    "Viewer",
    "run",
]

Json = dict[str, Any]
"""A JSON object."""

State = TypeVar("State")
"""A position, in a form of the game's own choice."""

Viewer = Union[int, Literal["public", "all"]]
"""Who sees a position: a seat, spectators (`public`), or the record (`all`)."""

# Unpacked states of a few dozen matches. A state has at most 64 KiB.
_MOST_KEPT = 256

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class BadOptions(Exception):
    """`start` refuses the options. The text names the option, its value, and what would be right."""


class BadMove(Exception):
    """`check` refuses a move. The text says why; the bot gets it."""


class BadView(Exception):
    """`imagine` refuses the view. The text says what contradicts the rules."""


@dataclass(frozen=True)
class Decide:
    """A seat decides, without seeing the decisions of other seats on the same turn.

    `seat` counts from 0. `legal` lists all legal moves, at least one, each once: printable ASCII without quote and
    backslash, at most 256 bytes each. If nobody can list them, it is None, and the game has `check`. Only the seat sees its
    move if it is `secret`. If it is `unseen`, the others do not even see that the seat has moved.
    """

    seat: int
    legal: Sequence[str] | None
    secret: bool = False
    unseen: bool = False


@dataclass(frozen=True)
class Dice:
    """The referee rolls dice: `settle` gets `count` numbers from 1 to `sides`."""

    count: int = 1
    sides: int = 6


@dataclass(frozen=True)
class Pick:
    """The referee draws one of `of` things, at most 4,294,967,295: `settle` gets a list of one number from 0 to `of` - 1."""

    of: int


@dataclass(frozen=True)
class Shuffle:
    """The referee shuffles `count` things, at most 65,535: `settle` gets the numbers from 0 to `count` - 1 in random order."""

    count: int


@dataclass(frozen=True)
class Over:
    """The end. `ranks` has a number for each side, one more than the number of better sides: [1, 2] if side 0 wins,
    [1, 1] for a draw. `reason` is one of the manifest, or `turn_limit`. In a game with `amounts` in the manifest, `amounts` has
    what each side gets.
    """

    ranks: Sequence[int]
    reason: str
    amounts: Sequence[float] | None = None

    @classmethod
    def by_scores(cls, scores: Sequence[float], reason: str) -> Over:
        """Ranks the sides by scores, of which only the order counts: the highest is the best."""
        return cls([1 + sum(other > score for other in scores) for score in scores], reason)

    @classmethod
    def by_amounts(cls, amounts: Sequence[float], reason: str) -> Over:
        """Gives the sides these amounts, which rank them, too."""
        return cls(cls.by_scores(amounts, reason).ranks, reason, amounts)


Turn = Union[Decide, Sequence[Decide], Dice, Pick, Shuffle, Over]
"""What comes next. Several seats that decide at once are listed in ascending order."""


@dataclass(frozen=True)
class Event:
    """A fact that bots cannot know from the moves, such as a card that was drawn.

    Each form is an object with a text `kind`. `all` goes to the record, `public` to spectators and to every seat without
    a form of its own in `seats`. Without hidden information, `public` may be absent: everyone gets `all`. If the event is
    `unseen`, only the record and the seats in `seats` get it, and the others do not see that anything has happened.
    """

    all: Json
    public: Json | None = None
    seats: Mapping[int, Json] = field(default_factory=dict)
    unseen: bool = False


@dataclass(frozen=True)
class Step(Generic[State]):
    """A state, with the events on the way to it, at most 1,000."""

    state: State
    events: Sequence[Event] = ()


@dataclass(frozen=True)
class Knowledge:
    """What a seat that decides knows: its view, the options, and the number of turns until the turn limit.

    `random` chooses what the seat does not know. It is the same for the same request.
    """

    options: Json
    seats: int
    seat: int
    view: Json
    turns_left: int | None
    random: random.Random


class Game(Generic[State]):
    """The rules of a game.

    A state is JSON, such as a dict, unless `pack` and `unpack` translate it. The result of each method depends on its
    arguments alone: keep nothing in attributes, and draw no random numbers.
    """

    def start(self, options: Json, seats: int) -> State:
        """Returns the initial state. `options` has all options of the manifest; `seats` is the number of seats.

        Raises BadOptions if there is no such game.
        """
        raise NotImplementedError

    def turn(self, state: State) -> Turn:
        """Returns what comes next: who decides, what the referee draws, or the result."""
        raise NotImplementedError

    def play(self, state: State, moves: dict[int, str]) -> State | Step[State]:
        """Returns the state after the decisions. `moves` has a legal move for each seat that decides, in ascending order.

        It may change `state` and return it, unless `unpack` is overridden.
        """
        raise NotImplementedError

    def check(self, state: State, seat: int, move: str) -> None:
        """Accepts a move of a decision without a list of legal moves: printable ASCII without quote and backslash, at most
        16,384 bytes. `check = true` in the manifest.

        Raises BadMove if it is not legal.
        """
        raise NotImplementedError

    def settle(self, state: State, drawn: list[int]) -> State | Step[State]:
        """Returns the state after a draw. `drawn` has the numbers: see `Dice`, `Pick` and `Shuffle`.

        It may change `state` and return it, unless `unpack` is overridden.
        """
        raise NotImplementedError

    def view(self, state: State, viewer: Viewer) -> Json:
        """Returns what a viewer may see of the state. Bots and people get the same."""
        raise NotImplementedError

    def imagine(self, knowledge: Knowledge) -> State:
        """Returns a state in which the seat has the same view and the same legal moves, all such states with the same
        probability. Bots search in it; `imagine = true` in the manifest.

        Raises BadView if there is no such state.
        """
        raise NotImplementedError

    def export(self, form: str, match: Json) -> str:
        """Returns a finished match in a notation, such as SGF; `export = ["sgf"]` in the manifest names the forms.

        `match` has the fields of the request: `options`, `names`, `moves`, `draws`, `ranks` and others, see `referee spec games`.
        """
        raise NotImplementedError

    def amounts(self, options: Json, seats: int) -> tuple[float, float] | None:
        """Returns the least and the most that a side can get, or None if results are ranks alone. `amounts = "chips"` in the
        manifest names the unit.

        A side that forfeits or resigns gets the least, its last opponent the most.
        """
        return None

    def turns_left(self, state: State) -> int | None:
        """Returns the number of turns until the turn limit, including this one, or None if there is no limit."""
        return None

    def text(self, state: State, viewer: Viewer) -> str | None:
        """Returns the board for terminals as the viewer may see it, or None for the words of the scene."""
        return None

    def scene(self, state: State, viewer: Viewer) -> Json | None:
        """Returns the position as shapes as the viewer may see it, or None for the text: see `referee spec games`."""
        return None

    def pack(self, state: State) -> Any:
        """Returns the state as JSON, at most 64 KiB."""
        return state

    def unpack(self, packed: Any) -> State:
        """Returns the state that was packed. Unpacked states are kept for later requests, so no method may change them."""
        state: State = packed
        return state


class Program(Generic[State]):
    """Answers the referee's requests about a game."""

    def __init__(self, game: Game[State]) -> None:
        self._game = game
        self._keeps = type(game).unpack is not Game.unpack
        self._kept: OrderedDict[str, State] = OrderedDict()

    def answer(self, request: Json) -> Json:
        """Returns the answer to a request, as `referee spec games` describes both."""
        kind = request["type"]
        if kind == "start":
            try:
                position = self._position(self._game.start(request["options"], request["seats"]))
            except BadOptions as why:
                return {"bad_options": str(why)}
            amounts = self._game.amounts(request["options"], request["seats"])
            return position if amounts is None else {**position, "amounts": {"least": amounts[0], "most": amounts[1]}}
        if kind == "imagine":
            try:
                return self._position(self._game.imagine(_knowledge(request)))
            except BadView as why:
                return {"bad_view": str(why)}
        if kind == "export":
            return {"text": self._game.export(request["form"], request)}
        state = self._unpack(request["state"])
        if kind == "play":
            return self._position(self._game.play(state, {move["seat"]: move["move"] for move in request["moves"]}))
        if kind == "settle":
            return self._position(self._game.settle(state, request["drawn"]))
        if kind == "check":
            try:
                self._game.check(state, request["seat"], request["move"])
            except BadMove as why:
                return {"bad_move": str(why)}
            return {"ok": True}
        if kind == "show":
            return self._show(state, request["viewer"])
        raise ValueError(f"unknown request `{kind}`; expected `start`, `play`, `settle`, `check`, `imagine`, `show` or `export`")

    def answer_line(self, line: str | bytes) -> str:
        """Returns the answer to a request, both as a line of JSON."""
        return _encode(self.answer(json.loads(line))) + "\n"

    def _position(self, reached: State | Step[State]) -> Json:
        step: Step[State] = reached if isinstance(reached, Step) else Step(reached)
        state: State = step.state
        packed = self._game.pack(state)
        if self._keeps:
            self._keep(_encode(packed), state)
        answer: Json = {"state": packed, "turn": self._turn(state)}
        if step.events:
            answer["events"] = [_event(event) for event in step.events]
        turns_left = self._game.turns_left(state)
        if turns_left is not None:
            answer["turns_left"] = turns_left
        return answer

    def _turn(self, state: State) -> Json:
        turn = self._game.turn(state)
        if isinstance(turn, Decide):
            turn = [turn]
        if isinstance(turn, Over):
            over: Json = {"ranks": list(turn.ranks), "reason": turn.reason}
            return {"over": over if turn.amounts is None else {**over, "amounts": list(turn.amounts)}}
        if isinstance(turn, Dice):
            return {"draw": {"dice": {"count": turn.count, "sides": turn.sides}}}
        if isinstance(turn, Pick):
            return {"draw": {"pick": turn.of}}
        if isinstance(turn, Shuffle):
            return {"draw": {"shuffle": turn.count}}
        if isinstance(turn, Sequence) and all(isinstance(decide, Decide) for decide in turn):
            return {"decide": [self._decide(state, decide) for decide in turn]}
        raise TypeError(f"turn returned {turn!r}; expected Decide, a list of them, Dice, Pick, Shuffle or Over")

    def _decide(self, state: State, decide: Decide) -> Json:
        answer: Json = {"seat": decide.seat}
        if decide.legal is not None:
            answer["legal"] = list(decide.legal)
        answer["view"] = self._game.view(state, decide.seat)
        if decide.secret:
            answer["secret"] = True
        if decide.unseen:
            answer["unseen"] = True
        return answer

    def _show(self, state: State, viewer: Viewer) -> Json:
        answer: Json = {"view": self._game.view(state, viewer)}
        text, scene = self._game.text(state, viewer), self._game.scene(state, viewer)
        if text is not None:
            answer["text"] = text
        if scene is not None:
            answer["scene"] = scene
        return answer

    def _unpack(self, packed: Any) -> State:
        if not self._keeps:
            return self._game.unpack(packed)
        key = _encode(packed)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        state = self._game.unpack(packed)
        self._keep(key, state)
        return state

    def _keep(self, key: str, state: State) -> None:
        self._kept[key] = state
        self._kept.move_to_end(key)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)


def _knowledge(request: Json) -> Knowledge:
    seed = "".join(map("{:08x}".format, request["random"]))
    options, seats, seat, view = (request[name] for name in ("options", "seats", "seat", "view"))
    return Knowledge(options, seats, seat, view, request.get("turns_left"), random.Random(seed))


def _event(event: Event) -> Json:
    answer: Json = {"all": event.all}
    if event.public is not None or event.unseen:
        answer["public"] = None if event.unseen else event.public
    if event.seats:
        answer["seats"] = {str(seat): form for seat, form in event.seats.items()}
    return answer


def run(game: Game[Any]) -> None:
    """Answers the referee until the end of the input.

    What the game prints goes to standard error. An exception ends the process, with its traceback there: the referee quotes
    it, and no bot is at fault.
    """
    # The pipe moves to a descriptor that nothing else writes to.
    pipe = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    program = Program(game)
    with os.fdopen(pipe, "w", encoding="ascii") as answers:
        for line in sys.stdin.buffer:
            answers.write(program.answer_line(line))
            answers.flush()
