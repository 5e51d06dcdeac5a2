#!/usr/bin/env python3
"""Plays `1-32`. A referee calls `illegal_move`, and takes the next answer if the set-up has it ask again."""

import _bot


def play_illegally(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "move": "1-32"})


_bot.play(play_illegally)
