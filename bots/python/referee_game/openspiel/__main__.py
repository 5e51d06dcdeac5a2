"""Writes a game of OpenSpiel as a directory that referee plays."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from . import Unsupported, write

EXAMPLES = """examples:
  python -m referee_game.openspiel backgammon ./backgammon
  python -m referee_game.openspiel 'hex(board_size=5)' ./hex5

then:
  referee game check ./backgammon
  referee play ./backgammon ./bot1 ./bot2
"""


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m referee_game.openspiel", None, __doc__, EXAMPLES, formatter_class=form, allow_abbrev=False
    )
    parser.add_argument("name", metavar="NAME", help="the game, optionally with parameters")
    parser.add_argument("directory", metavar="DIR", type=Path, help="the directory to write, empty or new")
    args = parser.parse_args()
    try:
        write(args.name, args.directory)
    except (Unsupported, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"Next:\n\nreferee game check {shlex.quote(str(args.directory))}")


if __name__ == "__main__":
    main()
