#!/usr/bin/env python3
"""Answers with a move that has the field `move` twice, both legal. The referee reports `malformed`."""

import _bot


def answer_with_two(turn: _bot.Json) -> None:
    text = _bot.line(_bot.move(turn))
    second = _bot.line({"move": turn["legal"][-1]})
    _bot.write(text.replace(b"}\n", b",") + second[1:])


_bot.play(answer_with_two)
