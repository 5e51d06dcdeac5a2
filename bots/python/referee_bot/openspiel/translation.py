"""Moves of the referee as actions of OpenSpiel, and back.

OpenSpiel names squares like chess, with the first player's men on the ranks 1 to 3, and each jump of a capture is an
action of its own.
"""

from __future__ import annotations

import re

import pyspiel


def _name(square: int) -> str:
    row, place = divmod(square - 1, 4)
    column = place * 2 + (row + 1) % 2
    return "hgfedcba"[column] + str(row + 1)


_NAMES = {square: _name(square) for square in range(1, 33)}
_SQUARES = {name: square for square, name in _NAMES.items()}


def squares(state: pyspiel.State, action: int) -> tuple[int, int]:
    """Returns the squares from which and to which an action of the player to move goes."""
    text = state.action_to_string(action)
    read = re.fullmatch("([a-h][1-8])([a-h][1-8])", text)
    if not read:
        raise ValueError(f"{text!r} is not an action of checkers")
    return _SQUARES[read[1]], _SQUARES[read[2]]


def text(path: list[int]) -> str:
    """Returns the move that visits these squares, as the referee writes it: a jump crosses two rows."""
    is_jump = abs((path[0] - 1) // 4 - (path[1] - 1) // 4) == 2
    return ("x" if is_jump else "-").join(map(str, path))


def steps(move: str) -> list[tuple[int, int]]:
    """Returns the squares from which and to which each action of a move goes."""
    path = [int(square) for square in re.split("[-x]", move)]
    return list(zip(path, path[1:]))


def action(state: pyspiel.State, step: tuple[int, int]) -> int:
    """Returns the action with these squares. Raises ValueError if OpenSpiel does not have it."""
    for action in state.legal_actions():
        if squares(state, action) == step:
            return int(action)
    raise ValueError(f"the rules differ: OpenSpiel cannot go from {step[0]} to {step[1]} in\n{state}")


def legal_moves(state: pyspiel.State) -> list[str]:
    """Returns the legal moves of a state as the referee writes them, sorted. There are none at the end."""
    moves: list[str] = []
    if not state.is_terminal():
        _extend(state, [], moves)
    return sorted(moves)


def _extend(state: pyspiel.State, path: list[int], moves: list[str]) -> None:
    for action in state.legal_actions():
        step = squares(state, action)
        after = state.child(action)
        longer = [*(path or step[:1]), step[1]]
        if is_over(state, after):
            moves.append(text(longer))
        else:
            _extend(after, longer, moves)


def is_over(before: pyspiel.State, after: pyspiel.State) -> bool:
    """Returns whether a move has ended with the action between these states: the other player is to move."""
    return bool(after.is_terminal()) or after.current_player() != before.current_player()
