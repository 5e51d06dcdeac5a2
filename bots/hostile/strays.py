#!/usr/bin/env python3
"""Sends `ready` thirty times during a match, then nothing.

A referee meets the first twenty with `error`, then calls `protocol` without waiting for the limit.
"""

import _bot


def stray(turn: _bot.Json) -> None:
    for _ in range(30):
        _bot.say_ready(turn)
    _bot.read_on()


_bot.play(stray)
