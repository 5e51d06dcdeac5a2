#!/usr/bin/env python3
"""Answers with a line of 10 MB, valid except for its length, then with the correct move, and continues to play.

A referee calls `line_too_long` without storing the line, and skips to its end; the proper move is stale by then.
"""

import _bot


def answer_at_length(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "note": "x" * 10_000_000})
    _bot.answer(turn)


_bot.play(answer_at_length)
