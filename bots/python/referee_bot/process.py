"""Runs a bot as a process, which the referee starts or which connects to the referee."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from .bot import Bot, Choose, FunctionBot
from .connection import Connection
from .hello import Hello
from .session import Session
from .stream import Disconnected, Stream


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
    details: Mapping[str, str] | None = None,
    args: Sequence[str] | None = None,
) -> None:
    """Plays every match that the referee starts; returns after its `bye` or at the end of the input.

    `bot` is a `Bot`, a `BatchBot`, or just a function from a `Turn` to a move. For the other arguments see `Hello`.
    Without the option `--connect` among `args`, by default those of the process, the referee is at stdin and stdout,
    and what the bot prints goes to stderr, which the referee keeps with the match. For all options see `options`. An
    exception in the bot ends the process, with its traceback on stderr: a bot that plays on after a defect hides it.
    If a connection over TCP is lost and the referee offers it, the bot connects again and its matches go on.
    It also does if the `bye` of a league asks for that.

    Raises ValueError if `name`, `slots` or `wants` is not what the protocol allows, OSError if there is no connection,
    `Refused` if the referee refuses the bot before its first match.
    """
    connection = Connection.from_args(args)
    # What all connections of this process have in common, so that a new one continues the matches of a lost one.
    instance = os.urandom(8).hex() if connection.address else None
    name = connection.name or name
    hello = Hello(name, version, author, games, slots, wants, push, connection.token, instance, details)
    session = Session(bot if isinstance(bot, Bot) else FunctionBot(bot), hello)
    stream: Stream | None = connection.open()
    loss = None
    while stream is not None:
        has_received = _play(session, stream)
        if session.is_over or not session.reconnects:
            break
        from .reconnect import Loss  # bots at stdin and stdout start faster without it

        if loss is None or has_received:
            loss = Loss()
        stream = loss.reconnect(connection)
    if session.refusal:
        raise session.refusal


def _play(session: Session, stream: Stream) -> bool:
    """Plays until the end of the stream. Returns whether there was a message."""
    has_received = False
    for messages in stream.batches():
        has_received = has_received or bool(messages)
        for answers in session.handle(messages):
            try:
                stream.send(*answers)
            except Disconnected:
                return has_received
        if session.is_over:
            break
    return has_received
