#!/usr/bin/env python3
"""Answers with the fields of a move as an array. The referee reports `malformed`."""

import _bot


def answer_in_order(turn: _bot.Json) -> None:
    _bot.send(list(_bot.move(turn).values()))


_bot.play(answer_in_order)
