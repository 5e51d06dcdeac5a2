#!/usr/bin/env python3
"""Gives every answer twice. A referee takes the first, meets the stale second with `error`, and finds no fault."""

import _bot


def answer_twice(turn: _bot.Json) -> None:
    _bot.answer(turn)
    _bot.answer(turn)


_bot.play(answer_twice, turn=answer_twice)
