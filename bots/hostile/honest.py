#!/usr/bin/env python3
"""Plays the first legal move: the control, without faults. `info` states how long it waited for a processor."""

import _bot

waited_before = 0


def waited_us() -> int:
    """Returns the time in which this process could have run, but no processor was free."""
    try:
        with open("/proc/self/schedstat") as counters:
            return int(counters.read().split()[1]) // 1000
    except OSError:
        return 0  # a kernel that does not count it


def answer(turn: _bot.Json) -> None:
    global waited_before
    waited = waited_us()
    _bot.send({**_bot.move(turn), "info": {"waited_us": waited - waited_before}})
    waited_before = waited


_bot.play(answer, turn=answer)
