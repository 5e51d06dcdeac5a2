#!/usr/bin/env python3
"""Writes 200 MB to stderr while it continues to play.

The referee drains it continuously and keeps a bounded part. This is no fault and does not delay other bots.
"""

import os
import threading

import _bot

CHUNK = b"noise " * 10_000 + b"\n"


def flood() -> None:
    for _ in range(200_000_000 // len(CHUNK) + 1):
        os.write(2, CHUNK)


def answer_and_flood(turn: _bot.Json) -> None:
    threading.Thread(target=flood, daemon=True).start()
    _bot.answer(turn)


_bot.play(answer_and_flood)
