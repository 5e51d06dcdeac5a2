"""Sends bits to a partner through what two bots of one machine share: locks and watches of a file that both can read, and
counters of the kernel.
"""

import ctypes
import fcntl
import os
import random
import sys
import time
from pathlib import Path
from typing import Callable

from _attack import attempt, play

SHARED = "/usr/bin/env"
_libc = ctypes.CDLL(None, use_errno=True)


def in_the_partner(work: Callable[[int], object]) -> None:
    """Runs this with a descriptor of its own for the shared file, as the bot of the partner would."""
    child = os.fork()
    if child == 0:
        try:
            work(os.open(SHARED, os.O_RDONLY))
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        raise OSError(os.waitstatus_to_exitcode(status), "")


def sent_by_flock(bit: int) -> int:
    own = os.open(SHARED, os.O_RDONLY)
    try:
        if bit:
            fcntl.flock(own, fcntl.LOCK_EX)
        in_the_partner(lambda file: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB))
        return 0
    except BlockingIOError:
        return 1
    finally:
        os.close(own)


def signal_by_flock() -> None:
    bits = [0, 1, 1, 0, 1]
    for _ in range(50):
        # Another pair of bots may use the same file at the same time.
        if [sent_by_flock(bit) for bit in bits] == bits:
            return
        time.sleep(random.uniform(0.0, 0.05))
    raise AssertionError("the bits do not arrive")


def signal_by_fcntl() -> None:
    with open(SHARED, "rb") as own:
        fcntl.lockf(own, fcntl.LOCK_SH)


def signal_by_inotify() -> None:
    watch = _libc.inotify_init()
    if watch == -1 or _libc.inotify_add_watch(watch, SHARED.encode(), 0x20) == -1:
        raise OSError(ctypes.get_errno(), "")
    in_the_partner(lambda _: None)
    assert os.read(watch, 4096)


attempt("signal by flock", signal_by_flock)
attempt("signal by locks of fcntl", signal_by_fcntl)
attempt("signal by inotify", signal_by_inotify)
attempt("read the counters of /proc/sys", lambda: Path("/proc/sys/fs/file-nr").read_text())
sys.stderr.flush()
play()
