#!/usr/bin/env python3
"""Steps a second of the environments beside PettingZoo's connect_four_v3 and chess_v6, and decisions of a Python bot.

All play at random. Everything is pinned to one core, the candidates take turns, and the medians of the rounds count.
The packages that it needs are installed into target/bench_env unless they are there; that needs Rust.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "target/bench_env"
NATIVE = str(ROOT / "bots/python/native")
PACKAGES = {  # by module
    "chess": "chess",
    "gymnasium": "gymnasium>=1.0",
    "numpy": "numpy>=1.26",
    "pettingzoo": "pettingzoo>=1.25",
    "pygame": "pygame-ce",
    "referee_bot_native": NATIVE,
}


def install_missing() -> None:
    """Starts again in a Python of its own, with the packages, where they are missing in this one."""
    missing = [package for module, package in PACKAGES.items() if find_spec(module) is None]
    if not missing:
        return
    python = VENV / "bin/python"
    if Path(sys.prefix) == VENV:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *missing], env=_environment(), check=True)
    elif not python.exists():
        venv.create(VENV, with_pip=True)
    os.execv(python, [str(python), *sys.argv])


def _environment() -> dict[str, str]:
    return {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/native")}


if __name__ == "__main__":
    install_missing()

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from referee_bot import Turn, batched, self_play  # noqa: E402
from referee_bot.env import GAMES, Batch, Referee, env  # noqa: E402


def pick(rng: np.random.Generator, masks: NDArray[np.int8]) -> NDArray[np.int64]:
    """Returns a possible action of each match, all with the same probability."""
    size, actions = masks.shape
    possible = np.flatnonzero(masks)  # match by match
    first = np.arange(size) * actions
    begin = np.searchsorted(possible, first)
    count = np.diff(begin, append=len(possible))
    picked: NDArray[np.int64] = possible[begin + (rng.random(size) * count).astype(np.int64)] - first
    return picked


def single(room: Any, seconds: float) -> float:
    """Plays one environment and returns its steps a second."""
    steps, start = 0, time.perf_counter()
    while (now := time.perf_counter()) < start + seconds:
        room.reset()
        for _ in room.agent_iter():
            observation, _, terminated, truncated, _ = room.last()
            if terminated or truncated:
                break
            possible = np.flatnonzero(observation["action_mask"])
            room.step(possible[int(random.random() * len(possible))])
            steps += 1
            if time.perf_counter() > start + seconds:
                break
    return steps / (now - start)


def together(batch: Batch, seconds: float) -> float:
    """Plays a batch and returns the steps a second of all its matches."""
    rng = np.random.default_rng()
    steps, start = 0, time.perf_counter()
    mask = batch.reset().action_mask
    while (now := time.perf_counter()) < start + seconds:
        mask = batch.step(pick(rng, mask)).action_mask
        steps += len(mask)
    return steps / (now - start)


def decisions(game: str, slots: int, command: Sequence[str], seconds: float) -> float:
    """Lets a bot play itself and returns its decisions a second."""
    made = 0

    def choose_all(turns: list[Turn]) -> list[str]:
        nonlocal made
        made += len(turns)
        return [turn.legal[int(random.random() * len(turn.legal))] for turn in turns]

    setups = iter(lambda: {"game": game}, None)
    start = time.perf_counter()
    for _ in self_play(batched(choose_all), setups, slots=slots, wants=("view", "legal"), referee=command):
        if time.perf_counter() > start + seconds:
            break
    return made / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--referee", default="referee", metavar="PATH", help="the referee's program")
    parser.add_argument("--games", nargs="+", default=GAMES, choices=GAMES, metavar="GAME")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="how long each plays in a round")
    options = parser.parse_args()
    from pettingzoo.classic import chess_v6, connect_four_v3

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # child processes inherit it
    command = [options.referee, "stdio", "--clock", "none"]
    process, native = Referee(command), Referee(backend="native")
    rooms: dict[str, Any] = {"connect_four_v3": connect_four_v3.env(), "chess_v6": chess_v6.env()}
    for game in options.games:
        rooms[game] = env(game, referee=process)
        rooms[f"{game} native"] = env(game, referee=native)
    candidates: dict[str, Callable[[], float]] = {}
    for name, room in rooms.items():
        candidates[f"{name}, steps"] = partial(single, room, options.seconds)
    for game in options.games:
        for size in (16, 64):
            batch = Batch(game, size, referee=process)
            candidates[f"{game}, steps of {size} together"] = partial(together, batch, options.seconds)
        for size in (16, 64, 256):
            batch = Batch(game, size, backend="native")
            candidates[f"{game} native, steps of {size} together"] = partial(together, batch, options.seconds)
    for game in options.games:
        for slots in (1, 16, 64):
            candidates[f"{game}, decisions with {slots} slots"] = partial(
                decisions, game, slots, command, options.seconds
            )
    figures: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(options.rounds):
        for name, run in candidates.items():
            figures[name].append(run())
    for name, values in figures.items():
        print(f"{name:42}{statistics.median(values):10,.0f} a second   {min(values):,.0f} to {max(values):,.0f}")
    process.close()


if __name__ == "__main__":
    main()
