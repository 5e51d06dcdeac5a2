#!/usr/bin/env python3
"""Says hello, but is never ready for a match. A referee ends it with `no_start` at the ready limit."""

import _bot

_bot.play(start=_bot.nothing)
