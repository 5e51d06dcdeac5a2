"""A bot speaks the protocol over its pipes."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from subprocess import PIPE

from .fake_referee import PACKAGE_ROOT, TIMEOUT, FakeReferee, Json

FIRST = """
from referee_bot import run
run(lambda turn: turn.legal[0], name="first", version="1", slots=2, wants=["legal"])
"""

# Answers with the messages that it received, so that a test can look at a turn as the bot sees it.
ECHO = """
from dataclasses import asdict
from referee_bot import Move, Turn, run
run(lambda turn: Move(turn.legal[0], info=asdict(turn)), name="echo")
"""


def answering(reply: str) -> str:
    """Returns the code of a bot that gives the same reply to every turn."""
    return f"from referee_bot import *\nrun(lambda turn: {reply}, name='same')"


class Handshake(unittest.TestCase):
    def test_hello_is_answered_with_what_the_bot_says_of_itself(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            expected = {"type": "hello", "protocol": 1, "name": "first", "version": "1", "slots": 2, "wants": ["legal"]}
            self.assertEqual(referee.hello(), expected)

    def test_start_is_answered_with_ready_for_the_same_match_and_seat(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            self.assertEqual(referee.start("m7", seat=1), {"type": "ready", "match": "m7", "seat": 1})

    def test_the_bot_waits_for_the_referee_to_speak_first(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.ping()

    def test_a_name_that_the_protocol_forbids_is_refused_at_once(self) -> None:
        with FakeReferee.of_code("from referee_bot import *\nrun(print, name='a/b')") as referee:
            self.assertEqual(referee.status(), 1)
            self.assertIn("ValueError: name 'a/b'", referee.stderr())


class Turns(unittest.TestCase):
    def test_a_turn_is_answered_with_its_own_id(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            referee.start()
            answer = referee.turn(["11-15", "9-13"], turn=4)
            self.assertEqual(answer, {"type": "move", "match": "m1", "seat": 0, "turn": 4, "move": "11-15"})

    def test_the_bot_sees_all_of_a_turn(self) -> None:
        with FakeReferee.of_code(ECHO) as referee:
            referee.hello()
            referee.start(seat=1)
            retry = {"of": 2, "code": "illegal_move", "message": "no"}
            fields: Json = {"view": {"board": "b"}, "turns_left": 9, "draw_offered": True, "retry": retry}
            seen = referee.turn(["a"], seat=1, turn=3, **fields)["info"]
            self.assertEqual({key: seen[key] for key in fields}, fields)
            self.assertEqual((seen["match"], seen["seat"], seen["turn"], seen["legal"]), ("m1", 1, 3, ["a"]))
            self.assertEqual(seen["clock"], {"bank_ms": 60000, "limit_ms": 65000})
            self.assertEqual(seen["start"]["game"], "checkers")
            self.assertEqual(seen["start"]["seats"][1], {"name": "two", "team": 1})

    def test_what_a_turn_leaves_out_is_none_or_empty(self) -> None:
        with FakeReferee.of_code(answering("repr((turn.clock, turn.turns_left, turn.retry, turn.view))")) as referee:
            referee.hello()
            referee.start(clock=None)
            self.assertEqual(referee.turn(["a"], clock=None)["move"], "(None, None, None, {})")

    def test_a_turn_carries_the_events_since_the_turn_before(self) -> None:
        with FakeReferee.of_code(ECHO) as referee:
            referee.hello()
            referee.start()
            events = [{"kind": "move", "seat": seat, "move": "11-15"} for seat in range(2)]
            for n, event in enumerate(events):
                referee.send("event", match="m1", seat=0, n=n, event=event)
            self.assertEqual(referee.turn(["a"], turn=0)["info"]["events"], events)
            self.assertEqual(referee.turn(["a"], turn=1)["info"]["events"], [])

    def test_a_move_may_offer_a_draw(self) -> None:
        with FakeReferee.of_code(answering("Move('11-15', offer_draw=True)")) as referee:
            referee.hello()
            referee.start()
            self.assertIs(referee.turn(["11-15"])["offer_draw"], True)

    def test_an_offered_draw_can_be_accepted(self) -> None:
        with FakeReferee.of_code(answering("AcceptDraw() if turn.draw_offered else 'a'")) as referee:
            referee.hello()
            referee.start()
            answer = referee.turn(["a"], turn=2, draw_offered=True)
            self.assertEqual(answer, {"type": "accept_draw", "match": "m1", "seat": 0, "turn": 2})

    def test_a_match_can_be_resigned(self) -> None:
        with FakeReferee.of_code(answering("Resign()")) as referee:
            referee.hello()
            referee.start()
            self.assertEqual(referee.turn(["a"]), {"type": "resign", "match": "m1", "seat": 0})

    def test_a_forgotten_return_ends_the_bot_with_a_reason(self) -> None:
        with FakeReferee.of_code(answering("None")) as referee:
            referee.hello()
            referee.start()
            referee.send("turn", match="m1", seat=0, turn=0, view={}, legal=["a"], clock=None)
            self.assertEqual(referee.status(), 1)
            self.assertIn("TypeError: choose returned None", referee.stderr())


class Matches(unittest.TestCase):
    def test_one_process_plays_one_match_after_another(self) -> None:
        with FakeReferee.of_code(ECHO) as referee:
            referee.hello()
            for match, seat in (("m1", 0), ("m2", 1)):
                self.assertEqual(referee.start(match, seat=seat)["match"], match)
                referee.send("event", match=match, seat=seat, n=0, event={"kind": match})
                seen = referee.turn(["a"], match, seat=seat)["info"]
                self.assertEqual((seen["start"]["match"], seen["events"]), (match, [{"kind": match}]))
                referee.end(match, seat=seat)
            self.assertEqual(referee.finish(), 0)

    def test_matches_that_run_at_once_are_kept_apart(self) -> None:
        with FakeReferee.of_code(ECHO) as referee:
            referee.hello()
            referee.start("m1", seat=0)
            referee.start("m2", seat=1, game="jeex")
            referee.send("event", match="m2", seat=1, n=0, event={"kind": "of m2"})
            referee.send("event", match="m1", seat=0, n=0, event={"kind": "of m1"})
            one = referee.turn(["a"], "m1", seat=0)["info"]
            referee.end("m1", seat=0)
            two = referee.turn(["a"], "m2", seat=1)["info"]
            self.assertEqual((one["start"]["game"], one["events"]), ("checkers", [{"kind": "of m1"}]))
            self.assertEqual((two["start"]["game"], two["events"]), ("jeex", [{"kind": "of m2"}]))

    def test_two_turns_in_one_write_are_both_answered(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            referee.start("m1")
            referee.start("m2")
            line = b'{"type":"turn","match":"%s","seat":0,"turn":0,"legal":["a"],"clock":null}\r\n'
            referee.send_bytes(line % b"m1" + line % b"m2")
            self.assertEqual([referee.receive()["match"], referee.receive()["match"]], ["m1", "m2"])

    def test_a_bot_class_sees_start_events_and_end(self) -> None:
        code = """
import sys
from referee_bot import Bot, run
class Watcher(Bot):
    def start(self, start):
        print("start", start.match)
        return "00ff"
    def event(self, match, seat, event):
        print("event", match, seat, event["kind"])
    def choose(self, turn):
        return turn.legal[0]
    def end(self, end):
        print("end", end.match, end.ended_by, end.scores, end.fault)
run(Watcher(), name="watcher")
"""
        with FakeReferee.of_code(code) as referee:
            referee.hello()
            self.assertEqual(referee.start(nonce=True)["nonce"], "00ff")
            referee.send("event", match="m1", seat=0, n=0, event={"kind": "move"})
            referee.end(ended_by="fault", fault={"seat": 1, "code": "exited"})
            self.assertEqual(referee.finish(), 0)
            seen = "start m1\nevent m1 0 move\nend m1 fault [1, 0] Fault(seat=1, code='exited', detail=None)\n"
            self.assertEqual(referee.stderr(), seen)

    def test_an_aborted_match_ends_without_ranks(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            referee.start()
            referee.send("end", match="m1", seat=0, ended_by="aborted", reason="aborted")
            self.assertEqual(referee.finish(), 0)


class Stream(unittest.TestCase):
    def test_unknown_messages_and_fields_are_ignored(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            referee.send("weather", sky=["grey"])
            referee.send_bytes(b'{"type":[1]}\n{}\n')
            referee.ping()
            referee.start(weather="grey")
            self.assertEqual(referee.turn(["a"], weather={"sky": "grey"})["move"], "a")

    def test_empty_lines_carriage_returns_and_a_byte_order_mark_are_ignored(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.send_bytes(b'\xef\xbb\xbf{"type":"ping","id":1}\r\n\r\n\n{"type":"ping","id":2}\n')
            self.assertEqual([referee.receive()["id"], referee.receive()["id"]], [1, 2])

    def test_a_line_that_is_no_json_object_is_logged_and_skipped(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            too_deep = b"[" * 100_000 + b"\n"
            referee.send_bytes(b'{"type":\n\xff\xfe\n[1]\n{}1\n' + too_deep)
            referee.ping()
            self.assertEqual(referee.stderr().count("referee_bot: skipped a line"), 5)

    def test_a_message_of_a_match_that_never_started_is_ignored(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            referee.send("turn", match="m9", seat=0, turn=0, view={}, legal=["a"], clock=None)
            referee.ping()

    def test_an_error_is_logged(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.send("error", code="stale", message="request 3 is closed", match="m1")
            referee.ping()
            self.assertIn("request 3 is closed", referee.stderr())

    def test_what_the_bot_prints_does_not_reach_the_referee(self) -> None:
        code = """
import os, sys
from referee_bot import run
def choose(turn):
    print("python")
    os.system("echo shell")
    os.write(1, b"raw\\n")
    sys.__stdout__.write("old object\\n")
    return turn.legal[0]
run(choose, name="loud")
print("after")
"""
        with FakeReferee.of_code(code) as referee:
            referee.hello()
            referee.start()
            self.assertEqual(referee.turn(["a"])["move"], "a")
            self.assertEqual(referee.finish(), 0)
            for text in ("python", "shell", "raw", "old object", "after"):
                self.assertIn(text, referee.stderr())

    def test_a_move_is_one_line_in_one_write(self) -> None:
        # The info makes the line longer than the usual 8 KiB buffer; a pipe takes up to 64 KiB at once.
        code = """
import os
from referee_bot import Move, run
real, sizes = os.fdopen, []
class Spy:
    def __init__(self, file): self.file = file
    def write(self, data):
        sizes.append(len(data))
        return self.file.write(data)
    def flush(self): pass
os.fdopen = lambda *args, **kwargs: Spy(real(*args, **kwargs))
run(lambda turn: Move("a", info={"text": "x" * 20000}), name="long")
print(sizes)
"""
        with FakeReferee.of_code(code) as referee:
            referee.hello()
            referee.start()
            referee.turn(["a"])
            self.assertEqual(referee.finish(), 0)
            self.assertEqual(referee.stderr().count(","), 2)

    def test_bye_ends_the_bot_with_status_0(self) -> None:
        with FakeReferee.of_code(FIRST) as referee:
            referee.hello()
            referee.send("bye", reason="done")
            self.assertEqual(referee.status(), 0)

    def test_the_end_of_the_input_ends_the_bot_with_status_0(self) -> None:
        for code in (FIRST, ECHO):
            with self.subTest(code), FakeReferee.of_code(code) as referee:
                referee.hello()
                self.assertEqual(referee.finish(), 0)
                self.assertEqual(referee.stderr(), "")

    def test_a_referee_that_reads_no_more_ends_the_bot_with_status_0(self) -> None:
        reader, writer = os.pipe()
        bot = subprocess.Popen([sys.executable, "-c", FIRST], cwd=PACKAGE_ROOT, stdin=PIPE, stdout=writer, stderr=PIPE)
        os.close(writer)
        os.close(reader)
        _, stderr = bot.communicate(b'{"type":"ping","id":1}\n', TIMEOUT)
        self.assertEqual((bot.returncode, stderr), (0, b""))
