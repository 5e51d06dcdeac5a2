#!/usr/bin/env python3
"""Closes its stdout instead of answering, and lives on. A referee calls `disconnected` at once, and ends it."""

import os

import _bot


def close(turn: _bot.Json) -> None:
    os.close(1)
    _bot.read_on()


_bot.play(close)
