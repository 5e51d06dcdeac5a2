"""Gains privileges by the setuid program in its folder or of the system, uses other tables of system calls, and leaves
shared memory with the key and the name of its arguments.
"""

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path
from time import sleep
from typing import Callable

from _attack import ARGS, attempt, play, syscall

# mov eax, 20 (getpid of 32-bit programs); int 0x80; ret
GETPID_OF_I386 = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
GETPID_OF_X32 = 0x40000000 | 39
IPC_CREAT = 0o1000


def in_a_child(work: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise OSError(0, f"killed by signal {os.WTERMSIG(status)}")
    if status:
        raise OSError(os.WEXITSTATUS(status), "")


def call_as_i386() -> None:
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(GETPID_OF_I386)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def effective_user(process: object) -> str:
    status = Path(f"/proc/{process}/status").read_text()
    return next(line.split()[2] for line in status.splitlines() if line.startswith("Uid:"))


def gain_privileges() -> None:
    own = Path(sys.argv[0]).parent / "setuid"
    # It waits for a password.
    program = [str(own), "10"] if own.exists() else ["/usr/bin/su"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        # The program gets its user a moment after it has started.
        has_gained = any(effective_user(process.pid) != effective_user("self") or sleep(0.005) for _ in range(40))
        process.kill()
    if not has_gained:
        raise OSError(0, "no effect")


attempt("gain privileges by a setuid program", gain_privileges)
attempt("call as a 32-bit program", lambda: in_a_child(call_as_i386))
attempt("call as an x32 program", lambda: in_a_child(lambda: syscall(GETPID_OF_X32)))
attempt("leave shared memory", lambda: syscall(29, int(ARGS[0]), 4096, IPC_CREAT | 0o600))
attempt("leave POSIX shared memory", lambda: Path("/dev/shm", ARGS[1]).write_text("x"))
play()
