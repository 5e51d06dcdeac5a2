"""Reads the files beside its program, whose path leads through a symbolic link."""

import sys
from pathlib import Path

from _attack import attempt, play

attempt("read the seed beside its program", lambda: (Path(sys.argv[0]).parent / "seed-of-the-run").read_bytes())
play()
