#!/usr/bin/env python3
"""Neither reads nor writes after its first `ready`, but stays alive.

A referee calls `timeout` at the limit of the first request, whether or not the request could be written.
"""

import _bot


def be_ready_and_stop(start: _bot.Json) -> None:
    _bot.say_ready(start)
    _bot.sleep_on()


_bot.play(start=be_ready_and_stop)
