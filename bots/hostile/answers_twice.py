#!/usr/bin/env python3
"""Sends every answer twice. The referee accepts the first and rejects the stale second with `error`, without a fault."""

import _bot


def answer_twice(turn: _bot.Json) -> None:
    _bot.answer(turn)
    _bot.answer(turn)


_bot.play(answer_twice, turn=answer_twice)
