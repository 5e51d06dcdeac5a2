"""Moves that are written in another notation than the legal ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..messages import Json

_PARTS = re.compile(r"[a-z]+\d*|\d+")
_TAKES = re.compile(r"(?<=\d)x(?=[a-z\d])")
_FILLERS = frozenset({"x", "to", "takes"})
_SAN = re.compile(r"([KQRBN])?([a-h])?([1-8])?x?([a-h])([1-8])(?:=?([QRBN]))?[+#]?")
_CASTLING = {"OO": "g", "OOO": "c"}
"""The file on which the king ends."""


def same_move(written: str, legal: Iterable[str], view: Json) -> list[str]:
    """Returns the legal moves that `written` names in another notation.

    The parts of a move may be separated in any way: `11x18` and `11 to 18` are `11-18`, `e2-e4` and `E2E4` are `e2e4`. Of a
    capture in draughts, the first and the last square suffice. In chess it may be in algebraic notation: `Nf3`, `exd5`,
    `e8=Q+`, `O-O`.
    """
    parts = _parts(written)
    if not parts:
        return []
    moves = list(legal)
    same = [move for move in moves if _parts(move) == parts]
    if not same and len(parts) == 2 and all(part.isdigit() for part in parts):
        same = [move for move in moves if [_parts(move)[0], _parts(move)[-1]] == parts]
    return same or _algebraic(written, moves, view)


def _parts(move: str) -> list[str]:
    separated = _TAKES.sub("-", move.lower())
    return [part for part in _PARTS.findall(separated) if part not in _FILLERS]


def _algebraic(written: str, legal: list[str], view: Json) -> list[str]:
    """Returns the moves in the notation of UCI that `written` names in that of the laws of chess."""
    board = view.get("board")
    if not (isinstance(board, str) and len(board) == 64 and "fen" in view):
        return []

    def piece(move: str) -> str:
        file, rank = "abcdefgh".find(move[:1]), "87654321".find(move[1:2])
        return board[8 * rank + file].upper() if file >= 0 and rank >= 0 else "."

    castling = written.strip(" +#!?").upper().replace("0", "O").replace("-", "")
    if castling in _CASTLING:
        return [move for move in legal if piece(move) == "K" and move[0] == "e" and move[2] == _CASTLING[castling]]
    found = _SAN.fullmatch(written.strip().rstrip("!?"))
    if found is None:
        return []
    kind, file, rank, to_file, to_rank, promoted = found.groups()
    return [
        move
        for move in legal
        if piece(move) == (kind or "P")
        and move[2:4] == to_file + to_rank
        and (file is None or move[0] == file)
        and (rank is None or move[1] == rank)
        and move[4:].upper() == (promoted or "")
    ]
