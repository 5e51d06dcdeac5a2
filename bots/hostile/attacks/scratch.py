"""Writes 64 MiB to temporary files, and leaves a file in the directory of the argument."""

import os
import tempfile
from pathlib import Path

from _attack import ARGS, attempt, play


def fill() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(4):
            Path(folder, str(number)).write_bytes(bytes(16 << 20))


def leave() -> None:
    os.makedirs(ARGS[0], exist_ok=True)
    Path(ARGS[0], "left").write_text("x")


attempt("write 64 MiB of temporary files", fill)
attempt("leave a file", leave)
play()
