#!/usr/bin/env python3
"""Splices from stdin to a full socket: it locks the pipe. Then it causes the referee to write two errors.

A referee must not wait for it when it writes: it ends the bot, which has `exited`.
"""

import time

import _bot
import _splice


def hold(turn: _bot.Json) -> None:
    _splice.out_of(0)
    for _ in range(2):
        _bot.send({"type": "nonsense", "match": turn["match"]})
        time.sleep(0.1)
    _bot.sleep_on()


_bot.play(hold)
