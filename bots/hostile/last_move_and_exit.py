#!/usr/bin/env python3
"""Answers, and exits with status 0 at once. A referee takes the move first, and only then notices the exit."""

import sys

import _bot


def answer_and_leave(turn: _bot.Json) -> None:
    _bot.answer(turn)
    sys.exit(0)


_bot.play(answer_and_leave)
