#!/usr/bin/env python3
"""Writes every line one byte at a time, each line within 0.1 s. This is allowed and causes no fault."""

import time

import _bot

write = _bot.write


def write_slowly(data: bytes) -> None:
    began = time.monotonic()
    for number, byte in enumerate(data, 1):
        write(bytes([byte]))
        # Until the time at which this byte is due, so that delays of a busy machine do not add up.
        time.sleep(max(0.0, began + 0.05 * number / len(data) - time.monotonic()))


_bot.write = write_slowly
_bot.play()
