#!/usr/bin/env python3
"""As `splices_stdout`, but the splicing process is in its own session, which signals to the group do not reach.

A referee finds and ends it all the same.
"""

import os

import _bot
import _splice


def build_bridge(_turn: _bot.Json) -> None:
    _splice.hold(_splice.into(1, prepare=os.setsid))


_bot.play(build_bridge)
