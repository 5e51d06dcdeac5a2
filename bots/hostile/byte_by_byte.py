#!/usr/bin/env python3
"""Writes every line one byte at a time, each line within 0.1 s. This is allowed and causes no fault."""

import time

import _bot

write = _bot.write


def write_slowly(data: bytes) -> None:
    for byte in data:
        write(bytes([byte]))
        time.sleep(0.05 / len(data))


_bot.write = write_slowly
_bot.play()
