#!/usr/bin/env python3
"""Sends `hello`, and exits with status 7 on `start`. The referee immediately reports `exited` with the status."""

import sys

import _bot


def exit_instead(start: _bot.Json) -> None:
    sys.exit(7)


_bot.play(start=exit_instead)
