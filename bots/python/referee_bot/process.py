"""Runs a bot as a process, which the referee starts or which connects to the referee."""

from __future__ import annotations

from collections.abc import Sequence

from .bot import Bot, Choose, FunctionBot
from .connection import Connection
from .hello import Hello
from .session import Session
from .stream import Disconnected


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
    args: Sequence[str] | None = None,
) -> None:
    """Plays every match that the referee starts; returns after its `bye` or at the end of the input.

    `bot` is a `Bot`, a `BatchBot`, or just a function from a `Turn` to a move. For the other arguments see `Hello`.
    Without the option `--connect` among `args`, by default those of the process, the referee is at stdin and stdout,
    and what the bot prints goes to stderr, which the referee keeps with the match. For all options see `options`. An
    exception in the bot ends the process, with its traceback on stderr: a bot that plays on after a defect hides it.

    Raises ValueError if `name`, `slots` or `wants` is not what the protocol allows, OSError if there is no connection,
    `Refused` if the referee refuses the bot before its first match.
    """
    connection = Connection.from_args(args)
    hello = Hello(connection.name or name, version, author, games, slots, wants, push, connection.token)
    session = Session(bot if isinstance(bot, Bot) else FunctionBot(bot), hello)
    stream = connection.open()
    for messages in stream.batches():
        for answers in session.handle(messages):
            try:
                stream.send(*answers)
            except Disconnected:
                break
        if session.is_over:
            break
    if session.refusal:
        raise session.refusal
