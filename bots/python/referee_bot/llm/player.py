"""The bot: asks the model for a move within the clock."""

from __future__ import annotations

import random
import time
from typing import Callable

from ..bot import Bot
from ..messages import Json, Start, Turn
from ..reply import AcceptDraw, Move, Reply, Unable
from .chat import Chat, NoAnswer, Outage, Spent
from .prompt import ACCEPT_DRAW, choices, plain_move, read_move, repetition, resolve, rules_message, turn_message

LONGEST_MOVE = 256
"""The characters of a move that a problem quotes."""

LONGEST_UNLISTED_MOVE = 16384
"""The characters of a move that the referee keeps in a game that does not list its moves."""

BANK_SHARE = 0.25
"""The share of the bank that one move may take, so that it lasts for the match."""


class Player(Bot):
    """A bot that asks a model, up to `attempts` times a turn, until it names a legal move.

    `rules` returns the rules of a game as text, `time_limit` is the longest time for a move in seconds. Without a legal
    move the bot says `no_legal_move`, and `unavailable` if the server does not answer. With a `fallback` it plays a random
    legal move instead, and `info.fallback` says so. In a game that does not list its moves, the first answer of the model is
    submitted.
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
        info: Json = {}
        reply: str | Unable
        try:
            reply = self._ask(turn, began + self.time_for(turn), spent, info)
        except NoAnswer as error:
            info["problem"] = str(error)[:300]
            reply = Unable("no_legal_move")
        except Outage as error:
            info["problem"] = str(error)[:300]
            reply = Unable("unavailable")
        info = {
            **info,
            "model": self._chat.model[:100],
            "requests": spent.requests,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "latency_ms": round((time.monotonic() - began) * 1000),
        }
        if spent.tokens_cached:
            info["tokens_cached"] = spent.tokens_cached
        if spent.cached:
            info["cached"] = spent.cached
        if spent.cost_usd is not None:
            info["cost_usd"] = round(spent.cost_usd, 8)
        if isinstance(reply, Unable):
            if self._fallback is None or not turn.legal:
                return Unable(reply.because, info)
            info["fallback"] = "random"
            reply = self._fallback.choice(turn.legal)
        if turn.draw_offered and reply == ACCEPT_DRAW:
            return AcceptDraw()
        return Move(reply, info=info)

    def time_for(self, turn: Turn) -> float:
        """Returns the seconds for this move: a margin and most of the bank stay on the clock."""
        if turn.clock is None:
            return self._time_limit
        bank = turn.clock.bank_ms
        limit = turn.clock.limit_ms - bank + bank * BANK_SHARE
        return min(self._time_limit, (limit - min(500.0, limit / 4)) / 1000)

    def _ask(self, turn: Turn, deadline: float, spent: Spent, info: Json) -> str | Unable:
        """Returns the move that the model names. How it was found, and what was wrong with earlier answers, goes into `info`."""
        messages = [rules_message(turn.start, self._rules(turn.start.game)), turn_message(turn)]
        about: Json = {"match": turn.match, "seat": turn.seat, "turn": turn.turn}
        legal = choices(turn)
        for _ in range(self._attempts):
            answer = self._chat.ask(messages, legal, deadline, spent, about)
            if answer.finish_reason is not None:
                info["finish_reason"] = answer.finish_reason
            if answer.problem is None and turn.legal and (found := resolve(answer.text, legal, turn.view)) is not None:
                move, info["resolved"] = found
                info.pop("problem", None)
                return move
            if answer.problem is None and not turn.legal:
                info.pop("problem", None)
                info["resolved"] = "unlisted"
                return plain_move(answer.text)[:LONGEST_UNLISTED_MOVE]
            written = read_move(answer.text)
            info["problem"] = (answer.problem or f"`{written[:LONGEST_MOVE]}` is not a legal move")[:300]
            info["rejected"] = [*info.get("rejected", []), answer.kind or "no_move"]
            messages = repetition(messages, answer.text, info["problem"])
        return Unable("no_legal_move")
