#!/usr/bin/env python3
"""Starts a process in its own session that holds the bot's streams open for 60 s; plays correctly itself.

A referee does not wait for the streams to close, and ends that process, too. Its id is on stderr: `left <pid>`.
"""

import os
import sys
import time

import _bot

child = os.fork()
if child == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)

print("left", child, file=sys.stderr, flush=True)
_bot.play()
