#!/usr/bin/env python3
"""Splices its answers from a socket to stdout, as a bridge to a bot on another machine might. It holds the pipe.

A referee must not wait for it when it reads: it ends the bot, which has `exited`.
"""

import os
import time

import _bot
import _splice


def build_bridge(turn: _bot.Json) -> None:
    os.dup2(_splice.into(1), 1)
    # The holder must be quicker than the reader, once: there are as many chances as bytes.
    for byte in _bot.line(_bot.move(turn)):
        os.write(1, bytes([byte]))
        time.sleep(0.005)


_bot.play(build_bridge)
