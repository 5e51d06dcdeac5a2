"""Reaches into another process, whose command line contains the first argument: the opponent's, or the referee's."""

import os
import resource
import signal
import time
from pathlib import Path

from _attack import ARGS, attempt, peers, play, report


def main() -> None:
    for _ in range(20):
        found = peers(ARGS[0])
        if found:
            break
        time.sleep(0.05)
    for tried, attack in TRIED.items():
        if found:
            attempt(tried, lambda: attack(found[-1]))
        else:
            report(tried, "invisible")


def write(path: str, text: str = "") -> None:
    with open(path, "w") as file:
        file.write(text)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGCONT)


def stack(pid: int) -> int:
    """Returns the address of its stack."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return next(int(line.split("-")[0], 16) for line in maps.splitlines() if line.endswith("[stack]"))


def read_memory(pid: int) -> None:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(stack(pid))
        memory.read(16)


def write_memory(pid: int) -> None:
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(stack(pid))
        page = memory.read(16)
        memory.seek(-16, os.SEEK_CUR)
        memory.write(page)


def read_command_line(pid: int) -> None:
    assert ARGS[0].encode() in Path(f"/proc/{pid}/cmdline").read_bytes()


TRIED = {
    "stop": stop,
    "speak through its pipe": lambda pid: os.close(os.open(f"/proc/{pid}/fd/1", os.O_WRONLY)),
    "read its memory": read_memory,
    "write its memory": write_memory,
    "read its environment": lambda pid: open(f"/proc/{pid}/environ", "rb").read(),
    "set its limits": lambda pid: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
    "read its command line": read_command_line,
    "set its priority": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 1),
    "set its processors": lambda pid: os.sched_setaffinity(pid, {0}),
    "offer it to the OOM killer": lambda pid: write(f"/proc/{pid}/oom_score_adj", "1"),
}

main()
play()
