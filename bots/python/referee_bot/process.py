"""A bot as a process of its own, which a referee starts and talks to over stdin and stdout."""

from __future__ import annotations

from collections.abc import Sequence

from .bot import Bot, Choose, FunctionBot
from .hello import Hello
from .session import Session
from .stream import Disconnected, take_stdio


def run(
    bot: Bot | Choose,
    *,
    name: str,
    version: str | None = None,
    author: str | None = None,
    games: Sequence[str] | None = None,
    slots: int = 1,
    wants: Sequence[str] | None = None,
    push: bool = False,
) -> None:
    """Plays every match that the referee starts; returns after its `bye` or at the end of the input.

    `bot` is a `Bot`, or just a function from a `Turn` to a move. For the other arguments see `Hello`. What the bot
    prints goes to stderr, which the referee keeps with the match. An exception in the bot ends the process, with its
    traceback on stderr: a bot that plays on after a defect hides it.

    Raises ValueError if `name`, `slots` or `wants` is not what the protocol allows.
    """
    hello = Hello(name, version, author, games, slots, wants, push)
    session = Session(bot if isinstance(bot, Bot) else FunctionBot(bot), hello)
    stream = take_stdio()
    for message in stream:
        if message.get("type") == "bye":
            return
        answer = session.handle(message)
        if answer is None:
            continue
        try:
            stream.send(answer)
        except Disconnected:
            return
