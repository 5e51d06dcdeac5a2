#!/usr/bin/env python3
"""Sends `accept_draw` without an offer, `open` and `abort` before each of five moves.

A referee meets each with `error`, does nothing of what they say, and finds no fault: they are fewer than the limit.
"""

import _bot

TURNS = 5  # of three claims each: below the limit for messages out of their state


def claim_and_answer(turn: _bot.Json) -> None:
    if min(_bot.POINTS) <= turn["turn"] < min(_bot.POINTS) + TURNS:
        match = turn["match"]
        _bot.send({"type": "accept_draw", "match": match, "seat": turn["seat"], "turn": turn["turn"]})
        _bot.send({"type": "open", "id": 1, "game": "checkers", "seats": 2})
        _bot.send({"type": "abort", "match": match})
    _bot.answer(turn)


_bot.play(claim_and_answer, turn=claim_and_answer)
