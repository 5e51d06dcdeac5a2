"""Reads and changes files that are not its own: the arguments, then its own program.

Arguments that end with `/` are directories.
"""

import fcntl
import os
import shutil
import sys
from pathlib import Path

from _attack import ARGS, attempt, play


def append(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def lock(path: str) -> None:
    with open(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(file, fcntl.LOCK_UN)


def replace(path: str) -> None:
    shutil.copy(path, f"{path}.new")
    os.replace(f"{path}.new", path)


for path in ARGS:
    name = Path(path).name
    if path.endswith("/"):
        attempt(f"list {name}", lambda: os.listdir(path))
        attempt(f"plant a link in {name}", lambda: os.symlink("/dev/null", f"{path}m101.jsonl"))
        attempt(f"plant a FIFO in {name}", lambda: os.mkfifo(f"{path}m102.jsonl"))
        attempt(f"plant a folder in {name}", lambda: os.mkdir(f"{path}m103.jsonl"))
    else:
        attempt(f"read {name}", lambda: open(path).close())
        attempt(f"change {name}", lambda: append(path))
        attempt(f"lock {name}", lambda: lock(path))
        attempt(f"delete {name}", lambda: os.unlink(path))
attempt("change its program", lambda: append(sys.argv[0]))
attempt("replace its program", lambda: replace(sys.argv[0]))
attempt("delete its program", lambda: os.unlink(sys.argv[0]))
play()
