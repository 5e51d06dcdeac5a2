#!/usr/bin/env python3
"""Answers with an array that holds the fields of a move in their order. A referee calls `malformed`."""

import _bot


def answer_in_order(turn: _bot.Json) -> None:
    _bot.send(list(_bot.move(turn).values()))


_bot.play(answer_in_order)
