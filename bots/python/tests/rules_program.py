"""The program of an example game, asked without the referee."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

from referee_game import Json

GAMES = Path(__file__).parents[3] / "examples/games"


class Rules:
    """The program of a game, in its directory."""

    def __init__(self, directory: Path) -> None:
        manifest = (directory / "game.toml").read_text()
        program = next(line for line in manifest.splitlines() if line.startswith(("command", "wasm")))
        words = shlex.split(program.partition("=")[2].strip().strip('"'))
        if program.startswith("wasm"):
            words = ["node", str(Path(__file__).with_name("wasm_rules.mjs")), *words]
        self.process = subprocess.Popen(
            words, cwd=directory, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Rules:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def ask(self, kind: str, **fields: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        # Without spaces, as the referee writes: a program gets its states back byte for byte.
        request = json.dumps({"type": kind, **fields}, separators=(",", ":"), ensure_ascii=False)
        self.process.stdin.write(request + "\n")
        return json.loads(self.process.stdout.readline())

    def start(self, seats: int = 2, **options: Any) -> Json:
        position: Json = self.ask("start", options=options, seats=seats, sides=seats)
        return position

    def play(self, position: Json, moves: dict[int, str]) -> Json:
        listed = [{"seat": seat, "move": move} for seat, move in moves.items()]
        after: Json = self.ask("play", state=position["state"], moves=listed)
        return after

    def settle(self, position: Json, *drawn: int) -> Json:
        after: Json = self.ask("settle", state=position["state"], drawn=drawn)
        return after
