#!/usr/bin/env python3
"""Answers with a move that lacks its closing brace. The referee reports `malformed`."""

import _bot


def answer_openly(turn: _bot.Json) -> None:
    _bot.write(_bot.line(_bot.move(turn)).replace(b"}", b""))


_bot.play(answer_openly)
