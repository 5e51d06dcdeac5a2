"""Uses all processors although it has no turn."""

import os
import time

from _attack import attempt, play

PROCESSES = 4
CPU_SECONDS = 0.1
LIMIT = 0.1  # processors: what the sandbox allows
TRIES = 5  # on a busy machine it may get little by chance


def spin() -> float:
    """Returns how many processors its processes have got."""
    began = time.monotonic()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            while time.process_time() < CPU_SECONDS / PROCESSES:
                pass
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return CPU_SECONDS / (time.monotonic() - began)


def spin_often() -> None:
    if not any(spin() > LIMIT * 1.5 for _ in range(TRIES)):
        raise OSError(0, "slowed to its limit")


attempt("use all processors", spin_often)
play()
