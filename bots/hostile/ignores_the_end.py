#!/usr/bin/env python3
"""Plays correctly, but ignores SIGTERM and the end of its input.

A referee has its results without waiting for it, and kills it after the two grace periods.
"""

import signal

import _bot

signal.signal(signal.SIGTERM, signal.SIG_IGN)
_bot.play()
_bot.sleep_on()
