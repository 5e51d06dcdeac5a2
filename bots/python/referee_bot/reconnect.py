"""Connects again after a lost connection."""

from __future__ import annotations

import random
import sys
import time

from .connection import Connection
from .stream import Stream

FIRST_DELAY = 0.5
"""Seconds before the first attempt, which double with each further one."""
MOST_DELAY = 5.0
"""The maximum of these seconds: the referee may be back just before it stops waiting."""
RECONNECT_TIMEOUT = 60.0
"""Seconds after which the referee does not wait any more."""


class Loss:
    """A lost connection."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._delay = FIRST_DELAY
        _log("the connection to the referee is lost; connecting again")

    def reconnect(self, connection: Connection) -> Stream | None:
        """Returns a new stream, or None if there is none in time."""
        while True:
            wait = self._delay * random.uniform(0.75, 1.25)
            if time.monotonic() + wait > self._since + RECONNECT_TIMEOUT:
                _log(f"the referee cannot be reached within {RECONNECT_TIMEOUT:.0f} s")
                return None
            time.sleep(wait)
            self._delay = min(2 * self._delay, MOST_DELAY)
            try:
                stream = connection.open()
            except OSError:
                continue
            _log(f"connected again after {time.monotonic() - self._since:.1f} s")
            return stream


def _log(text: str) -> None:
    print(f"referee_bot: {text}", file=sys.stderr, flush=True)
