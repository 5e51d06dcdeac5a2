"""Creates 50,000 empty files in memory."""

import os
import tempfile

from _attack import attempt, play


def fill() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for number in range(50_000):
            os.mknod(f"{folder}/{number}")


attempt("create 50,000 files in memory", fill)
play()
