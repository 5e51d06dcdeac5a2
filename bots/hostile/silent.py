#!/usr/bin/env python3
"""Reads everything and never says anything. A referee ends it with `no_start` at the start-up limit."""

import _bot

_bot.read_on()
