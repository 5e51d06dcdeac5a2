"""Games whose rules are programs: what holds for any game."""

from __future__ import annotations

import json
import os
from abc import ABC
from collections.abc import Sequence

from ...messages import Json
from ..referee import started
from .encoding import Encoding, Word


class GameDirectory(Encoding, ABC):
    """A game in a directory with a `game.toml`. Action i is the move `legal[i]`.

    What a network should see of a view is known to no one but its author: a subclass has a `shape` and a `write`.
    `program` is the referee, which is asked for the id of the game and its numbers of seats; the first of these is the
    default.

    Raises ValueError if the directory has no game, or the game is not for so many seats.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        seats: int | None = None,
        *,
        actions: int = 256,
        program: str = "referee",
    ) -> None:
        # With a slash it is no id.
        path = os.path.join(os.fspath(directory), "")
        self.command = (program, "stdio", "--clock", "none", "--game", path)
        self.actions = actions
        self.words = ()
        process = started([program, "games", path, "--json"])
        described, _ = process.communicate()
        if process.returncode != 0:
            raise ValueError(f"{path} is no game; the referee has written why to standard error")
        game = json.loads(described)
        self.game = game["id"]
        self._is_simultaneous = game["simultaneous"]
        if seats is not None and seats not in game["seats"]:
            raise ValueError(f"{self.game} has {' or '.join(map(str, game['seats']))} seats, not {seats}")
        self.seats = seats or game["seats"][0]

    def spell(self, legal: Sequence[str], seat: int) -> dict[Word, str]:
        """Raises ValueError if there are more moves than actions."""
        if len(legal) > self.actions:
            raise ValueError(f"{self.game}: {len(legal)} legal moves; GameDirectory(actions=...) has {self.actions}")
        return {(action,): move for action, move in enumerate(legal)}

    def deciders(self, view: Json) -> int:
        """Raises ValueError if the game is simultaneous and its views do not have `to_move`, the seats that decide."""
        if not self._is_simultaneous:
            return 1
        if "to_move" not in view:
            raise ValueError(f"{self.game}: parallel_env needs `to_move` in the views: a list of the seats that decide")
        return len(view["to_move"])
