"""Variants of Fairy-Stockfish for referee. Needs the package `pyffish`, which is under the GPL: nothing of it is part of this one."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pyffish

import referee_game

from . import rules

__all__ = ["Unsupported", "write"]

_LONGEST_ID = 40


class Unsupported(Exception):
    """The referee cannot play a variant. The text says why."""


def write(variant: str, directory: Path) -> None:
    """Writes a game that the referee plays, with a copy of the library, to a directory that is empty or does not exist.

    Raises Unsupported if the referee cannot play it, OSError if the directory cannot be written.
    """
    if variant not in pyffish.variants():
        raise Unsupported(f"{variant}: the library has no such variant; `pyffish.variants()` lists all")
    if pyffish.two_boards(variant):
        raise Unsupported(f"{variant}: it is played on two boards")
    if directory.exists() and any(directory.iterdir()):
        raise FileExistsError(f"{directory} is not empty: name a new directory")
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(rules.__file__, directory / "game.py")
    shutil.copyfile(referee_game.__file__, directory / "referee_game.py")
    # The program sees only its directory and those of the system. The record identifies the library, too.
    library = Path(str(pyffish.__file__))
    if library.name == "__init__.py":
        shutil.copytree(library.parent, directory / "pyffish", ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(library, directory / library.name)
    (directory / "game.toml").write_text(_manifest(variant))
    (directory / "rules.md").write_text(_page(variant))


def _python() -> str:
    """Returns the Python that can load the library: the same version as this one."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return name if shutil.which(name) else str(Path(sys.executable).resolve())


def _manifest(variant: str) -> str:
    word = re.sub(r"[^a-z0-9]+", "_", variant.lower()).strip("_")
    values = {
        "protocol": 1,
        "id": f"fairy_{word}"[:_LONGEST_ID],
        "title": f"{variant} of Fairy-Stockfish"[:80],
        "version": 1,
        "command": shlex.join([_python(), "game.py", variant]),
        "seats": 2,
        "draws_by_agreement": True,
        "imagine": True,
        "openings": 2,
        "export": ["pgn"],
        "reasons": ["checkmate", "no_moves", "variant", "claim", "material"],
        "rules": "rules.md",
    }
    options = {
        "fen": (pyffish.start_fen(variant), "The initial position in FEN, as the library reads it"),
        "moves": (1000, "The number of moves after which the match is a draw, from 1 to 5000"),
    }
    # Strings and lists of JSON are those of TOML, and so are true and false.
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    for name, (default, help) in options.items():
        lines += ["", f"[options.{name}]", f"default = {json.dumps(default)}", f"help = {json.dumps(help)}"]
    return "\n".join(lines) + "\n"


def _page(variant: str) -> str:
    return f"""# {variant}

The variant `{variant}` of Fairy-Stockfish, which documents its rules. Seat 0 is White, which is the side `w` of a FEN, seat 1 is Black.

- **F1** A move is written as UCI writes it.
- **F2** A side without a legal move wins, loses or draws as the variant says (`checkmate` if it is in check, `no_moves` otherwise). Its
  other ends apply at once (`variant`), those that a player may claim, such as repetition and fifty moves, too (`claim`). It is a
  draw if neither side has the material to win (`material`).
- **F3** As many moves as the option `moves` says are a draw (`turn_limit`).

The view is `{{"variant":"{variant}","fen":"...","start":"...","in_check":false,"moves":["..."]}}`: `fen` is the position, `start` the
initial one, and `moves` has all moves since. An engine of the variant gets `position fen START moves MOVES`.

Options: `fen`, the initial position; `moves` (1000), from 1 to 5000.

`referee export RECORDS --game DIR --format pgn` writes matches as PGN with the tag `Variant`.
"""
