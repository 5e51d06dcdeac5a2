"""Games of OpenSpiel for referee. Needs the package `open_spiel`."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pyspiel

import referee_game

from . import rules
from .rules import OpenSpielGame

__all__ = ["OpenSpielGame", "Unsupported", "load", "write"]

# The numbers of seats of the referee.
_SEATS = range(2, 7)
_LONGEST_ID = 40


class Unsupported(Exception):
    """The referee cannot play a game of the library. The text says why."""


def load(name: str) -> OpenSpielGame:
    """Loads a game, whose name may have parameters: `hex(board_size=5)`.

    Raises Unsupported if the referee cannot play it.
    """
    if name.partition("(")[0] not in pyspiel.registered_names():
        raise Unsupported(f"{name}: OpenSpiel has no such game; `pyspiel.registered_names()` lists all")
    try:
        about = OpenSpielGame(name)
    except (pyspiel.SpielError, LookupError) as error:
        raise Unsupported(f"{name}: OpenSpiel does not load it: {str(error).splitlines()[0]}") from error
    kind, players = about.game.get_type(), about.game.num_players()
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise Unsupported(f"{name}: a mean field has no seats")
    if players not in _SEATS:
        raise Unsupported(f"{name}: {players} player{'s' if players > 1 else ''}; expected 2 to 6")
    if about.is_seeded and not (about.is_hidden and "rng_seed" in about.game.get_parameters()):
        raise Unsupported(f"{name}: the library draws the chance itself, and its seed is no parameter or would be seen")
    if about.is_hidden and not (kind.provides_information_state_string or kind.provides_observation_string):
        raise Unsupported(f"{name}: it has hidden information, and no text of what a player knows")
    return about


def write(name: str, directory: Path) -> None:
    """Writes a game that the referee plays, with a copy of the library, to a directory that is empty or does not exist.

    Raises Unsupported if the referee cannot play it, OSError if the directory cannot be written.
    """
    about = load(name)
    if directory.exists() and any(directory.iterdir()):
        raise FileExistsError(f"{directory} is not empty: name a new directory")
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(rules.__file__, directory / "game.py")
    shutil.copyfile(referee_game.__file__, directory / "referee_game.py")
    # The program sees only its directory and those of the system. The record identifies the library, too.
    library = Path(str(pyspiel.__file__))
    shutil.copyfile(library, directory / library.name)
    (directory / "game.toml").write_text(_manifest(name, about))
    (directory / "rules.md").write_text(_page(name, about))


def _python() -> str:
    """Returns the Python that can load the library: the same version as this one."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return name if shutil.which(name) else str(Path(sys.executable).resolve())


def _manifest(name: str, about: OpenSpielGame) -> str:
    kind = about.game.get_type()
    words = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    values = {
        "protocol": 1,
        "id": f"openspiel_{words}"[:_LONGEST_ID],
        "title": str(kind.long_name)[:80],
        "version": 1,
        "command": shlex.join([_python(), "game.py", name]),
        "seats": about.game.num_players(),
        "hidden": about.is_hidden,
        "chance": about.has_chance,
        "simultaneous": kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS,
        "imagine": not about.is_hidden,
        "reasons": ["ended"],
        **({"amounts": "points"} if about.range else {}),
        "rules": "rules.md",
        # Tables of some games take seconds to build.
        "start_limit_ms": 60_000,
        "limit_ms": 10_000,
    }
    # Strings and lists of JSON are those of TOML, too.
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def _page(name: str, about: OpenSpielGame) -> str:
    view = '`{"state":"..."}`: what the seat knows' if about.is_hidden else '`{"state":"...","serialized":"..."}`: the position'
    least, most = about.range or (0, 0)
    amounts = f" The amounts are the returns, from {least:g} to {most:g} points." if about.range else ""
    return f"""# {about.game.get_type().long_name}

The game `{about.game}` of OpenSpiel, which documents its rules.

- **R1** The moves are the texts of the library's actions, with the number of the action where two have the same text. Quote, backslash,
  `%` and what is not ASCII are written as in URLs: `%22`, `%5C`, `%25`.
- **R2** The ranks are those of the players' returns (`ended`).{amounts}

The view is {view}, as texts of the library.
"""
