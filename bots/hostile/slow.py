#!/usr/bin/env python3
"""Answers half a second after the limit, then plays correctly.

A referee has called `timeout` at the limit by then, and meets the late answer with `error` and nothing more.
"""

import time

import _bot


def answer_late(turn: _bot.Json) -> None:
    clock = turn.get("clock") or {"limit_ms": 0}
    time.sleep((clock["limit_ms"] + 500) / 1000)
    _bot.answer(turn)


_bot.play(answer_late)
