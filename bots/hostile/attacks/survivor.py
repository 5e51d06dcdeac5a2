"""Starts 30 processes in sessions of their own, which ignore signals, and plays; with `hang`, it never moves.

Their command lines contain the argument, and they end after a minute.
"""

import os
import signal
import time

from _attack import ARGS, play, report


def ignore_signals() -> None:
    os.setsid()
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    for stream in range(3):
        os.close(stream)
    os.close(begin)
    time.sleep(60)
    os._exit(0)


begun, begin = os.pipe()
for _ in range(30):
    child = os.fork()
    if child == 0:
        # Double fork: init or the subreaper adopts the survivor.
        if os.fork() == 0:
            ignore_signals()
        os._exit(0)
    os.waitpid(child, 0)
os.close(begin)
# The end of file comes once all ignore signals.
os.read(begun, 1)
report("outlive its match", "done")
play(turn=lambda turn: signal.pause()) if ARGS[1:] == ["hang"] else play()
