"""The moves of checkers, as a referee would list them: enough to play the sample bots against each other."""

from __future__ import annotations

from collections.abc import Iterator

START = "b" * 12 + "." * 8 + "w" * 12
DRAW_PLIES = 50

# The board's index at each dark row and column, and back: jumps become plain steps of rows and columns.
_AT = {(i // 4, i % 4 * 2 + (i // 4 + 1) % 2): i for i in range(32)}
_PLACE = {i: place for place, i in _AT.items()}


def legal(board: str, side: str) -> list[str]:
    """Returns the legal moves of `side`, "b" or "w", sorted: captures alone if there are any."""
    own = [i for i, piece in enumerate(board) if piece.lower() == side]
    captures = [path for i in own for path in _captures(board, [i], board[i])]
    if captures:
        return sorted({_text("x", path) for path in captures})
    steps = [[i, to] for i in own for to, _ in _directions(i, board[i]) if to is not None and board[to] == "."]
    return sorted(_text("-", path) for path in steps)


def play(board: str, move: str) -> str:
    """Returns the board after a legal move."""
    path = [int(square) - 1 for square in move.replace("-", "x").split("x")]
    cells, piece = list(board), board[path[0]]
    cells[path[0]] = "."
    if "x" in move:
        for a, b in zip(path, path[1:]):
            (row_a, column_a), (row_b, column_b) = _PLACE[a], _PLACE[b]
            cells[_AT[(row_a + row_b) // 2, (column_a + column_b) // 2]] = "."
    crowned = _PLACE[path[-1]][0] == {"b": 7, "w": 0}.get(piece)
    cells[path[-1]] = piece.upper() if crowned else piece
    return "".join(cells)


def perft(board: str, side: str, depth: int) -> int:
    """Returns the number of lines of play of `depth` moves."""
    if depth == 0:
        return 1
    return sum(perft(play(board, move), "wb"[side == "w"], depth - 1) for move in legal(board, side))


def _captures(board: str, path: list[int], piece: str) -> Iterator[list[int]]:
    """Yields every complete capture by `piece` that begins with `path`; what it jumps leaves `board` at once."""
    ended = True
    for over, to in _directions(path[-1], piece):
        if over is None or to is None or board[over].lower() not in "bw".replace(piece.lower(), ""):
            continue
        if board[to] == "." or to == path[0]:
            ended = False
            yield from _captures(board[:over] + "." + board[over + 1 :], [*path, to], piece)
    if ended and len(path) > 1:
        yield path


def _directions(i: int, piece: str) -> Iterator[tuple[int | None, int | None]]:
    """Yields the next square and the one behind it for each direction that `piece` may go; None is off the board."""
    row, column = _PLACE[i]
    for dr in {"b": (1,), "w": (-1,)}.get(piece, (1, -1)):
        for dc in (-1, 1):
            yield _AT.get((row + dr, column + dc)), _AT.get((row + 2 * dr, column + 2 * dc))


def _text(separator: str, path: list[int]) -> str:
    return separator.join(str(i + 1) for i in path)
