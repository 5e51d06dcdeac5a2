"""Imagined positions for search bots: legal moves, views, results and playouts without rules of one's own.

    from referee_bot.imagine import Imaginer

    imaginer = Imaginer()

    def choose(turn: Turn) -> str:
        position = imaginer.imagine(turn, worlds=64)
        lines = [[(turn.seat, move)] for move in turn.legal]
        scores = [scores[turn.seat] for scores in position.playouts(lines, count=100)]
        return turn.legal[scores.index(max(scores))]

It starts the program `referee imagine` beside the bot, on the bot's machine and in the bot's time. That program knows
only the views that the bot passes to it. `referee spec imagine` specifies its messages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Union

from .messages import Json, Turn

PROGRAM_VARIABLE = "REFEREE"
"""The environment variable with the path of the referee's program; without it, `referee` is looked for on the PATH."""

POSITIONS = 64
"""So many positions are kept; the next one replaces the oldest."""

_AT_ONCE = 64  # requests in one write: their answers must fit into the buffer of a pipe

SeatMove = tuple[int, str]
"""A seat and its move."""


class ImagineError(ValueError):
    """`referee imagine` rejected a request."""

    def __init__(self, error: Json) -> None:
        self.code = str(error["code"])
        """The code of its `error`, such as `illegal_move`."""
        super().__init__(f"{self.code}: {error['message']}")


@dataclass(frozen=True)
class State:
    """A position after some moves."""

    legal: dict[int, list[str]]
    """The legal moves of each seat that decides; empty when the game is over."""
    view: Json | None
    """The view of the seat `view_of`."""
    turns_left: int | None
    ranks: list[int] | None
    """The rank of each seat, from 1; None unless the game is over."""
    scores: list[float] | None
    """The score of each seat, 0 to 1; None unless the game is over."""
    amounts: list[float] | None
    """What each seat gets, in the unit of the game; None unless the game is over and has amounts."""
    reason: str | None
    """The rule that ended the game."""

    @classmethod
    def from_json(cls, answer: Json) -> State:
        over = answer.get("over", {})
        return cls(
            legal={decision["seat"]: decision["legal"] for decision in answer["decisions"]},
            view=answer.get("view"),
            turns_left=answer.get("turns_left"),
            ranks=over.get("ranks"),
            scores=over.get("scores"),
            amounts=over.get("amounts"),
            reason=over.get("reason"),
        )


class Position:
    """An imagined position: one or more worlds that agree with what a seat knows."""

    def __init__(self, imaginer: Imaginer, number: int, worlds: int) -> None:
        self._imaginer = imaginer
        self._number = number
        self.worlds = worlds
        """The number of worlds; 1 in games without hidden information."""

    def explore(
        self, moves: Sequence[SeatMove] = (), *, world: int = 0, seed: int = 0, view_of: int | None = None
    ) -> State:
        """Returns the position after these moves of all seats, in a world. Dice and shuffles derive from `seed`.

        Seats that decide simultaneously move in any order; while a move is missing, the others have not happened.

        Raises ImagineError if a move is not legal there.
        """
        request = {**self._request("explore", moves), "world": world, "seed": seed}
        if view_of is not None:
            request["view_of"] = view_of
        return State.from_json(self._imaginer.ask([request])[0])

    def playouts(
        self, lines: Sequence[Sequence[SeatMove]], count: int, *, world: int | None = None, seed: int = 0
    ) -> list[list[float]]:
        """Plays `count` random continuations after each of these lines of moves. Returns for each line the mean score
        of each seat, 0 to 1.

        Each playout begins in a random world unless `world` names one. With the same `seed`, all lines meet the same
        worlds.

        Raises ImagineError if a move is not legal in one of the worlds.
        """
        more = {"count": count, "seed": seed} if world is None else {"count": count, "seed": seed, "world": world}
        answers = self._imaginer.ask([{**self._request("playouts", moves), **more} for moves in lines])
        return [answer["scores"] for answer in answers]

    def _request(self, kind: str, moves: Sequence[SeatMove]) -> Json:
        if self._imaginer.positions[self._number] is not self:
            raise ValueError(f"this position was replaced: {POSITIONS} newer ones have been imagined")
        return {
            "type": kind,
            "position": self._number,
            "moves": [{"seat": seat, "move": move} for seat, move in moves],
        }


Program = Union[str, "os.PathLike[str]"]


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.wait()
    process.stdout.close()


class Imaginer:
    """A running `referee imagine`.

    `games` are the directories of games whose rules are programs, beside the games of the referee. Raises FileNotFoundError if
    the program is not found.
    """

    def __init__(self, program: Program | None = None, *, games: Sequence[Program] = ()) -> None:
        named = os.fspath(program or os.environ.get(PROGRAM_VARIABLE) or "referee")
        found = shutil.which(named)
        if found is None:
            where = "is not on the PATH" if named == "referee" else "is no program"
            raise FileNotFoundError(f"`{named}` {where}: install referee, or name its program in {PROGRAM_VARIABLE}")
        words = [word for game in games for word in ("--game", os.fspath(game))]
        self._process = subprocess.Popen([found, "imagine", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._end = weakref.finalize(self, _end, self._process)
        self._imagined = 0
        self.positions: list[Position | None] = [None] * POSITIONS
        """The positions that are kept, by number."""

    def imagine(self, turn: Turn, *, worlds: int = 1, seed: int = 0) -> Position:
        """Samples `worlds` positions, at most 256, that agree with what the seat of a turn knows.

        Raises ImagineError if the program does not know the game or its rules in this version.
        """
        number = self._imagined % POSITIONS
        request: Json = {
            "type": "imagine",
            "position": number,
            "game": turn.start.game,
            "rules": turn.start.rules,
            "seats": len(turn.start.seats),
            "options": turn.start.options,
            "seat": turn.seat,
            "view": turn.view,
            "worlds": worlds,
            "seed": seed,
        }
        if turn.turns_left is not None:
            request["turns_left"] = turn.turns_left
        position = Position(self, number, self.ask([request])[0]["worlds"])
        self._imagined += 1
        self.positions[number] = position
        return position

    def ask(self, requests: Sequence[Json]) -> list[Json]:
        """Sends requests as they are specified, and returns their answers.

        Raises ImagineError if one of them was rejected, ConnectionError if the program has ended.
        """
        answers = []
        for first in range(0, len(requests), _AT_ONCE):
            answers += self._exchange(requests[first : first + _AT_ONCE])
        for answer in answers:
            if answer["type"] == "error":
                raise ImagineError(answer)
        return answers

    def _exchange(self, requests: Sequence[Json]) -> list[Json]:
        assert self._process.stdin and self._process.stdout
        lines = "".join(json.dumps(request, separators=(",", ":")) + "\n" for request in requests)
        try:
            self._process.stdin.write(lines.encode("ascii"))
            self._process.stdin.flush()
            answers = [self._process.stdout.readline() for _ in requests]
        except BrokenPipeError:
            answers = [b""]
        if not answers[-1].endswith(b"\n"):
            raise ConnectionError("`referee imagine` has ended")
        return [json.loads(answer) for answer in answers]

    def close(self) -> None:
        """Ends the program."""
        self._end()

    def __enter__(self) -> Imaginer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
