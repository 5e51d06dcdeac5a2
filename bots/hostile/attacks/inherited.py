"""Looks for what it has inherited from the referee: descriptors, secrets in the environment, a terminal."""

import os

from _attack import ARGS, attempt, play


def find_descriptor() -> None:
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            os.fstat(fd)
        except OSError:
            continue
        if fd > 2:
            return
    raise OSError(0, "absent")


def find_secret() -> None:
    if not any(ARGS[0] in value for value in os.environ.values()):
        raise OSError(0, "absent")


attempt("find a descriptor of the referee", find_descriptor)
attempt("find a secret in its environment", find_secret)
attempt("open the terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
play()
