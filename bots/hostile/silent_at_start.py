#!/usr/bin/env python3
"""Sends `hello`, but never `ready`. The referee reports `no_start` at the ready limit."""

import _bot

_bot.play(start=_bot.nothing)
