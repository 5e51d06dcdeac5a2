"""Views and moves of every game are read and written as the shared vectors say, and as the real matches have them."""

from __future__ import annotations

import json
import unittest
from dataclasses import asdict
from pathlib import Path
from typing import Any

from referee_bot import games

VECTORS = Path(__file__).parents[2] / "vectors"
TRANSCRIPTS = Path(__file__).parents[3] / "protocol" / "transcripts"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(asdict(value)))


class Games(unittest.TestCase):
    def test_moves_are_read_and_written(self) -> None:
        for vector in lines(VECTORS / "moves.jsonl"):
            read_move = getattr(games, vector["game"]).read_move
            with self.subTest(vector):
                if vector["read"] is None:
                    with self.assertRaisesRegex(ValueError, "is no move of"):
                        read_move(vector["move"])
                    continue
                move = read_move(vector["move"])
                fields = {name: value for name, value in as_json(move).items() if value is not None}
                self.assertEqual({"kind": type(move).__name__.lower(), **fields}, vector["read"])
                self.assertEqual(str(move), vector["move"])

    def test_views_are_read(self) -> None:
        for vector in lines(VECTORS / "views.jsonl"):
            with self.subTest(vector):
                view = getattr(games, vector["game"]).View.from_json(vector["view"])
                self.assertEqual(as_json(view), vector.get("read", vector["view"]))

    def test_all_views_and_legal_moves_of_the_transcripts_are_read(self) -> None:
        turns = 0
        for path in TRANSCRIPTS.glob("*.jsonl"):
            of: dict[str, Any] = {}
            for message in (line["line"] for line in lines(path)[1:] if line["from"] == "referee"):
                if message["type"] == "start":
                    of[message["match"]] = getattr(games, message["game"])
                if message["type"] == "turn" and "view" in message and message["match"] in of:
                    game = of[message["match"]]
                    self.assertEqual(as_json(game.View.from_json(message["view"])), message["view"])
                    self.assertEqual([str(game.read_move(text)) for text in message["legal"]], message["legal"])
                    turns += 1
        self.assertGreater(turns, 30)
