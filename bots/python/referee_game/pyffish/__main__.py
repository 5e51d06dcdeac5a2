"""Writes a variant of Fairy-Stockfish as a directory that referee plays. Needs the package `pyffish`."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from . import Unsupported, write

EXAMPLES = """examples:
  python -m referee_game.pyffish crazyhouse ./crazyhouse
  python -m referee_game.pyffish xiangqi ./xiangqi

then:
  referee game check ./crazyhouse
  referee play ./crazyhouse uci:fairy-stockfish ./mybot
"""


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m referee_game.pyffish", None, __doc__, EXAMPLES, formatter_class=form, allow_abbrev=False
    )
    parser.add_argument("variant", metavar="VARIANT", help="the variant: `pyffish.variants()` lists all")
    parser.add_argument("directory", metavar="DIR", type=Path, help="the directory to write, empty or new")
    args = parser.parse_args()
    try:
        write(args.variant, args.directory)
    except (Unsupported, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"Next:\n\nreferee game check {shlex.quote(str(args.directory))}")


if __name__ == "__main__":
    main()
