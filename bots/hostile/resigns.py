#!/usr/bin/env python3
"""Resigns: a control. The match ends by resignation, without a fault."""

import _bot


def resign(turn: _bot.Json) -> None:
    _bot.send({"type": "resign", "match": turn["match"], "seat": turn["seat"]})


_bot.play(resign)
