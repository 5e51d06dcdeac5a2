"""Changes modes, times, owners and attributes of the argument, and of files that it shares with the system.

They get the values that they have: that the call succeeds is enough. Times become the present.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from typing import Any, Callable

from _attack import ARGS, attempt, play, syscall

HERE = -100  # AT_FDCWD
NOTHING = ctypes.create_string_buffer(64)
NAME = ctypes.create_string_buffer(b"user.referee")


def any_of(*calls: Callable[[], Any]) -> None:
    """Succeeds if one of the calls does."""
    errors = []
    for call in calls:
        try:
            call()
            return
        except OSError as error:
            errors.append(error)
    raise errors[0]


def call(number: int, *args: Any) -> None:
    """Makes a system call. Its texts are given as buffers."""
    syscall(number, *(ctypes.addressof(arg) if isinstance(arg, ctypes.Array) else arg for arg in args))


def with_file(path: str, number: int, *args: Any) -> None:
    """Makes a system call whose first argument is a descriptor."""
    file = os.open(path, os.O_RDONLY)
    try:
        call(number, file, *args)
    finally:
        os.close(file)


def set_mode(path: str) -> None:
    mode, text = stat.S_IMODE(os.stat(path).st_mode), ctypes.create_string_buffer(path.encode())
    any_of(
        lambda: call(90, text, mode),  # chmod
        lambda: call(268, HERE, text, mode),  # fchmodat
        lambda: call(452, HERE, text, mode, 0),  # fchmodat2
        lambda: with_file(path, 91, mode),  # fchmod
    )


def set_times(path: str) -> None:
    text = ctypes.create_string_buffer(path.encode())
    any_of(
        lambda: call(132, text, 0),  # utime
        lambda: call(235, text, 0),  # utimes
        lambda: call(261, HERE, text, 0),  # futimesat
        lambda: call(280, HERE, text, 0, 0),  # utimensat
        lambda: with_file(path, 280, 0, 0, 0),
    )


def set_owner(path: str) -> None:
    of, text = os.stat(path), ctypes.create_string_buffer(path.encode())
    any_of(
        lambda: call(92, text, of.st_uid, of.st_gid),  # chown
        lambda: call(94, text, of.st_uid, of.st_gid),  # lchown
        lambda: call(260, HERE, text, of.st_uid, of.st_gid, 0),  # fchownat
        lambda: with_file(path, 93, of.st_uid, of.st_gid),  # fchown
    )


def set_attribute(path: str) -> None:
    text = ctypes.create_string_buffer(path.encode())
    # struct xattr_args: the address of the value, its size, flags.
    value = (ctypes.c_uint64 * 2)(ctypes.addressof(NOTHING), 1)
    any_of(
        lambda: call(188, text, NAME, NOTHING, 1, 0),  # setxattr
        lambda: call(189, text, NAME, NOTHING, 1, 0),  # lsetxattr
        lambda: with_file(path, 190, NAME, NOTHING, 1, 0),  # fsetxattr
        lambda: call(463, HERE, text, 0, NAME, value, 16),  # setxattrat
        lambda: call(197, text, NAME),  # removexattr
        lambda: call(198, text, NAME),  # lremovexattr
        lambda: with_file(path, 199, NAME),  # fremovexattr
        lambda: call(466, HERE, text, 0, NAME),  # removexattrat
        lambda: call(469, HERE, text, NOTHING, 24, 0),  # file_setattr
    )


parent = f"/proc/{os.getppid()}"
attempt("set the mode of a directory of the host", lambda: set_mode(ARGS[0]))
attempt("set the times of a directory of the host", lambda: set_times(ARGS[0]))
attempt("set the owner of a directory of the host", lambda: set_owner(ARGS[0]))
attempt("set an attribute of a directory of the host", lambda: set_attribute(ARGS[0]))
attempt("set the mode of its program", lambda: set_mode(sys.argv[0]))
attempt("set the mode of a device", lambda: set_mode("/dev/null"))
attempt("set the times of a device", lambda: set_times("/dev/null"))
attempt("set the mode of a file of /proc", lambda: set_mode("/proc/version"))
attempt("set the mode of the program of its parent", lambda: set_mode(f"{parent}/exe"))
attempt("open the memory of its parent", lambda: open(f"{parent}/mem", "r+b").close())
play()
