#!/usr/bin/env python3
"""Sends 6 KiB of `info` with every move. The referee drops the info with an `error` and accepts the move."""

import _bot


def answer_with_info(turn: _bot.Json) -> None:
    _bot.send({**_bot.move(turn), "info": {"text": "x" * 6 * 1024}})


_bot.play(answer_with_info, turn=answer_with_info)
