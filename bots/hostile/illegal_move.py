#!/usr/bin/env python3
"""Plays `1-32`. The referee reports `illegal_move`, and repeats the request under the policy `retry`."""

import _bot


def play_illegally(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "move": "1-32"})


_bot.play(play_illegally)
