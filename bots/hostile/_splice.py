"""Splicing: Linux moves data between a pipe and a socket without copying it, and holds the lock of the pipe while it
waits for the socket. Operations on the other end of the pipe block in the meantime, even on a non-blocking descriptor.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable

_libc = ctypes.CDLL(None, use_errno=True)
COUNT = 65_536


def socketpair() -> tuple[int, int]:
    """Returns two connected sockets. The module `socket` would import the bot `array` in this directory."""
    pair = (ctypes.c_int * 2)()
    if _libc.socketpair(1, 1, 0, pair):  # AF_UNIX, SOCK_STREAM
        raise OSError(ctypes.get_errno(), "socketpair")
    return pair[0], pair[1]


def copy(source: int, target: int) -> None:
    """Splices from one descriptor to the other until one of them ends, for at most 60 s. One of them is a pipe."""
    signal.alarm(60)
    while _libc.splice(source, None, target, None, COUNT, 0) > 0:
        pass


def into(pipe: int, prepare: Callable[[], object] = lambda: None) -> int:
    """Returns a socket. A child process copies its data to the pipe and locks the pipe in between.

    The child keeps the socket open, so that it releases the pipe only when it exits.
    """
    ours, theirs = socketpair()
    if os.fork() == 0:
        prepare()
        copy(theirs, pipe)
        os._exit(0)
    os.close(theirs)
    return ours


def hold(socket: int) -> None:
    """Writes blanks to the socket until the process that copies them locks the pipe that the referee reads.

    That process has to be faster than the reader once; the next blank would make it release the pipe.
    """
    while not _referee_is_held():
        os.write(socket, b" ")
        time.sleep(0.002)
    time.sleep(60)


def _referee_is_held() -> bool:
    """Whether a thread of the referee sleeps in the kernel's code for pipes: proc_pid_wchan(5)."""
    tasks = f"/proc/{os.getppid()}/task"
    return any("pipe" in _read(f"{tasks}/{task}/wchan") for task in os.listdir(tasks))


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def out_of(pipe: int, prepare: Callable[[], object] = lambda: None) -> None:
    """Starts a child that copies data from the pipe to a full socket: it locks the pipe at the first bytes."""
    _, full = socketpair()
    os.set_blocking(full, False)
    try:
        while True:
            os.write(full, bytes(COUNT))
    except BlockingIOError:
        os.set_blocking(full, True)
    if os.fork() == 0:
        prepare()
        copy(pipe, full)
        os._exit(0)
