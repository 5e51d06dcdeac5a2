#!/usr/bin/env python3
"""Answers with a move that has 30,000 nested arrays in an unknown field, in less than 64 KiB.

A referee ignores the field or calls `malformed`; its stack takes no harm.
"""

import _bot

DEPTH = 30_000


def answer_in_depth(turn: _bot.Json) -> None:
    # Built as text, because Python's encoder limits the depth.
    text = _bot.line({**_bot.move(turn), "note": "?"})
    _bot.write(text.replace(b'"?"', b"[" * DEPTH + b"]" * DEPTH))


_bot.play(answer_in_depth)
