#!/usr/bin/env python3
"""Answers with a future turn id, and never with the current one.

A referee meets it with `error`, does not keep it for later, and calls `timeout` at the limit.
"""

import _bot


def answer_the_future(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "turn": turn["turn"] + 7})


_bot.play(answer_the_future)
