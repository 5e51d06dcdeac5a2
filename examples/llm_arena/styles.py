"""The ways in which models name a move, as harnesses have met them: 30 styles of replies that name one legal move."""

from __future__ import annotations

import json
from collections.abc import Callable

Style = Callable[[str], str]


def _object(move: str) -> str:
    return json.dumps({"move": move})


STYLES: dict[str, Style] = {
    "object": _object,
    "compact": lambda move: json.dumps({"move": move}, separators=(",", ":")),
    "indented": lambda move: json.dumps({"move": move}, indent=2),
    "more fields": lambda move: json.dumps({"thought": "the centre matters", "move": move, "confidence": 0.7}),
    "fence": lambda move: f"```json\n{_object(move)}\n```",
    "fence without a language": lambda move: f"```\n{move}\n```",
    "prose, then the object": lambda move: f"I take the centre.\n\n{_object(move)}",
    "the object, then prose": lambda move: f"{_object(move)}\n\nThis keeps my back row closed.",
    "a corrected object": lambda move: f'{{"move": "none"}}\nWait, that is not legal.\n{_object(move)}',
    "bare": lambda move: move,
    "blanks": lambda move: f"\n   {move}  \n",
    "full stop": lambda move: f"{move}.",
    "exclamation mark": lambda move: f"{move}!",
    "quotes": lambda move: f'"{move}"',
    "single quotes": lambda move: f"'{move}'",
    "typographic quotes": lambda move: f"“{move}”",
    "bold": lambda move: f"**{move}**",
    "code": lambda move: f"`{move}`",
    "heading": lambda move: f"### My move\n\n{move}",
    "list item": lambda move: f"- {move}",
    "move number": lambda move: f"12. {move}",
    "move number of the second": lambda move: f"12... {move}",
    "label": lambda move: f"Move: {move}",
    "sentence": lambda move: f"I will play {move}, because it controls the centre.",
    "final answer": lambda move: f"Weighing both flanks, I prefer activity.\n\nFinal answer: {move}",
    "boxed": lambda move: f"\\boxed{{{move}}}",
    "tags": lambda move: f"<answer>{move}</answer>",
    "blanks within": lambda move: move.replace("-", " - ").replace("x", " x "),
    "to": lambda move: move.replace("-", " to "),
    "upper case": lambda move: move.upper(),
}
"""By name: what makes of a move the text of a reply."""
