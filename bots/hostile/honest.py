#!/usr/bin/env python3
"""Plays the first legal move: the control, without faults."""

import _bot

_bot.play()
