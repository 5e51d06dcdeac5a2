#!/usr/bin/env python3
"""Resigns properly: a control. A referee ends the match by resignation and counts no fault."""

import _bot


def resign(turn: _bot.Json) -> None:
    _bot.send({"type": "resign", "match": turn["match"], "seat": turn["seat"]})


_bot.play(resign)
