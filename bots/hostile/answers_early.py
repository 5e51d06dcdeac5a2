#!/usr/bin/env python3
"""Sends, right after a move, one for the request that is not yet made; then answers that one properly.

A referee meets the early move with `error`, does not keep it, and finds no fault: it happens ten times in a match.
"""

import _bot

TIMES = 10  # below the limit for messages out of their state


def answer_ahead(turn: _bot.Json) -> None:
    move = _bot.move(turn)
    early = {**move, "turn": move["turn"] + 1}
    is_time = min(_bot.POINTS) <= turn["turn"] < min(_bot.POINTS) + TIMES
    # In one write: after a second one, a fast opponent could have made the early move a timely one.
    _bot.write(_bot.line(move) + (_bot.line(early) if is_time else b""))


_bot.play(answer_ahead, turn=answer_ahead)
