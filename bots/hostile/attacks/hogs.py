"""Hogs the machine for whole matches, from 16 processes in sessions of their own: its processors (`cpu`), memory
(`memory`) or processes (`fork`). Needs a sandbox that ends them.
"""

import mmap
import os

from _attack import ARGS, play

HOGS = 16
MEMORY = 2 << 30  # bytes, of all hogs


def hog_processors() -> None:
    while True:
        pass


def hog_memory() -> None:
    size = MEMORY // HOGS
    while True:
        try:
            with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
                for page in range(0, size, mmap.PAGESIZE):
                    memory[page] = 1
        except OSError:
            # Beyond its limit, it tries again.
            pass


def hog_processes() -> None:
    children = []
    while True:
        is_full = len(children) == 16
        try:
            child = os.fork()
            if child == 0:
                os.setsid()
                os._exit(0)
            children.append(child)
        except OSError:
            is_full = True
        # Ended processes remain until they are waited for.
        while is_full and children:
            os.waitpid(children.pop(), 0)


KINDS = {"cpu": hog_processors, "memory": hog_memory, "fork": hog_processes}
begun, begin = os.pipe()
for _ in range(HOGS):
    if os.fork() == 0:
        os.setsid()
        os.close(0)
        os.close(1)
        os.close(begin)
        # The end of file comes once all have started.
        os.read(begun, 1)
        KINDS[ARGS[0]]()
os.close(begin)
play()
