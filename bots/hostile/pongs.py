#!/usr/bin/env python3
"""Sends `pong` endlessly, without a ping. The referee ignores a bounded number of them, then reports `protocol`."""

import _bot


def flood(turn: _bot.Json) -> None:
    lines = _bot.line({"type": "pong", "id": 1}) * 1000
    while True:
        _bot.write(lines)


_bot.play(flood)
