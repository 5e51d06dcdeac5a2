"""Sets the priority of all processes of its user, to the value that they have."""

import os

from _attack import attempt, play, syscall

IOPRIO_SET = 251
WHO_USER = 3
# A class without a value of its own: the default.
DEFAULT = 0

attempt("set the priority of its user", lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_PROCESS, 0)))
attempt("set the I/O priority of its user", lambda: syscall(IOPRIO_SET, WHO_USER, os.getuid(), DEFAULT))
play()
