#!/usr/bin/env python3
"""Answers with the id of the previous request, and never with the current one.

A referee meets the stale answer with `error`, does not take it for the move, and calls `timeout` at the limit.
"""

import _bot


def answer_the_last(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "turn": turn["turn"] - 1})


_bot.play(answer_the_last)
