#!/usr/bin/env python3
"""Plays checkers with an engine that runs as a program and speaks lines in the manner of UCI, GTP or Hub.

pip install bots/python
referee play checkers 'python3 examples/engines/engine_bot.py --dialect uci ./my_engine' \
    'python3 bots/python/random_bot.py' -n 20

The engine gets each position on its own and answers with a move as PDN writes it (11-15, 15x24x31 or 15x24), or as Hub
does with the captured squares. `--position` and `--go` replace the lines that it gets, for engines with other words.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess

from referee_bot import Turn, options, run

# The lines to send once, each with what ends the answer; those before each move; what ends the answer to them.
DIALECTS = {
    "uci": ({"uci": "uciok", "isready": "readyok"}, "position fen {fen}", "go movetime {ms}", r"bestmove (\S+)"),
    "gtp": ({"name": "="}, "fen {fen}", "genmove {color}", r"= ?(\d\S*)"),
    "hub": ({"hub": "wait", "init": "ready"}, "pos pos={squares}", "level move-time={s}\ngo think", r"done move=(\S+)"),
}


class Engine:
    """A running engine. It ends with the bot, when its input is closed."""

    def __init__(self, command: list[str], start: dict[str, str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for line, end in start.items():
            self.ask(line, end)

    def ask(self, lines: str, end: str) -> re.Match[str]:
        """Sends lines. Returns the match of the line that ends the answer."""
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(BrokenPipeError):  # an engine that has ended is named below
            print(lines, file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith(("?", "error")):
                raise ValueError(f"the engine answers {line.strip()!r} to {lines!r}")
            if found := re.match(end, line):
                return found
        raise ValueError(f"the engine ends with status {self._process.wait()} instead of answering {lines!r}")


def visited(move: str) -> list[int]:
    return [int(square) for square in re.findall(r"\d+", move)]


def captured(path: list[int]) -> list[int]:
    """Returns the squares that a capture jumps over: the mean of two squares, rounded up on rows 1, 3, 5 and 7."""
    return sorted((a + b + ((a - 1) // 4 % 2 == 0)) // 2 for a, b in zip(path, path[1:]))


def resolve(move: str, legal: list[str]) -> str:
    """Returns the legal move that the engine means; the answer itself if there is none, which the referee explains."""
    said = visited(move)
    for text in legal:
        path = visited(text)
        has_ends = said[:2] == [path[0], path[-1]]
        if text == move or (has_ends and sorted(said[2:]) in ([], captured(path))):
            return text
    return move


def main() -> None:
    parser = argparse.ArgumentParser(description="Plays checkers with an engine.", parents=[options()])
    parser.add_argument("--dialect", choices=DIALECTS, required=True, help="how the engine speaks")
    parser.add_argument("--move-time", type=float, default=1.0, metavar="SECONDS", help="for a move, at most [1]")
    parser.add_argument("--position", metavar="LINE", help="another line with {fen} or {squares}")
    parser.add_argument("--go", metavar="LINE", help="another line; may have {ms}, {s} and {color}")
    parser.add_argument("engine", nargs=argparse.REMAINDER, metavar="ENGINE", help="its command, as the last arguments")
    args = parser.parse_args()
    start, position, go, answer = DIALECTS[args.dialect]
    lines = f"{args.position or position}\n{args.go or go}"
    engine = Engine(args.engine, start)

    def choose(turn: Turn) -> str:
        seconds = args.move_time if turn.clock is None else min(args.move_time, turn.clock.limit_ms / 4000)
        color = ("black", "white")[turn.seat]
        squares = color[0].upper() + turn.view["board"].replace(".", "e")
        times = {"ms": int(seconds * 1000), "s": round(seconds, 3)}
        asked = lines.format(fen=turn.view["fen"], squares=squares, color=color, **times)
        return resolve(engine.ask(asked, answer)[1], turn.legal)

    run(choose, name="engine", games=["checkers"], wants=["view", "legal"])


if __name__ == "__main__":
    main()
