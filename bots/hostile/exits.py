#!/usr/bin/env python3
"""Exits with status 3 instead of answering. The referee immediately reports `exited` with the status."""

import sys

import _bot


def leave(turn: _bot.Json) -> None:
    sys.exit(3)


_bot.play(leave)
