"""What attacks share: they try something, report what happened on standard error, and then play properly.

A report is a line `TRIED: OUTCOME`. An outcome is `done` where the attack succeeded, otherwise why it did not.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))
# Paths begin with `=`, so that the sandbox does not take them for files of the bot.
ARGS = [arg.removeprefix("=") for arg in sys.argv[1:]]
del sys.argv[1:]
from _bot import play  # noqa: E402, F401

_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *args: Any) -> int:
    """Makes a system call by its number on x86-64. Raises OSError if it fails."""
    result = _libc.syscall(ctypes.c_long(number), *(ctypes.c_long(arg) for arg in args))
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def outcome(attack: Callable[[], Any]) -> str:
    """Runs an attack. It succeeds unless it raises an exception."""
    try:
        attack()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0) or error.strerror or str(error)
    except Exception as error:
        return type(error).__name__
    return "done"


def report(tried: str, what: str) -> None:
    sys.stderr.write(f"{tried}: {what}\n")
    sys.stderr.flush()


def attempt(tried: str, attack: Callable[[], Any]) -> None:
    report(tried, outcome(attack))


def peers(word: str) -> list[int]:
    """Returns the processes whose command line contains `word`, except this one.

    The launcher, which a bot's process runs first, has the same words in its command line. It is left out.
    """
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                line = Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line and b"__exec" not in line:
                found.append(int(entry))
    return found
