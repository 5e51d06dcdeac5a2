"""Makes system calls that no bot needs, with arguments that do no harm."""

import fcntl
import os
import socket
import sys

from _attack import attempt, play, syscall

TIOCSTI = 0x5412
CLONE_NEWUSER = 0x10000000
SIGCHLD = 17


def clone_into_a_namespace() -> None:
    child = syscall(56, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def found_a_session() -> None:
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(os.getsid(0) != os.getpid())
    _, status = os.waitpid(child, 0)
    if status:
        raise OSError(0, "no effect")


NUMBERS = {
    "ptrace": (101, 16, 0),
    "process_vm_readv": (310, os.getpid(), 0, 0, 0, 0, 0),
    "unshare": (272, 0),
    "setns": (308, -1, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "keyctl": (250, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 1, 0),
}
# A call that is allowed fails here with another error, since its arguments are invalid.
for name, (number, *args) in NUMBERS.items():
    attempt(name, lambda: syscall(number, *args))
attempt("clone into a namespace", clone_into_a_namespace)
attempt("found a session", found_a_session)
for family in ("AF_VSOCK", "AF_ALG", "AF_PACKET"):
    attempt(family, lambda: socket.socket(getattr(socket, family), socket.SOCK_SEQPACKET).close())
attempt("TIOCSTI", lambda: fcntl.ioctl(0, TIOCSTI, b"x"))
sys.stderr.flush()
play()
