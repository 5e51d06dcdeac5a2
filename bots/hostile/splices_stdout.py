#!/usr/bin/env python3
"""Splices from a socket to stdout, as a bridge to a bot on another machine might, and locks the pipe.

A referee must not wait for it when it reads: it ends the bot, which has `exited`.
"""

import _bot
import _splice


def build_bridge(_turn: _bot.Json) -> None:
    _splice.hold(_splice.into(1))


_bot.play(build_bridge)
