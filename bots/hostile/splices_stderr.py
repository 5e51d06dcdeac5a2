#!/usr/bin/env python3
"""Splices from a socket to stderr, some bytes first and then nothing: it locks the pipe. Continues to play.

The referee does not block on stderr, and other bots are not delayed.
"""

import os

import _bot
import _splice


def hold(turn: _bot.Json) -> None:
    start = _splice.into(2)
    for _ in range(100):
        os.write(start, b"noise\n")
    _bot.answer(turn)


_bot.play(hold)
