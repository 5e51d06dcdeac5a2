#!/usr/bin/env python3
"""Answers under the id of the request before, and never under the current one.

A referee meets the stale answer with `error`, does not take it for the move, and calls `timeout` at the limit.
"""

import _bot


def answer_the_last(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "turn": turn["turn"] - 1})


_bot.play(answer_the_last)
