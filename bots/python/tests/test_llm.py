"""The bot of language models, as a process, against a server that speaks the chat API."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from .fake_referee import FakeReferee, Json
from .model_server import KEY, MODEL, Fault, ModelServer, cuts, drips, hangs, refuses, says, sends

MOVES = ["10-14", "10-15", "11-15"]


class LlmTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.rules = self.write("rules.md", "# The rules of the test\n")

    def write(self, name: str, text: str, mode: int = 0o600) -> str:
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def bot(self, server: ModelServer, *options: str, model: str = MODEL) -> FakeReferee:
        all_options = ["--base-url", server.url, "--model", model, "--rules", self.rules, *options]
        return FakeReferee("-W", "error", "-m", "referee_bot.llm", *all_options)

    def answer(self, *faults: Fault | None, options: list[str] | None = None, **turn: Any) -> tuple[Json, ModelServer]:
        """Returns the bot's answer to one turn, while the server has these faults, and the server."""
        with ModelServer(*faults) as server, self.bot(server, *(options or [])) as referee:
            referee.hello()
            referee.start()
            self.assertTrue(turn.setdefault("legal", MOVES))
            answer = referee.turn(**turn)
            self.assertEqual(referee.finish(), 0, referee.stderr())
            self.said = referee.stderr()
        return answer, server

    def rejected(self, *options: str, fault: Fault | None = None, model: str = MODEL, key: str | None = None) -> str:
        """Returns what the bot says when it exits at its first turn."""
        with ModelServer(fault, key=key) as server, self.bot(server, *options, model=model) as referee:
            referee.hello()
            referee.start()
            view: Json = {"match": "m1", "seat": 0, "turn": 0, "view": {}, "legal": MOVES}
            referee.send("turn", **view, clock={"bank_ms": 60000, "limit_ms": 65000})
            self.assertEqual(referee.status(), 1)
            return referee.stderr()


class Prompts(LlmTest):
    def test_the_model_gets_rules_view_and_legal_moves(self) -> None:
        view = {"to_move": [0], "board": "..b.w.."}
        answer, server = self.answer(view=view, turns_left=7)
        self.assertIn(answer["move"], MOVES)
        (request,) = server.requests
        system, user = (message["content"] for message in request["messages"])
        self.assertIn("# The rules of the test", system)
        self.assertIn("- seat 0: one, side 0 (you)\n- seat 1: two, side 1", system)
        self.assertIn('to_move: [0]\nboard: "..b.w.."', user)
        self.assertIn("Turns until the limit: 7", user)
        self.assertIn("The legal moves:\n10-14\n10-15\n11-15", user)
        schema = request["response_format"]["json_schema"]["schema"]
        self.assertEqual(schema["properties"]["move"]["enum"], MOVES)

    def test_where_nobody_can_list_the_moves_the_model_writes_one(self) -> None:
        with ModelServer(says('{"move": "7 3"}')) as server, self.bot(server) as referee:
            referee.hello()
            referee.start(unlisted=True)
            self.assertEqual(referee.turn(view={"coins": 10}, legal=None)["move"], "7 3")
            self.assertEqual(referee.finish(), 0, referee.stderr())
        (request,) = server.requests
        system, user = (message["content"] for message in request["messages"])
        self.assertIn("the request does not list the legal ones", system)
        self.assertNotIn("The legal moves", user)
        schema = request["response_format"]["json_schema"]["schema"]
        self.assertEqual(schema["properties"]["move"], {"type": "string"})

    def test_the_error_of_the_referee_is_in_the_next_prompt(self) -> None:
        retry = {"of": 0, "code": "illegal_move", "message": "`1-2` is not legal"}
        _, server = self.answer(turn=1, retry=retry)
        prompt = server.requests[0]["messages"][1]["content"]
        self.assertIn("rejected your previous answer (illegal_move): `1-2` is not legal", prompt)

    def test_events_since_the_previous_move_are_in_the_prompt(self) -> None:
        with ModelServer() as server, self.bot(server) as referee:
            referee.hello()
            referee.start()
            referee.send("event", match="m1", seat=0, n=0, event={"kind": "move", "seat": 1, "move": "23-18"})
            referee.turn(MOVES)
            self.assertIn("seat 1: 23-18", server.requests[0]["messages"][1]["content"])

    def test_a_draw_can_be_accepted(self) -> None:
        answer, server = self.answer(says('{"move": "accept draw"}'), draw_offered=True)
        self.assertEqual(answer["type"], "accept_draw")
        self.assertIn("You are offered a draw", server.requests[0]["messages"][1]["content"])
        answer, _ = self.answer(says('{"move": "accept draw"}'))
        self.assertEqual(answer["type"], "move")

    def test_fields_of_the_request_can_be_set(self) -> None:
        _, server = self.answer(options=["--set", "temperature=0", "--set", 'stop=["x"]'])
        self.assertEqual([server.requests[0][name] for name in ("temperature", "stop")], [0, ["x"]])

    def test_the_rules_come_from_the_referee(self) -> None:
        program = self.write("referee", '#!/bin/sh\necho "the rules of $2 by $1"\n', 0o700)
        with ModelServer() as server:
            options = ["--base-url", server.url, "--model", MODEL, "--referee", program]
            with FakeReferee("-m", "referee_bot.llm", *options) as referee:
                referee.hello()
                referee.start()
                referee.turn(MOVES)
            self.assertIn("the rules of checkers by rules", server.requests[0]["messages"][0]["content"])

    def test_missing_rules_end_the_bot_with_a_hint(self) -> None:
        for program, reason in [("/no/referee", "No such file"), ("false", "ends with status 1")]:
            with ModelServer() as server:
                options = ["--base-url", server.url, "--model", MODEL, "--referee", program]
                with FakeReferee("-m", "referee_bot.llm", *options) as referee:
                    referee.hello()
                    referee.send("start", match="m1", game="chess", rules=1, seat=0, seats=[{"name": "a", "team": 0}])
                    self.assertEqual(referee.status(), 1)
                    for part in (f"`{program} rules chess --short`", reason, "--rules FILE"):
                        self.assertIn(part, referee.stderr())


class Info(LlmTest):
    def test_info_has_tokens_latency_and_cost(self) -> None:
        answer, server = self.answer(options=["--price", "2,10"])
        info = answer["info"]
        words = sum(len(message["content"].split()) for message in server.requests[0]["messages"])
        self.assertEqual([info["model"], info["requests"]], [MODEL, 1])
        self.assertEqual([info["tokens_in"], info["tokens_out"]], [words, 5])
        self.assertAlmostEqual(info["cost_usd"], (words * 2 + 5 * 10) / 1e6)
        self.assertIn(info["latency_ms"], range(1, 10_000))

    def test_prices_come_from_a_table_and_cached_tokens_have_their_own(self) -> None:
        usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 600}}
        body = json.dumps({"choices": [{"message": {"content": "11-15"}}], "usage": usage}).encode()
        table = self.write("prices.toml", f'["{MODEL}"]\ninput = 2\ncached = 0.5\noutput = 10.0\n')
        answer, _ = self.answer(sends(body), options=["--prices", table])
        self.assertEqual(answer["info"]["tokens_cached"], 600)
        self.assertAlmostEqual(answer["info"]["cost_usd"], (400 * 2 + 600 * 0.5 + 10 * 10) / 1e6)
        for text, message in [
            ("[other]\ninput = 1\noutput = 1", f"it has no table ['{MODEL}']; it has 'other'"),
            (f'["{MODEL}"]\ninput = -1\noutput = 1', "input = -1 is not a price"),
            (f'["{MODEL}"]\ninput = 1', "input and output are required"),
            (f'["{MODEL}"]\ninput = 1\noutput = 1\nthought = 1', "unknown key thought"),
            ("[", "--prices"),
        ]:
            with ModelServer() as server, self.bot(server, "--prices", self.write("wrong.toml", text)) as referee:
                self.assertEqual(referee.status(), 2)
                self.assertIn(message, referee.stderr())

    def test_info_has_no_cost_without_prices(self) -> None:
        answer, _ = self.answer()
        self.assertNotIn("cost_usd", answer["info"])

    def test_the_cost_that_the_server_reports_comes_first(self) -> None:
        body = {"choices": [{"message": {"content": '{"move": "11-15"}'}}], "usage": {"prompt_tokens": 9, "cost": 0.25}}
        answer, _ = self.answer(sends(json.dumps(body).encode()), options=["--price", "2,10"])
        self.assertEqual([answer["info"][name] for name in ("cost_usd", "tokens_in", "tokens_out")], [0.25, 9, 0])

    def test_absurd_usage_does_no_harm(self) -> None:
        usage = '{"prompt_tokens": 1e999, "completion_tokens": -1, "cost": NaN}'
        body = '{"choices": [{"message": {"content": "11-15"}}], "usage": ' + usage + "}"
        answer, _ = self.answer(sends(body.encode()))
        self.assertEqual([answer["info"][name] for name in ("tokens_in", "tokens_out")], [0, 0])


class Identity(LlmTest):
    def test_hello_names_the_model_its_settings_and_hashes(self) -> None:
        options = ["--set", "temperature=0", "--set", 'api_key="sk-1"', "--attempts", "2"]
        with ModelServer() as server, self.bot(server, *options) as referee:
            details = referee.hello()["details"]
            self.assertNotIn(str(server.server_port), json.dumps(details))
        found = [details[name] for name in ("model", "temperature", "attempts", "api_key")]
        self.assertEqual(found, [MODEL, "0", "2", "(hidden)"])
        self.assertTrue(all(len(details[name]) == 64 for name in ("prompts_sha256", "package_sha256")))

    def test_info_says_why_the_output_ended(self) -> None:
        answer, _ = self.answer(says('{"move": "11-15"}', "stop"))
        self.assertEqual(answer["info"]["finish_reason"], "stop")


class Null(LlmTest):
    def test_the_null_model_names_random_legal_moves_in_several_ways(self) -> None:
        with FakeReferee("-m", "referee_bot.llm", "--model", "null", "--seed", "1", "--rules", self.rules) as referee:
            self.assertEqual(referee.hello()["name"], "null")
            referee.start()
            answers = [referee.turn(MOVES, turn=turn) for turn in range(40)]
        self.assertEqual({answer["move"] for answer in answers}, set(MOVES))
        self.assertLessEqual({"exact", "decoration", "last_named"}, {answer["info"]["resolved"] for answer in answers})


class Failures(LlmTest):
    def test_a_busy_server_is_asked_again_after_the_time_it_names(self) -> None:
        answer, server = self.answer(refuses(429, "slow down", Retry_After="1"))
        self.assertIn(answer["move"], MOVES)
        self.assertEqual(answer["info"]["requests"], 2)
        self.assertGreaterEqual(server.times[1] - server.times[0], 1.0)
        self.assertIn("status 429: slow down; asking again in 1.0 s", self.said)

    def test_a_wait_beyond_the_time_limit_is_not_begun(self) -> None:
        began = time.monotonic()
        answer, server = self.answer(refuses(429, Retry_After="3600"), options=["--fallback", "random"])
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual([answer["info"]["fallback"], len(server.requests)], ["random", 1])
        self.assertIn("out of time: status 429", answer["info"]["problem"])

    def test_server_errors_and_cut_connections_are_tried_again(self) -> None:
        answer, server = self.answer(refuses(500), cuts, refuses(503))
        self.assertIn(answer["move"], MOVES)
        self.assertEqual(len(server.requests), 4)
        self.assertNotIn("problem", answer["info"])

    def test_garbage_is_tried_again(self) -> None:
        nested = b"[" * 100_000
        garbage = [b"", b"\xff\xfe", b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": 1}]}', nested]
        for body in garbage:
            with self.subTest(body[:20]):
                answer, server = self.answer(sends(body))
                self.assertIn(answer["move"], MOVES)
                self.assertEqual(len(server.requests), 2)

    def test_a_server_that_hangs_does_not_cost_the_clock(self) -> None:
        for fault in (hangs, drips):
            with self.subTest(fault.__name__):
                began = time.monotonic()
                clock = {"bank_ms": 0, "limit_ms": 1000}
                answer, _ = self.answer(fault, clock=clock, options=["--fallback", "random", "--seed", "1"])
                self.assertIn(answer["move"], MOVES)
                self.assertLess(answer["info"]["latency_ms"], 1000)
                self.assertIn("out of time: no response within 0.7", answer["info"]["problem"])
                self.assertLess(time.monotonic() - began, 10)

    def test_the_time_limit_holds_without_a_clock(self) -> None:
        answer, _ = self.answer(hangs, clock=None, options=["--time-limit", "0.3", "--fallback", "random"])
        self.assertIn(answer["info"]["latency_ms"], range(300, 5000))

    def test_a_move_takes_only_a_part_of_the_bank(self) -> None:
        from referee_bot import TimeLeft, Turn
        from referee_bot.llm import Chat, Player

        player = Player(Chat("", ""), lambda game: "")
        turn = Turn.from_json({"match": "m1", "seat": 0, "turn": 0, "clock": None}, None, [])  # type: ignore[arg-type]
        for bank, limit, seconds in [(60_000, 65_000, 19.5), (0, 1000, 0.75), (4000, 4000, 0.75)]:
            object.__setattr__(turn, "clock", TimeLeft(bank, limit))
            self.assertEqual(player.time_for(turn), seconds)

    def test_illegal_answers_and_refusals_are_asked_again(self) -> None:
        refusal = says(None, refusal="I do not play games")
        answer, server = self.answer(says('{"move": "1-2"}'), refusal, says('Sure:\n```json\n{"move": "11-15"}\n```'))
        self.assertEqual(answer["move"], "11-15")
        last = server.requests[2]["messages"]
        self.assertEqual([message["role"] for message in last], ["system", "user", "assistant", "user"])
        self.assertIn("`1-2` is not a legal move", last[3]["content"])
        self.assertIn("the model refuses: I do not play games", last[3]["content"])

    def test_every_form_of_an_answer_is_read(self) -> None:
        move = '{"move": "11-15"}'
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "10-14 or 10-15?"}]}
        call = {"id": "call_1", "type": "function", "function": {"name": "answer", "arguments": move}}
        decoded = {"function": {"name": "answer", "arguments": {"move": "11-15"}}}
        for form in [
            says([thinking, {"type": "text", "text": '{"move": '}, {"type": "text", "text": '"11-15"}'}]),
            says([{"type": "output_text", "text": move}, "stray", {"type": "text", "text": None}]),
            says(move, reasoning_content="10-14 or 10-15?", reasoning="10-14", tool_calls=None),
            says("<think>10-14 or {10-15}?</think>\n11-15"),
            says(None, "tool_calls", tool_calls=[call]),
            says("", "tool_calls", tool_calls=[decoded]),
        ]:
            answer, server = self.answer(form)
            self.assertEqual([answer["move"], len(server.requests)], ["11-15", 1])

    def test_an_answer_without_text_is_asked_again_in_a_form_that_servers_accept(self) -> None:
        parts: list[Any] = [{"type": "refusal", "refusal": "no games"}]
        for form, problem in [
            (says(None), "the answer is empty"),
            (says(" \n"), "the answer is empty"),
            (says([]), "the answer is empty"),
            (says(None, reasoning_content="11-15"), "the answer is empty"),
            (says("<think>11-15</think>"), "the answer is empty"),
            (says(None, tool_calls=[]), "the answer is empty"),
            (says(parts), "the model refuses: no games"),
        ]:
            answer, server = self.answer(form)
            self.assertIn(answer["move"], MOVES)
            self.assertEqual([message["role"] for message in server.requests[1]["messages"]], ["system", "user"])
            self.assertIn(problem, server.requests[1]["messages"][1]["content"])

    def test_a_request_that_is_rejected_after_others_were_answered_costs_its_move_only(self) -> None:
        too_long = refuses(400, "the prompt exceeds the context of 4096 tokens")
        with ModelServer(None, too_long) as server, self.bot(server, "--fallback", "random") as referee:
            referee.hello()
            referee.start()
            referee.turn(MOVES)
            answer = referee.turn(MOVES, turn=1)
            self.assertIn(answer["move"], MOVES)
            self.assertIn("status 400: the prompt exceeds", answer["info"]["problem"])
            self.assertNotIn("problem", referee.turn(MOVES, turn=2)["info"])

    def test_an_answer_that_is_cut_off_is_asked_again(self) -> None:
        answer, server = self.answer(says('{"move": "10-1', "length"))
        self.assertIn(answer["move"], MOVES)
        self.assertIn("cut off: length", server.requests[1]["messages"][3]["content"])

    def test_after_the_attempts_the_bot_says_that_there_is_no_legal_move(self) -> None:
        cut = says('{"move": "10-1', "length")
        answer, server = self.answer(says('{"move": "1-2"}'), cut, options=["--attempts", "2"])
        self.assertEqual([answer["type"], answer["because"], len(server.requests)], ["unable", "no_legal_move", 2])
        self.assertEqual(answer["info"]["problem"], "the answer is cut off: length")
        self.assertEqual(answer["info"]["rejected"], ["no_move", "truncated"])

    def test_an_outage_is_said_to_be_one(self) -> None:
        answer, _ = self.answer(*[refuses(503, "overloaded")] * 9, options=["--time-limit", "0.5"])
        self.assertEqual([answer["type"], answer["because"]], ["unable", "unavailable"])
        self.assertIn("status 503: overloaded", answer["info"]["problem"])

    def test_an_answer_counts_if_exactly_one_legal_move_fits_it(self) -> None:
        from referee_bot.llm.prompt import resolve

        legal = ["e4", "Nf3", "11-15", "11-15-22", "O-O", "ab", "aB"]
        for text, found in [
            ("e4", ("e4", "exact")),
            ('{"move": "e4"}', ("e4", "exact")),
            ('{"move": "zz"} and then {"move": "11-15"}', ("11-15", "exact")),
            ("E4", ("e4", "case")),
            ("**e4**", ("e4", "decoration")),
            ("1. e4", ("e4", "decoration")),
            ("`11 - 15`.", ("11-15", "decoration")),
            ("I play 11-15-22!", ("11-15-22", "last_named")),
            ("Not e4, which loses, but Nf3 at once", ("Nf3", "last_named")),
            ("castling, O-O", ("O-O", "last_named")),
            ("AB", None),
            ("e45", None),
            ("resign", None),
            ("", None),
        ]:
            with self.subTest(text):
                self.assertEqual(resolve(text, legal, {}), found)

    def test_a_move_in_another_notation_is_found(self) -> None:
        from referee_bot.llm.prompt import resolve

        board = "r...k..r" + "P.......".replace("P", "p") + "........" * 3 + "..N....." + "PPp....." + "R...K..R"
        chess = {"board": board, "fen": "..."}
        legal = ["e1g1", "e1c1", "c3b5", "c3d5", "a2a3", "a2a4", "h1h7", "h1g1", "e1d2", "e1e2"]
        draughts = ["11-15", "15x24x31", "1-5"]
        for view, moves, text, found in [
            (chess, legal, "O-O", ("e1g1", "notation")),
            (chess, legal, "0-0-0+", ("e1c1", "notation")),
            (chess, legal, "Nd5", ("c3d5", "notation")),
            (chess, legal, "a2-a4", ("a2a4", "notation")),
            (chess, legal, "a4", ("a2a4", "notation")),
            (chess, legal, "After Nb5 Black mates, so I play Nd5!", ("c3d5", "last_named")),
            (chess, legal, "Rg1", ("h1g1", "notation")),
            (chess, legal, "Bd5", None),
            ({}, draughts, "11 to 15", ("11-15", "notation")),
            ({}, draughts, "15x31", ("15x24x31", "notation")),
            ({}, draughts, "15-1", None),
        ]:
            with self.subTest(text):
                self.assertEqual(resolve(text, moves, view), found)

    def test_after_the_attempts_the_fallback_is_a_random_move(self) -> None:
        answer, _ = self.answer(says("no"), options=["--attempts", "1", "--fallback", "random"])
        self.assertIn(answer["move"], MOVES)
        self.assertEqual(answer["info"]["fallback"], "random")

    def test_a_server_without_schemas_is_asked_without(self) -> None:
        with ModelServer(refuses(400, "response_format: unknown field")) as server, self.bot(server) as referee:
            referee.hello()
            referee.start()
            for turn in range(2):
                self.assertIn(referee.turn(MOVES, turn=turn)["move"], MOVES)
            self.assertEqual(["response_format" in request for request in server.requests], [True, False, False])
            # The schema of a shorter list may be small enough.
            referee.turn(MOVES[:1], turn=2)
            self.assertIn("response_format", server.requests[3])

    def test_a_wrong_model_name_ends_the_bot_with_the_error(self) -> None:
        said = self.rejected(model="gpt-9")
        self.assertIn("model gpt-9: status 404: The model `gpt-9` does not exist", said)
        self.assertNotIn("Traceback", said)

    def test_a_redirect_is_not_followed(self) -> None:
        said = self.rejected(fault=refuses(307, Location="http://other.example/v1"))
        self.assertIn("it redirects to http://other.example/v1: give that as --base-url", said)


class Replies(unittest.TestCase):
    """The 1,000 replies of the example, in 30 styles, each of which names one legal move."""

    def setUp(self) -> None:
        self.example = Path(__file__).parents[3] / "examples/llm_arena"
        sys.path.append(str(self.example))
        self.addCleanup(sys.path.remove, str(self.example))

    def test_at_most_one_in_two_hundred_is_not_read_and_none_is_misread(self) -> None:
        from compare import own, replies  # type: ignore[import-not-found]

        found = [(own(text, legal), move) for _, text, move, legal in replies()]
        self.assertEqual(len(found), 1000)
        self.assertLessEqual(sum(read is None for read, _ in found), 5)
        self.assertEqual([pair for pair in found if pair[0] not in (None, pair[1])], [])

    @unittest.skipUnless(os.environ.get("LONG_TESTS"), "it downloads kaggle-environments")
    def test_the_harness_of_kaggle_environments_reads_json_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder]
            subprocess.run([*pip, "kaggle-environments==1.33.2"], check=True)
            compared = subprocess.run(
                [sys.executable, self.example / "compare.py", "--kaggle", folder], capture_output=True, text=True, check=True
            )
        lines = [line.rsplit(maxsplit=2) for line in compared.stdout.splitlines()[-3:]]
        self.assertEqual(lines, [["read", "1000", "272"], ["not read", "0", "728"], ["misread", "0", "0"]])


class Cached(LlmTest):
    def test_a_bot_that_is_started_again_pays_for_nothing_twice(self) -> None:
        path = self.folder / "answers.jsonl"
        with ModelServer() as server:
            for match, paid in ("m1", 1), ("m1.2", 1), ("m1", 1), ("m2", 2):
                with self.bot(server, "--cache", str(path)) as referee:
                    referee.hello()
                    referee.start(match=match)
                    answer = referee.turn(MOVES, match=match)
                    self.assertEqual(referee.finish(), 0, referee.stderr())
                self.assertIn(answer["move"], MOVES)
                self.assertEqual(len(server.requests), paid)
                self.assertEqual(answer["info"].get("cached"), None if answer["info"]["requests"] else 1)
                # A process that was killed while it wrote.
                with open(path, "a", encoding="utf-8") as file:
                    file.write('{"key": "')
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)

    def test_a_cache_that_others_may_read_is_refused(self) -> None:
        path = self.write("answers.jsonl", "", 0o644)
        with ModelServer() as server, self.bot(server, "--cache", path) as referee:
            self.assertEqual(referee.status(), 2)
            self.assertIn(f"--cache {path}: other users may read it (mode 0644)", referee.stderr())


class Secrets(LlmTest):
    def test_the_key_comes_from_a_file(self) -> None:
        key = self.write("key", KEY + "\n")
        with ModelServer(key=KEY) as server, self.bot(server, "--key-file", key) as referee:
            referee.hello()
            referee.start()
            self.assertIn(referee.turn(MOVES)["move"], MOVES)

    def test_the_key_comes_from_the_environment(self) -> None:
        os.environ["OPENAI_API_KEY"] = KEY
        self.addCleanup(os.environ.pop, "OPENAI_API_KEY")
        with ModelServer(key=KEY) as server, self.bot(server) as referee:
            referee.hello()
            referee.start()
            self.assertIn(referee.turn(MOVES)["move"], MOVES)

    def test_a_wrong_key_is_in_no_log(self) -> None:
        wrong = self.write("key", "sk-a-wrong-one")
        prompts = str(self.folder / "prompts.jsonl")
        said = self.rejected("--key-file", wrong, "--prompts", prompts, key=KEY)
        self.assertIn("status 401: Incorrect API key provided: Bearer [key]", said)
        self.assertNotIn("sk-a-wrong-one", said + Path(prompts).read_text())

    def test_prompts_go_to_a_file_of_the_owner(self) -> None:
        prompts = self.folder / "prompts.jsonl"
        umask = os.umask(0)
        self.addCleanup(os.umask, umask)
        self.answer(says("no"), options=["--prompts", str(prompts)])
        self.answer(options=["--prompts", str(prompts)])
        self.assertEqual(stat.S_IMODE(prompts.stat().st_mode), 0o600)
        lines = [json.loads(line) for line in prompts.read_text().splitlines()]
        self.assertEqual([line["response"]["choices"][0]["message"]["content"] for line in lines][0], "no")
        self.assertEqual(
            [(line["match"], line["seat"], line["turn"], line["status"]) for line in lines], [("m1", 0, 0, 200)] * 3
        )
        self.assertIn("The legal moves", lines[0]["request"]["messages"][1]["content"])

    def test_files_that_others_may_read_are_refused(self) -> None:
        open_file = self.write("open", KEY, 0o644)
        for option in ("--key-file", "--prompts"):
            with ModelServer() as server, self.bot(server, option, open_file) as referee:
                self.assertEqual(referee.status(), 2)
                message = f"{option} {open_file}: other users may read it (mode 0644): run `chmod 600` on it"
                self.assertIn(message, referee.stderr())

    def test_a_link_is_no_file_for_prompts(self) -> None:
        target = self.write("target", "")
        os.symlink(target, self.folder / "link")
        with ModelServer() as server, self.bot(server, "--prompts", str(self.folder / "link")) as referee:
            self.assertEqual(referee.status(), 2)


class Options(unittest.TestCase):
    def test_wrong_options_name_the_option_and_what_is_right(self) -> None:
        right = ["--base-url", "http://127.0.0.1:1/v1", "--model", "m"]
        for wrong, message in [
            (["--base-url", "127.0.0.1:8080", "--model", "m"], "is not like https://api.example.com/v1"),
            (["--base-url", "http://me:secret@host/v1", "--model", "m"], "use --key-file"),
            (right + ["--set", "temperature"], "is not NAME=JSON"),
            (right + ["--set", "model=1"], "model is set by the bot"),
            (right + ["--price", "1"], "is not like 0.15,0.6"),
            (right + ["--attempts", "0"], "is not a number from 1 to 100"),
            (right + ["--time-limit", "nan"], "is not a number of seconds"),
            (right + ["--key-file", "/no/file"], "--key-file /no/file: No such file"),
            (right + ["--rules", "/no/file"], "--rules /no/file: No such file"),
            (right + ["--key", KEY], "unrecognized arguments"),
        ]:
            with self.subTest(wrong), FakeReferee("-m", "referee_bot.llm", *wrong) as referee:
                self.assertEqual(referee.status(), 2)
                self.assertIn(message, referee.stderr())


if __name__ == "__main__":
    unittest.main()
