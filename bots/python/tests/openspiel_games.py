"""Plays random matches of a game of OpenSpiel with its rules program, and compares them with the library move by move.

`python -m tests.openspiel_games NAME` prints a line of JSON with what the game has and why it does not work, if so.
"""

from __future__ import annotations

import json
import random
import sys
import time
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

import pyspiel

from referee_game import Json, Program
from referee_game.openspiel import OpenSpielGame, Unsupported, load

# Of the referee: decisions and draws of a match, bytes of a state, of a move and of an answer.
MOST_STEPS, MOST_STATE, MOST_MOVE, MOST_ANSWER = 20_000, 65_536, 256, 1 << 20
# Matches begin until then, in seconds.
TIME = 10.0


class Differs(Exception):
    """The program does not do what the library does, or what the referee demands."""


def check(is_right: bool, what: str) -> None:
    if not is_right:
        raise Differs(what)


def compare(about: OpenSpielGame, rng: random.Random) -> None:
    """Plays a random match."""
    state = None if about.is_seeded else about.game.new_initial_state()
    request: Json = {"type": "start", "options": {}, "seats": about.game.num_players()}
    program = Program(about)
    for step in range(MOST_STEPS + 1):
        position = program.answer(request)
        packed = position["state"]
        check(len(json.dumps(packed)) <= MOST_STATE, f"a state has more than {MOST_STATE} bytes")
        check(len(json.dumps(position)) <= MOST_ANSWER, "an answer has more than 1 MiB")
        if step < 50 or step % 20 == 0:
            # Another process knows the text of the state only.
            check(Program(about).answer(request) == position, "a state that is written and read is another one")
            shown = program.answer({"type": "show", "state": packed, "viewer": "all"})
            expected = "before the draw" if state is None else str(state)
            check(shown["view"]["state"] == expected, "the position is another one")
        turn = position["turn"]
        if state is None:
            seed = rng.randrange(turn["draw"]["pick"])
            state = about.seeded(seed, [])
            request = {"type": "settle", "state": packed, "drawn": [seed]}
            continue
        if "over" in turn:
            check(state.is_terminal(), "the program ends the match, the library does not")
            scores = [round(score, 6) for score in state.returns()]
            check(turn["over"]["ranks"] == [1 + sum(o > s for o in scores) for s in scores], "the ranks differ")
            check(turn["over"].get("amounts") == (scores if about.range else None), "the amounts differ")
            least, most = about.range or (min(scores), max(scores))
            check(all(least <= score <= most for score in scores), "a return is beyond the range of the library")
            return
        check(not state.is_terminal(), "the library ends the match, the program does not")
        if "draw" in turn:
            drawn, share = draw(turn["draw"], rng)
            outcomes = state.chance_outcomes()
            bounds = accumulate(probability for _, probability in outcomes)
            reached = (outcome for (outcome, _), bound in zip(outcomes, bounds) if share < bound - 1e-12)
            state.apply_action(next(reached, outcomes[-1][0]))
            request = {"type": "settle", "state": packed, "drawn": drawn}
        else:
            request = {"type": "play", "state": packed, "moves": decide(turn["decide"], state, rng)}
    raise Differs(f"a match has more than {MOST_STEPS} decisions and draws")


def is_move(text: str) -> bool:
    return 0 < len(text) <= MOST_MOVE and text.isascii() and text.isprintable() and not set(text) & set("\"\\")


def draw(asked: Any, rng: random.Random) -> tuple[list[int], float]:
    """Returns random numbers, and the share of all draws that are below them."""
    if "pick" in asked:
        picked = rng.randrange(asked["pick"])
        return [picked], picked / asked["pick"]
    count, sides = asked["dice"]["count"], asked["dice"]["sides"]
    dice = [rng.randint(1, sides) for _ in range(count)]
    return dice, sum((die - 1) / sides ** (at + 1) for at, die in enumerate(dice))


def decide(decisions: Any, state: pyspiel.State, rng: random.Random) -> list[Json]:
    """Plays random moves, and returns them."""
    is_simultaneous = state.is_simultaneous_node()
    players = range(state.num_players()) if is_simultaneous else [state.current_player()]
    deciding = [player for player in players if state.legal_actions(player)]
    check([decision["seat"] for decision in decisions] == deciding, "other seats decide")
    moves, actions = [], [0] * state.num_players()
    for decision in decisions:
        legal, seat = decision["legal"], decision["seat"]
        check(len(legal) == len(set(legal)), "a move is there twice")
        check(all(map(is_move, legal)), "a move is not printable ASCII without quote and backslash")
        expected = state.legal_actions(seat)
        check(len(legal) == len(expected), "other moves are legal")
        for move, action in zip(legal, expected):
            texts = [state.action_to_string(seat, action), f"action {action}"]
            undone = unquote(move)
            check(undone in texts or undone == f"{texts[0]} ({action})", "a move is not the text of its action")
        # The program lists the moves in the order of the library's actions.
        index = rng.randrange(len(legal))
        actions[seat] = expected[index]
        moves.append({"seat": seat, "move": legal[index]})
    if is_simultaneous:
        state.apply_actions(actions)
    else:
        state.apply_action(actions[deciding[0]])
    return moves


def row(name: str) -> Json:
    """Compares matches of a game, and returns its row of the table."""
    kind = next(kind for kind in pyspiel.registered_games() if kind.short_name == name)
    information = kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    found: Json = {"name": name, "hidden": information, "players": None, "why": None}
    found["chance"] = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
    found["simultaneous"] = kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    found["draws"] = kind.utility == pyspiel.GameType.Utility.IDENTICAL
    if not kind.default_loadable:
        return {**found, "why": "needs parameters"}
    rng = random.Random(name)
    try:
        about = load(name)
        found["players"] = about.game.num_players()
        end = time.monotonic() + TIME
        for match in range(20):
            if match == 0 or time.monotonic() < end:
                compare(about, rng)
    except Unsupported as why:
        found["why"] = str(why).partition(": ")[2]
    except (Differs, pyspiel.SpielError, RuntimeError) as why:
        found["why"] = str(why).splitlines()[0]
    return found


if __name__ == "__main__":
    print(json.dumps(row(sys.argv[1])))
