#!/usr/bin/env python3
"""Reads everything and never writes. The referee reports `no_start` at the start-up limit."""

import _bot

_bot.read_on()
