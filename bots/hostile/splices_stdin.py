#!/usr/bin/env python3
"""Splices from stdin to a full socket: it locks the pipe. Then it causes the referee to write errors.

A referee must not wait for it when it writes: it ends the bot, which has `exited`.
"""

import time

import _bot
import _splice


def hold(turn: _bot.Json) -> None:
    _splice.out_of(0)
    # The second one would do, if the child has locked the pipe by then. 21 would be a fault.
    for _ in range(20):
        _bot.send({"type": "nonsense", "match": turn["match"]})
        time.sleep(0.1)
    _bot.sleep_on()


_bot.play(hold)
