"""Uses 512 MiB of files in memory, each smaller than the largest file that a sandbox allows."""

import os

from _attack import attempt, play


def fill() -> None:
    files = [os.memfd_create("attack") for _ in range(32)]
    try:
        for file in files:
            for _ in range(16):
                os.write(file, bytes(1 << 20))
    finally:
        for file in files:
            os.close(file)


attempt("use 512 MiB of shared memory", fill)
play()
