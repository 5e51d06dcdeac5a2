#!/usr/bin/env python3
"""As `splices_stdout`, but the splicing process is in its own session, out of reach of signals to the group.

A referee finds and ends it all the same.
"""

import os
import time

import _bot
import _splice


def build_bridge(turn: _bot.Json) -> None:
    os.dup2(_splice.into(1, prepare=os.setsid), 1)
    # The holder must be quicker than the reader, once: there are as many chances as bytes.
    for byte in _bot.line(_bot.move(turn)):
        os.write(1, bytes([byte]))
        time.sleep(0.005)


_bot.play(build_bridge)
