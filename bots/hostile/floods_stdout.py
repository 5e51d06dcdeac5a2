#!/usr/bin/env python3
"""Writes messages of an unknown type endlessly, as fast as it can.

A referee calls `protocol` after a bounded number of lines, stores none of them, and serves others meanwhile.
"""

import _bot


def flood(turn: _bot.Json) -> None:
    lines = _bot.line({"type": "weather", "sky": "grey"}) * 1000
    while True:
        _bot.write(lines)


_bot.play(flood)
