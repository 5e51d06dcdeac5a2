#!/usr/bin/env python3
"""Answers with a move whose bytes are not UTF-8. The referee reports `malformed`."""

import _bot


def answer_in_bytes(turn: _bot.Json) -> None:
    _bot.write(_bot.line({**_bot.move(turn), "note": "?"}).replace(b"?", b"\xff\xfe"))


_bot.play(answer_in_bytes)
