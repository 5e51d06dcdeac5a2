#!/usr/bin/env python3
"""Sends a move for the next request right after each move, then answers that request correctly.

A referee meets the early move with `error`, does not keep it, and finds no fault: it happens ten times in a match.
"""

import _bot

TIMES = 10  # below the limit for messages out of their state


def answer_ahead(turn: _bot.Json) -> None:
    move = _bot.move(turn)
    early = {**move, "turn": move["turn"] + 1}
    is_time = min(_bot.POINTS) <= turn["turn"] < min(_bot.POINTS) + TIMES
    # In one write: with a second write, the next request might arrive before the early move.
    _bot.write(_bot.line(move) + (_bot.line(early) if is_time else b""))


_bot.play(answer_ahead, turn=answer_ahead)
