"""Uses 512 MiB of private memory."""

import mmap

from _attack import attempt, play


def fill() -> None:
    with mmap.mmap(-1, 512 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1


attempt("use 512 MiB", fill)
play()
