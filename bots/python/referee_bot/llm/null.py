"""The null model: random legal moves through the same path as those of a model."""

from __future__ import annotations

import json
import random

from ..messages import Json
from .chat import Answer, Chat, Spent

NULL = "null"
"""The name of the null model."""

_STYLES = [
    lambda move: json.dumps({"move": move}),
    lambda move: f"```json\n{json.dumps({'move': move})}\n```",
    lambda move: f"**{move}**",
    lambda move: f"I play {move}.",
    lambda move: f"`{move}`",
]


class NullChat(Chat):
    """Chooses at random, and says it in one of several styles. What it measures is the harness: its strength is that of random moves."""

    def __init__(self, chooser: random.Random) -> None:
        super().__init__("", NULL)
        self._chooser = chooser

    def ask(self, messages: list[Json], choices: list[str], deadline: float, spent: Spent, about: Json) -> Answer:
        spent.requests += 1
        if not choices:
            return Answer("", "the null model needs the list of legal moves", "empty")
        return Answer(self._chooser.choice(_STYLES)(self._chooser.choice(choices)))
