#!/usr/bin/env python3
"""Closes stdout instead of answering, but keeps running. The referee reports `disconnected` and kills it."""

import os

import _bot


def close(turn: _bot.Json) -> None:
    os.close(1)
    _bot.read_on()


_bot.play(close)
