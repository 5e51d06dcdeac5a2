"""Freezes a process whose command line contains the first argument, by a control group, and thaws it at once."""

import os
import time
from pathlib import Path

from _attack import ARGS, attempt, peers, play

ROOT = Path("/sys/fs/cgroup")


def write(file: Path, text: str) -> None:
    with open(file, "w") as opened:
        opened.write(text)


def freeze() -> None:
    found = next((found for _ in range(20) for found in [peers(ARGS[0])] if found or time.sleep(0.05)), [])
    version_1 = ROOT / "freezer"
    root = version_1 if version_1.exists() else ROOT
    group = root / f"referee-attack-{os.getpid()}"
    group.mkdir()
    try:
        state, on, off = ("freezer.state", "FROZEN", "THAWED") if version_1.exists() else ("cgroup.freeze", "1", "0")
        write(group / "cgroup.procs", str(found[-1]))
        write(group / state, on)
        write(group / state, off)
        write(root / "cgroup.procs", str(found[-1]))
    finally:
        time.sleep(0.05)
        group.rmdir()


attempt("freeze", freeze)
play()
