"""Builds the prompts (rules, position, legal moves) and parses the answers of the model."""

from __future__ import annotations

import json
import re
from typing import Literal

from ..messages import Json, Start, Turn
from .notation import same_move

ACCEPT_DRAW = "accept draw"
"""The answer that accepts a draw, offered beside the legal moves."""

_DECORATION = re.compile(r"""^\s*\d+\.(?:\.\.)?\s+|[\s`*_"'“”‘’]|[.!]+$""")
_AROUND = " .,;:!?()[]{}<>*_`\"'“”‘’"
_OBJECT = re.compile(r'\{[^{}]*"move"[^{}]*\}')


def choices(turn: Turn) -> list[str]:
    """Returns the answers that the model may give; none if the game does not list its moves."""
    return [*turn.legal, ACCEPT_DRAW] if turn.draw_offered and turn.legal else turn.legal


def rules_message(start: Start, rules: str) -> Json:
    """Returns the message that opens every conversation of a match."""
    seats = "\n".join(
        f"- seat {number}: {seat.name}, side {seat.team}{' (you)' if number == start.seat else ''}"
        for number, seat in enumerate(start.seats)
    )
    return {
        "role": "system",
        "content": f"You play a match of the game `{start.game}` in seat {start.seat}. Play to win.\n"
        'Answer with one JSON object and nothing else: {"move": "..."}, where the move is '
        + (
            "written as the rules say; the request does not list the legal ones.\n\n"
            if start.unlisted
            else "one of the legal moves that the request lists, character for character.\n\n"
        )
        + f"The seats:\n{seats}\n\nThe options: {json.dumps(start.options)}\n\nThe rules:\n\n{rules}",
    }


def turn_message(turn: Turn) -> Json:
    """Returns the message that asks for a move."""
    parts = []
    if turn.events:
        parts.append("Since your previous move:\n" + "\n".join(map(_event, turn.events)))
    view = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in turn.view.items())
    parts.append(f"The position, as you may see it:\n{view}")
    if turn.turns_left is not None:
        parts.append(f"Turns until the limit: {turn.turns_left}")
    if turn.draw_offered:
        parts.append(f'You are offered a draw: the move "{ACCEPT_DRAW}" accepts it.')
    if turn.legal:
        parts.append("The legal moves:\n" + "\n".join(choices(turn)))
    if turn.retry is not None:
        parts.append(f"The referee rejected your previous answer ({turn.retry.code}): {turn.retry.message}")
    return {"role": "user", "content": "\n\n".join(parts)}


def _event(event: Json) -> str:
    """Returns an event in few tokens."""
    if set(event) == {"kind", "seat", "move"} and event["kind"] == "move" and event["move"] is not None:
        return f"seat {event['seat']}: {event['move']}"
    return json.dumps(event, ensure_ascii=False)


def plain_move(text: str) -> str:
    """Returns the move in an answer without quotes and Markdown around it, where no list says what is legal."""
    return read_move(text).strip(" \n*_`\"'“”‘’")


def repetition(messages: list[Json], answer: str, problem: str) -> list[Json]:
    """Returns the messages that ask again after an answer without a legal move.

    Servers reject an assistant message without content, and some reject two user messages in a row.
    """
    correction = f'{problem}. Answer with {{"move": "..."}} and one of the legal moves.'
    if answer:
        return [*messages, {"role": "assistant", "content": answer}, {"role": "user", "content": correction}]
    *earlier, last = messages
    return [*earlier, {**last, "content": f"{last['content']}\n\n{correction}"}]


Rule = Literal["exact", "case", "decoration", "notation", "last_named", "unlisted"]
"""How a legal move was found in an answer."""


def resolve(text: str, legal: list[str], view: Json) -> tuple[str, Rule] | None:
    """Returns the legal move that an answer names, and the first of these rules by which exactly one fits; None if none fits.

    `exact`: the answer is the move. `case`: so it is without regard to upper and lower case. `decoration`: so it is without
    blanks, quotes, Markdown, a number of the move in front and a full stop behind. `notation`: so it is in another notation, see
    `same_move`. `last_named`: it is the legal move that the answer names last, as words of their own, or the last word that is a
    legal move in another notation. `view` is that of the turn.
    """
    written = read_move(text)
    if written in legal:
        return written, "exact"
    plain = _DECORATION.sub("", written)
    fits: list[tuple[Rule, list[str]]] = [
        ("case", [move for move in legal if move.lower() == written.lower()]),
        ("decoration", [move for move in legal if _DECORATION.sub("", move).lower() == plain.lower()]),
        ("notation", same_move(written.strip(_AROUND), legal, view)),
        ("last_named", _last_named(written, legal)),
    ]
    words = reversed([word.strip(_AROUND) for word in written.split()])
    fits.extend(("last_named", same_move(word, legal, view)) for word in words if len(word) > 1)
    return next(((moves[0], rule) for rule, moves in fits if len(moves) == 1), None)


def _last_named(text: str, legal: list[str]) -> list[str]:
    """Returns the legal moves whose last mention ends last, and of these the longest."""
    ends: dict[str, tuple[int, int]] = {}
    for move in legal:
        for found in re.finditer(rf"(?<![\w-]){re.escape(move)}(?![\w-])", text, re.IGNORECASE):
            ends[move] = (found.end(), len(move))
    last = max(ends.values(), default=None)
    return [move for move, end in ends.items() if end == last]


def read_move(text: str) -> str:
    """Returns the move in an answer, legal or not: that of the last JSON object with a `move`, else the whole text."""
    for found in reversed(_OBJECT.findall(text)):
        try:
            move = json.loads(found)["move"]
        except (ValueError, LookupError):
            continue
        if isinstance(move, str):
            return move.strip()
    return text.strip()
