"""Starts 30 chains of processes: each process starts the next one in a session of its own and exits.

Their command lines contain the argument, and they end after two seconds.
"""

import os
import time

from _attack import play, report

LIFE = 2  # seconds


def chain() -> None:
    for stream in range(3):
        os.close(stream)
    until = time.monotonic() + LIFE
    while time.monotonic() < until:
        if os.fork():
            os._exit(0)
        os.setsid()
        time.sleep(0.01)
    os._exit(0)


for _ in range(30):
    if os.fork() == 0:
        chain()
report("outlive its match by 30 chains of processes", "done")
play()
