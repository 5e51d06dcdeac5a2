#!/usr/bin/env python3
"""Crashes with a segmentation fault instead of answering. The referee immediately reports `exited` with the signal."""

import os
import resource
import signal

import _bot


def die(turn: _bot.Json) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core file in the test's folder
    os.kill(os.getpid(), signal.SIGSEGV)


_bot.play(die)
