"""Starts processes until the system refuses, or 200."""

import os
import signal

from _attack import attempt, play

children: list[int] = []


def fork_many() -> None:
    try:
        for _ in range(200):
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


attempt("start 200 processes", fork_many)
play()
