#!/usr/bin/env python3
"""Starts a process in its own group that ignores SIGTERM and SIGHUP for 60 s; plays correctly itself.

A referee kills the whole group in the end. The process's id is on stderr: `left <pid>`.
"""

import os
import signal
import sys
import time

import _bot

child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    time.sleep(60)
    os._exit(0)

print("left", child, file=sys.stderr, flush=True)
_bot.play()
