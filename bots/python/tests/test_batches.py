"""A batch bot decides on all turns that wait together."""

from __future__ import annotations

import io
import json
import unittest

from referee_bot import Disconnected, Stream, Turn, batched
from referee_bot.hello import Hello
from referee_bot.session import Session

from .fake_referee import FakeReferee, Json

SIZES = """
from referee_bot import Move, batched, run
run(batched(lambda turns: [Move(turn.legal[0], info={"batch": len(turns)}) for turn in turns]), name="b", slots=8)
"""


def start(match: str, seat: int = 0) -> Json:
    seats = [{"name": "a", "team": 0}, {"name": "b", "team": 1}]
    return {"type": "start", "match": match, "game": "checkers", "rules": 1, "seat": seat, "seats": seats}


def turn(match: str, seat: int = 0) -> Json:
    return {"type": "turn", "match": match, "seat": seat, "turn": 0, "legal": [match], "clock": None}


class Batches(unittest.TestCase):
    def test_turns_that_come_in_one_write_are_decided_together(self) -> None:
        with FakeReferee.of_code(SIZES) as referee:
            self.assertEqual(referee.hello()["slots"], 8)
            matches = [f"m{i}" for i in range(8)]
            for match in matches:
                referee.start(match)
            referee.send_bytes(b"".join(json.dumps(turn(match)).encode() + b"\n" for match in matches))
            answers = [referee.receive() for _ in matches]
            self.assertEqual([answer["move"] for answer in answers], matches)
            self.assertEqual([answer["info"]["batch"] for answer in answers], [8] * 8)

    def test_a_turn_that_comes_alone_is_decided_alone(self) -> None:
        with FakeReferee.of_code(SIZES) as referee:
            referee.hello()
            referee.start()
            self.assertEqual(referee.turn(["a"])["info"], {"batch": 1})

    def test_all_answers_leave_together_and_starts_are_not_kept_waiting(self) -> None:
        session = Session(batched(lambda turns: [turn.legal[0] for turn in turns]), Hello("b", slots=2))
        messages = [start("m1"), turn("m1"), start("m2"), turn("m2")]
        groups = [[answer["type"] for answer in group] for group in session.handle(messages)]
        self.assertEqual(groups, [["ready"], ["ready"], ["move", "move"]])

    def test_too_few_replies_are_an_error(self) -> None:
        def first_alone(turns: list[Turn]) -> list[str]:
            return turns[0].legal

        session = Session(batched(first_alone), Hello("b", slots=2))
        with self.assertRaisesRegex(ValueError, "choose_all returned 1 replies to 2 turns"):
            list(session.handle([start("m1"), start("m2"), turn("m1"), turn("m2")]))


class Streams(unittest.TestCase):
    def test_a_last_line_without_its_end_is_dropped(self) -> None:
        stream = Stream(io.BufferedReader(io.BytesIO(b'{"type":"a"}\n{"type":"b"}')), io.BytesIO())
        self.assertEqual([message for messages in stream.batches() for message in messages], [{"type": "a"}])

    def test_a_closed_pipe_is_reported(self) -> None:
        class Closed(io.BytesIO):
            def write(self, data: object) -> int:
                raise BrokenPipeError

        with self.assertRaises(Disconnected):
            Stream(io.BytesIO(), Closed()).send({"type": "pong"})
