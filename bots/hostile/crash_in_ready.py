#!/usr/bin/env python3
"""Says hello, and exits with status 7 when the match starts. A referee calls `exited` at once, with the status."""

import sys

import _bot


def exit_instead(start: _bot.Json) -> None:
    sys.exit(7)


_bot.play(start=exit_instead)
