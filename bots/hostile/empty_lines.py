#!/usr/bin/env python3
"""Writes empty lines endlessly. The referee ignores a bounded number of them, then reports `protocol`."""

import _bot


def flood(turn: _bot.Json) -> None:
    while True:
        _bot.write(b"\n" * 10_000)


_bot.play(flood)
