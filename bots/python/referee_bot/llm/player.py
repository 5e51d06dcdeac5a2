"""The bot: asks the model for a move within the clock."""

from __future__ import annotations

import random
import time
from typing import Callable

from ..bot import Bot
from ..messages import Json, Start, Turn
from ..reply import AcceptDraw, Move, Reply
from .chat import Chat, NoAnswer, Spent
from .prompt import ACCEPT_DRAW, choices, read_move, repetition, rules_message, turn_message

LONGEST_MOVE = 256
"""The characters of a move that the referee keeps."""

LONGEST_UNLISTED_MOVE = 16384
"""The same in a game that does not list its moves."""

BANK_SHARE = 0.25
"""The share of the bank that one move may take, so that it lasts for the match."""


class Player(Bot):
    """A bot that asks a model, up to `attempts` times a turn, until it names a legal move.

    `rules` returns the rules of a game as text, `time_limit` is the longest time for a move in seconds. Without a legal
    move the bot submits the model's last answer as it is, and the fault policy of the match applies. With a `fallback`
    it plays a random legal move instead, and `info.fallback` says why. In a game that does not list its moves, the first
    answer of the model is submitted.
    """

    def __init__(
        self,
        chat: Chat,
        rules: Callable[[str], str],
        *,
        attempts: int = 3,
        time_limit: float = 120.0,
        fallback: random.Random | None = None,
    ) -> None:
        self._chat = chat
        self._rules = rules
        self._attempts = attempts
        self._time_limit = time_limit
        self._fallback = fallback

    def start(self, start: Start) -> None:
        """Finds the rules now rather than on the clock of the first move."""
        self._rules(start.game)

    def choose(self, turn: Turn) -> Reply:
        began = time.monotonic()
        spent = Spent()
        answer, problem = self._ask(turn, began + self.time_for(turn), spent)
        info: Json = {
            "model": self._chat.model[:100],
            "requests": spent.requests,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "latency_ms": round((time.monotonic() - began) * 1000),
        }
        if spent.cost_usd is not None:
            info["cost_usd"] = round(spent.cost_usd, 8)
        if problem is not None:
            info["problem"] = problem[:300]
            if self._fallback is not None:
                info["fallback"] = "random"
                answer = self._fallback.choice(turn.legal or [answer])
        if turn.draw_offered and answer == ACCEPT_DRAW:
            return AcceptDraw()
        return Move(answer[: LONGEST_MOVE if turn.legal else LONGEST_UNLISTED_MOVE], info=info)

    def time_for(self, turn: Turn) -> float:
        """Returns the seconds for this move: a margin and most of the bank stay on the clock."""
        if turn.clock is None:
            return self._time_limit
        bank = turn.clock.bank_ms
        limit = turn.clock.limit_ms - bank + bank * BANK_SHARE
        return min(self._time_limit, (limit - min(500.0, limit / 4)) / 1000)

    def _ask(self, turn: Turn, deadline: float, spent: Spent) -> tuple[str, str | None]:
        """Returns the last answer of the model, and why it is no legal move, if it is none."""
        messages = [rules_message(turn.start, self._rules(turn.start.game)), turn_message(turn)]
        about: Json = {"match": turn.match, "seat": turn.seat, "turn": turn.turn}
        legal = choices(turn)
        move, problem = "", "the model was not asked"
        for _ in range(self._attempts):
            try:
                answer = self._chat.ask(messages, legal, deadline, spent, about)
            except NoAnswer as error:
                return move, str(error)
            move = read_move(answer.text)
            is_unlisted = not turn.legal and move != ""
            if (move in legal or is_unlisted) and answer.problem is None:
                return move, None
            problem = answer.problem or f"`{move[:LONGEST_MOVE]}` is not a legal move"
            messages = repetition(messages, answer.text, problem)
        return move, problem
