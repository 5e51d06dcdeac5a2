"""Games with `referee_game`: their answers, against those of the specification and of a game without the SDK."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from referee_game import (
    BadOptions,
    BadView,
    Decide,
    Dice,
    Event,
    Game,
    Json,
    Knowledge,
    Over,
    Pick,
    Program,
    Shuffle,
    Step,
    Turn,
    Viewer,
)

PACKAGE_ROOT = Path(__file__).parents[1]
ROOT = PACKAGE_ROOT.parents[1]
EXAMPLE = ROOT / "examples/games/connect_four"
TIMEOUT = 60

START = {"type": "start", "options": {"columns": 7, "rows": 6}, "seats": 2, "sides": 2}


def of_readme() -> str:
    """Returns the game of the README."""
    blocks = re.findall(r"```python\n(.*?)```", (PACKAGE_ROOT / "README.md").read_text(), re.DOTALL)
    return next(block for block in blocks if "referee_game" in block)


class RunningGame:
    """A process that answers requests."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *args], cwd=PACKAGE_ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> RunningGame:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=TIMEOUT)

    def answer(self, request: Json) -> Any:
        assert self.process.stdin and self.process.stdout
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def run(code: str, *requests: Json) -> subprocess.CompletedProcess[str]:
    """Runs a game with these requests."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=PACKAGE_ROOT, text=True, input=lines, capture_output=True, timeout=TIMEOUT)


class Drawing(Game[Json]):
    """Turns of all kinds: the state says which one comes next."""

    turns: dict[str, Turn] = {
        "dice": Dice(2, 6),
        "pick": Pick(52),
        "shuffle": Shuffle(8),
        "both": [Decide(0, ["a"], secret=True), Decide(1, ("b", "c"))],
        "over": Over.by_scores([3, 7, 3, 1], "points"),
        "paid": Over.by_amounts([-2, 2.5], "points"),
    }

    def start(self, options: Json, seats: int) -> Json:
        if options["next"] not in self.turns:
            raise BadOptions(f"next: `{options['next']}`")
        return {"next": options["next"], "got": []}

    def turn(self, state: Json) -> Turn:
        return self.turns[state["next"]]

    def play(self, state: Json, moves: dict[int, str]) -> Json:
        return {"next": "over", "got": [f"{seat} {move}" for seat, move in moves.items()]}

    def settle(self, state: Json, drawn: list[int]) -> Step[Json]:
        fact = {"kind": "drawn", "what": drawn}
        return Step({"next": "over", "got": drawn}, [Event(fact), Event(fact, {"kind": "hidden"}, {1: fact})])

    def view(self, state: Json, viewer: Viewer) -> Json:
        return {"viewer": viewer}

    def imagine(self, knowledge: Knowledge) -> Json:
        if knowledge.view != {"viewer": knowledge.seat}:
            raise BadView("viewer: another seat")
        return {"next": "both", "got": [knowledge.turns_left, knowledge.random.random()]}

    def text(self, state: Json, viewer: Viewer) -> str:
        return f"as {viewer}"

    def export(self, form: str, match: Json) -> str:
        return f"{form}: {' '.join(made['move'] for made in match['moves'])}\n"

    def amounts(self, options: Json, seats: int) -> tuple[float, float] | None:
        return (-2 * seats, 2.5) if options["next"] == "paid" else None


class Answers(unittest.TestCase):
    def answer(self, **request: Any) -> Json:
        return Program(Drawing()).answer(request)

    def turn(self, following: str) -> Any:
        return self.answer(type="start", options={"next": following}, seats=2)["turn"]

    def test_each_kind_of_turn_is_written_as_the_protocol_has_it(self) -> None:
        self.assertEqual(self.turn("dice"), {"draw": {"dice": {"count": 2, "sides": 6}}})
        self.assertEqual(self.turn("pick"), {"draw": {"pick": 52}})
        self.assertEqual(self.turn("shuffle"), {"draw": {"shuffle": 8}})
        self.assertEqual(self.turn("over"), {"over": {"ranks": [2, 1, 2, 4], "reason": "points"}})
        self.assertEqual(self.turn("paid"), {"over": {"ranks": [2, 1], "reason": "points", "amounts": [-2, 2.5]}})
        first = {"seat": 0, "legal": ["a"], "view": {"viewer": 0}, "secret": True}
        second = {"seat": 1, "legal": ["b", "c"], "view": {"viewer": 1}}
        self.assertEqual(self.turn("both"), {"decide": [first, second]})

    def test_a_match_is_written_in_a_notation(self) -> None:
        moves = [{"seat": 0, "move": "a"}, {"seat": 1, "move": "b", "took_us": 7}]
        self.assertEqual(self.answer(type="export", form="text", moves=moves), {"text": "text: a b\n"})

    def test_only_the_first_position_says_what_a_side_can_get(self) -> None:
        paid = self.answer(type="start", options={"next": "paid"}, seats=2)
        self.assertEqual(paid["amounts"], {"least": -4, "most": 2.5})
        self.assertNotIn("amounts", self.answer(type="start", options={"next": "dice"}, seats=2))
        self.assertNotIn("amounts", self.answer(type="settle", state=paid["state"], drawn=[1]))

    def test_options_are_refused_with_the_reason(self) -> None:
        refused = self.answer(type="start", options={"next": "nothing"}, seats=2)
        self.assertEqual(refused, {"bad_options": "next: `nothing`"})

    def test_moves_of_several_seats_arrive_by_seat(self) -> None:
        moves = [{"seat": 0, "move": "a"}, {"seat": 1, "move": "c"}]
        answer = self.answer(type="play", state={"next": "both", "got": []}, moves=moves)
        self.assertEqual(answer["state"], {"next": "over", "got": ["0 a", "1 c"]})

    def test_a_step_has_events_with_their_forms(self) -> None:
        answer = self.answer(type="settle", state={"next": "dice", "got": []}, drawn=[3, 5])
        fact = {"kind": "drawn", "what": [3, 5]}
        hidden = {"all": fact, "public": {"kind": "hidden"}, "seats": {"1": fact}}
        self.assertEqual((answer["state"]["got"], answer["events"]), ([3, 5], [{"all": fact}, hidden]))

    def test_show_has_only_what_the_game_makes(self) -> None:
        answer = self.answer(type="show", state={"next": "dice", "got": []}, viewer="public")
        self.assertEqual(answer, {"view": {"viewer": "public"}, "text": "as public"})

    def test_positions_are_imagined_with_the_random_numbers_of_the_request(self) -> None:
        def imagine(first: int, **more: Any) -> Json:
            request = {"options": {}, "seats": 2, "seat": 1, "view": {"viewer": 1}, "random": [first, *[0] * 63], **more}
            return self.answer(type="imagine", **request)

        numbers = [imagine(first)["state"]["got"][1] for first in (1, 1, 2)]
        self.assertEqual((numbers[0] == numbers[1], numbers[0] == numbers[2]), (True, False))
        self.assertEqual([imagine(1, **more)["state"]["got"][0] for more in ({}, {"turns_left": 5})], [None, 5])
        self.assertEqual(imagine(1, seat=0), {"bad_view": "viewer: another seat"})

    def test_what_is_not_a_turn_or_a_request_is_named(self) -> None:
        class Broken(Drawing):
            def turn(self, state: Json) -> Any:
                return None

        with self.assertRaisesRegex(TypeError, "turn returned None; expected Decide"):
            Program(Broken()).answer({"type": "start", "options": {"next": "dice"}, "seats": 2})
        with self.assertRaisesRegex(ValueError, "unknown request `ask`"):
            self.answer(type="ask", state={})


class PackedGame(Game["tuple[int, ...]"]):
    """States of its own type."""

    unpacked = 0

    def start(self, options: Json, seats: int) -> tuple[int, ...]:
        return (0,)

    def turn(self, state: tuple[int, ...]) -> Turn:
        return Decide(len(state) % 2, ["7"])

    def play(self, state: tuple[int, ...], moves: dict[int, str]) -> tuple[int, ...]:
        return (*state, *map(int, moves.values()))

    def view(self, state: tuple[int, ...], viewer: Viewer) -> Json:
        return {"numbers": list(state)}

    def pack(self, state: tuple[int, ...]) -> str:
        return " ".join(map(str, state))

    def unpack(self, packed: str) -> tuple[int, ...]:
        PackedGame.unpacked += 1
        return tuple(map(int, packed.split()))


class PackedStates(unittest.TestCase):
    def test_states_are_unpacked_only_if_they_are_not_kept(self) -> None:
        PackedGame.unpacked = 0
        program = Program(PackedGame())
        state = program.answer({"type": "start", "options": {}, "seats": 2})["state"]
        for _ in range(400):
            played = program.answer({"type": "play", "state": state, "moves": [{"seat": 1, "move": "7"}]})
            state = played["state"]
        self.assertEqual((len(state), PackedGame.unpacked), (801, 0))
        again = Program(PackedGame()).answer({"type": "show", "state": state, "viewer": "all"})
        self.assertEqual((again["view"], PackedGame.unpacked), ({"numbers": [0] + [7] * 400}, 1))


class ConnectFour(unittest.TestCase):
    def test_it_gives_the_answers_of_the_specification(self) -> None:
        page = (ROOT / "protocol/spec/games.md").read_text()
        # The other examples are of other games.
        others = ('{"type":"check"', '{"type":"export"')
        lines = [line for line in page.splitlines() if line.startswith(('{"type":', '{"state":'))]
        lines = [json.loads(line) for line in lines if not line.startswith(others)]
        pairs = list(zip(lines[::2], lines[1::2]))
        self.assertGreaterEqual(len(pairs), 2)
        with RunningGame("-c", of_readme()) as game:
            for request, expected in pairs:
                self.assertEqual(game.answer(request), expected)

    def test_it_gives_the_answers_of_the_transcript(self) -> None:
        text = (ROOT / "protocol/transcripts/games/connect_four.jsonl").read_text()
        said = [json.loads(line) for line in text.splitlines()]
        lines = [each["line"] for each in said if "line" in each]
        positions = [pair for pair in zip(lines[::2], lines[1::2]) if pair[0]["type"] in ("start", "play")]
        self.assertGreater(len(positions), 5)
        with RunningGame("-c", of_readme()) as game:
            for request, expected in positions:
                self.assertEqual(game.answer(request), expected)

    def test_it_answers_like_the_example_without_the_sdk(self) -> None:
        rng = random.Random(7)
        with RunningGame("-c", of_readme()) as ours, RunningGame(str(EXAMPLE / "game.py")) as other:
            for columns, rows in [(7, 6)] * 15 + [(4, 4), (9, 5)] * 5 + [(3, 6), (6, 10)]:
                request = {**START, "options": {"columns": columns, "rows": rows}}
                while True:
                    answer = ours.answer(request)
                    self.assertEqual(answer, other.answer(request))
                    if "decide" not in answer.get("turn", {}):
                        break
                    [decide] = answer["turn"]["decide"]
                    moves = [{"seat": decide["seat"], "move": rng.choice(decide["legal"])}]
                    request = {"type": "play", "state": answer["state"], "moves": moves}

    def test_it_has_at_most_45_lines(self) -> None:
        self.assertLessEqual(len([line for line in of_readme().splitlines() if line]), 45)


class Processes(unittest.TestCase):
    def test_what_a_game_prints_does_not_reach_the_referee(self) -> None:
        loud = of_readme().replace("        return state\n", "        print('loud')\n        return state\n")
        done = run(loud, START)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1))
        self.assertIn("loud", done.stderr)

    def test_an_exception_ends_the_process_with_its_traceback(self) -> None:
        broken = of_readme().replace("        return state\n", "        raise KeyError('lost')\n")
        done = run(broken, START, START)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("KeyError: 'lost'", done.stderr)


if __name__ == "__main__":
    unittest.main()
