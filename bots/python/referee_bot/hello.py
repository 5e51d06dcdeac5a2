"""The bot's `hello`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .messages import Json

PROTOCOL = 1
"""The version of the protocol that this package speaks."""

_NAME = re.compile(r"[A-Za-z0-9._ -]{1,64}")
_PARTS = ("view", "legal", "event")


@dataclass(frozen=True)
class Hello:
    """The answer to the referee's `hello`.

    `games` lists the games of the bot (None: any), `slots` is the number of concurrent matches, `wants` selects which
    of `view`, `legal` and `event` the referee sends (None: all), and `push` requests events immediately. The `token`
    is sent only if the referee requires one.
    """

    name: str
    version: str | None = None
    author: str | None = None
    games: Sequence[str] | None = None
    slots: int = 1
    wants: Sequence[str] | None = None
    push: bool = False
    token: str | None = field(default=None, repr=False)
    reconnect: str | None = None
    """What the connections of the bot have in common, sent only if the referee offers it."""
    details: Mapping[str, str] | None = None
    """What identifies how the bot plays, such as its model and settings: at most 32 texts of at most 256 characters."""

    def __post_init__(self) -> None:
        # Refused here, with a reason, rather than by the referee after a start-up limit.
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name {self.name!r}: must be 1 to 64 of ASCII letters, digits, '.', '_', '-' and space")
        if self.slots < 1:
            raise ValueError(f"slots {self.slots}: must be at least 1")
        unknown = [part for part in self.wants or () if part not in _PARTS]
        if unknown:
            raise ValueError(f"wants {unknown}: must be among {', '.join(_PARTS)}")

    def to_json(self, *, asks_for_token: bool = False, reconnects: bool = False) -> Json:
        """Returns the message, without fields that have their defaults."""
        message: Json = {"type": "hello", "protocol": PROTOCOL, "name": self.name}
        if self.version is not None:
            message["version"] = self.version
        if self.author is not None:
            message["author"] = self.author
        if self.details:
            message["details"] = dict(self.details)
        if self.games is not None:
            message["games"] = list(self.games)
        if self.slots != 1:
            message["slots"] = self.slots
        if self.wants is not None:
            message["wants"] = list(self.wants)
        if self.push:
            message["push"] = True
        if self.token is not None and asks_for_token:
            message["token"] = self.token
        if self.reconnect is not None and reconnects:
            message["reconnect"] = self.reconnect
        return message
