#!/usr/bin/env python3
"""Writes half of its move without a line break, then nothing. The referee reports `timeout`."""

import _bot


def answer_by_half(turn: _bot.Json) -> None:
    text = _bot.line(_bot.move(turn))
    _bot.write(text[: len(text) // 2])
    _bot.read_on()


_bot.play(answer_by_half)
