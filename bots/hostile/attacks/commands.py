"""Uses commands of fcntl and ioctl that stop, signal or disturb others, on a file that all bots can read and on a terminal."""

import fcntl
import os
import sys
import termios

from _attack import attempt, play

# As `sys.argv[0]` it is a file of the bot that nobody has open. A lease makes every other `open` of it wait for 45 s.
file = os.open(sys.argv[0], os.O_RDONLY)
folder = os.open(os.path.dirname(sys.argv[0]), os.O_RDONLY)
attempt("take a lease on a file", lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK))
os.close(file)
attempt("watch a folder by F_NOTIFY", lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS))
attempt("direct signals to another process", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid()))


def stop_the_output_of_a_terminal() -> None:
    _, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TCXONC, termios.TCOOFF)


attempt("stop the output of a terminal", stop_the_output_of_a_terminal)
play()
