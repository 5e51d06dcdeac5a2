"""Kills its opponent, whose command line contains the argument."""

import os
import signal
import time

from _attack import ARGS, attempt, peers, play, report

for _ in range(20):
    found = peers(ARGS[0])
    if found:
        attempt("kill", lambda: os.kill(found[-1], signal.SIGKILL))
        break
    time.sleep(0.05)
else:
    report("kill", "invisible")
play()
