"""The SDK reads every line of the golden transcripts, and answers each request with one of its legal moves."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from pathlib import Path

from referee_bot import Bot, Turn
from referee_bot.hello import Hello
from referee_bot.session import Session

from .fake_referee import Json

TRANSCRIPTS = Path(__file__).parents[3] / "protocol" / "transcripts"


def said_by_the_referee(transcript: Path) -> list[Json]:
    """Returns the messages of the referee in order."""
    lines = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()[1:]]
    return [line["line"] for line in lines if line["from"] == "referee"]


class Listener(Bot):
    def __init__(self) -> None:
        self.heard: list[Json] = []

    def event(self, match: str, seat: int, event: Json) -> None:
        self.heard.append(event)

    def choose(self, turn: Turn) -> str:
        return turn.legal[-1]


class Transcripts(unittest.TestCase):
    def test_every_line_is_read_and_every_request_answered_with_a_legal_move(self) -> None:
        transcripts = sorted(TRANSCRIPTS.glob("*.jsonl"))
        self.assertGreater(len(transcripts), 20)
        for transcript in transcripts:
            listener = Listener()
            session = Session(listener, Hello(name="reader"))
            with self.subTest(transcript=transcript.name), contextlib.redirect_stderr(io.StringIO()):
                messages = said_by_the_referee(transcript)
                for message in messages:
                    answers = list(session.handle([message]))
                    if message["type"] == "turn":
                        [[answer]] = answers
                        self.assertEqual(answer["turn"], message["turn"])
                        self.assertIn(answer["move"], message["legal"])
                self.assertEqual(
                    listener.heard, [message["event"] for message in messages if message["type"] == "event"]
                )
