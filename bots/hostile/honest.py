#!/usr/bin/env python3
"""Plays the first legal move, properly: the control. A referee finds no fault with it."""

import _bot

_bot.play()
