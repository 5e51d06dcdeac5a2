"""Requests to an OpenAI-compatible chat API, repeated while the server is busy and time is left."""

from __future__ import annotations

import json
import queue
import random
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field, replace
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from ..messages import Json
from .cache import Cache
from .prices import Prices
from .transcript import Transcript

MAX_RESPONSE = 4 << 20
"""The maximum size of a response, in bytes. A larger one counts as garbage."""

FIRST_DELAY, LONGEST_DELAY = 0.25, 8.0
"""The delays before a repetition, in seconds: the first one, which doubles each time, and the longest."""

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""The statuses after which the same request may succeed later."""

LONGEST_TEXT = 4096
"""The characters of an answer that count, from its end, where the move is."""

_QUOTED = 300  # characters of a response in an error message


class Rejected(Exception):
    """The server rejects the request, and would reject every further one: a wrong key, model or address."""


class NoAnswer(Exception):
    """The server rejects this request alone. The message says why."""


class Outage(Exception):
    """No answer came in time. The message says what came instead."""


@dataclass
class Spent:
    """What the requests of one turn have used."""

    requests: int = 0
    cached: int = 0
    """Answers of an earlier process, which cost nothing."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """Tokens of prompts that the server had cached."""
    tokens_out: int = 0
    cost_usd: float | None = None
    """None: the server reports no cost, and no prices are known."""

    def add(self, usage: Any, prices: Prices | None) -> None:
        """Adds the `usage` of a response, as far as it has the documented form."""
        usage = usage if isinstance(usage, dict) else {}
        tokens_in, tokens_out = (_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        details = usage.get("prompt_tokens_details")
        tokens_cached = min(_count(details.get("cached_tokens")) if isinstance(details, dict) else 0, tokens_in)
        self.tokens_in += tokens_in
        self.tokens_cached += tokens_cached
        self.tokens_out += tokens_out
        cost = usage.get("cost")
        if not isinstance(cost, (int, float)) or isinstance(cost, bool) or not 0 <= cost < 1e9:
            cost = prices.cost(tokens_in, tokens_cached, tokens_out) if prices else None
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost


@dataclass(frozen=True)
class Answer:
    """The output of the model."""

    text: str
    problem: str | None = None
    """Why `text` is no answer: a refusal, the limit of tokens, or nothing but reasoning."""
    kind: Literal["refused", "truncated", "empty"] | None = None
    """The same in a word, for counts."""
    finish_reason: str | None = None
    """Why the output ended, in the words of the server."""


@dataclass
class Chat:
    """A model behind a chat API."""

    base_url: str
    """The address to which `/chat/completions` is appended."""
    model: str
    key: str | None = field(default=None, repr=False)
    extra: Json = field(default_factory=dict)
    """Further fields of the request, such as `temperature`."""
    prices: Prices | None = None
    transcript: Transcript | None = None
    cache: Cache | None = None
    _refused_schema: int | None = None  # the fewest choices of a schema that the server rejected
    _has_answered: bool = False  # the key, the model and the address are right

    def ask(self, messages: list[Json], choices: list[str], deadline: float, spent: Spent, about: Json) -> Answer:
        """Returns the model's answer, which is one of `choices`, if there are some and the server supports `response_format`.

        `deadline` is a time of the monotonic clock. `about` goes into the transcript. Raises `NoAnswer`, `Outage`, `Rejected`.
        """
        delay, trouble = FIRST_DELAY, "no answer"
        while (left := deadline - time.monotonic()) > 0:
            body: Json = {"model": self.model, "messages": messages, **self.extra}
            has_schema = self._refused_schema is None or len(choices) < self._refused_schema
            if has_schema:
                body["response_format"] = _schema(choices)
            key = "" if self.cache is None else self.cache.key(body, about)
            stored = None if self.cache is None else self.cache.find(key)
            if stored is not None and (answer := self._read(stored, None)) is not None:
                spent.cached += 1
                return answer
            spent.requests += 1
            response = self._post(body, left)
            if self.transcript is not None:
                self.transcript.write({**about, "request": body, **response.to_json()})
            if response.status == 200:
                answer = self._read(response.body, spent)
                if answer is not None:
                    if self.cache is not None:
                        self.cache.store(key, response.body)
                    self._has_answered = True
                    return answer
                trouble = f"a response that is none: {_quote(response.body)}"
            elif response.status is None:
                trouble = response.error
            elif response.status in BUSY:
                trouble = f"status {response.status}: {_quote(response.body)}"
            elif response.status in (400, 422) and has_schema and _SCHEMA_NAMED.search(response.body):
                self._refused_schema = len(choices)
                why = _quote(response.body)
                _log(f"{self.base_url} rejects `response_format` with {len(choices)} moves; asking without it: {why}")
                continue
            elif self._has_answered and response.status in (400, 413, 422):
                # Such as a prompt beyond the context of the model: the next request may be answered.
                raise NoAnswer(f"status {response.status}: {_quote(response.body)}")
            else:
                raise Rejected(self._why(response))
            wait = response.retry_after()
            if wait is None:
                wait, delay = delay * random.uniform(0.75, 1.25), min(delay * 2, LONGEST_DELAY)
            if time.monotonic() + wait >= deadline:
                break
            _log(f"{trouble}; asking again in {wait:.1f} s")
            time.sleep(wait)
        raise Outage(f"out of time: {trouble}")

    def _read(self, body: bytes, spent: Spent | None) -> Answer | None:
        """Reads a completion, and adds what it cost; None if the response is none."""
        try:
            completion = json.loads(body)
            choice = completion["choices"][0]
            message = choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
            text = _text(content) or _tool_arguments(message.get("tool_calls"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        if spent is not None:
            spent.add(completion.get("usage"), self.prices)
        text = text[-LONGEST_TEXT:]
        finish = choice.get("finish_reason")
        finish = finish[:40] if isinstance(finish, str) else None
        if refusal := refusal or _refusal(content):
            return Answer(text, f"the model refuses: {str(refusal)[:_QUOTED]}", "refused", finish)
        if finish in ("length", "content_filter"):
            return Answer(text, f"the answer is cut off: {finish}", "truncated", finish)
        return Answer(text, finish_reason=finish) if text else Answer(text, "the answer is empty", "empty", finish)

    def _post(self, body: Json, timeout: float) -> _Response:
        """Sends a request, and returns after `timeout` seconds at the latest, whatever the server does."""
        headers = {"Content-Type": "application/json", "User-Agent": "referee-bot"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        url = self.base_url.rstrip("/") + "/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        done: queue.Queue[_Response] = queue.Queue()
        # A socket's timeout limits each read, not their sum, and no look-up of a name. Here it only ends the thread.
        threading.Thread(target=lambda: done.put(_fetch(request, timeout + 1)), daemon=True).start()
        try:
            response = done.get(timeout=timeout)
        except queue.Empty:
            return _Response(None, error=f"no response within {timeout:.1f} s")
        # Some servers repeat the key in their errors.
        return replace(response, body=response.body.replace(self.key.encode(), b"[key]")) if self.key else response

    def _why(self, response: _Response) -> str:
        text = f"{self.base_url}, model {self.model}: status {response.status}: {_quote(response.body)}"
        location = response.headers.get("Location") if response.headers else None
        return f"{text}; it redirects to {location}: give that as --base-url" if location else text


@dataclass(frozen=True)
class _Response:
    status: int | None
    """None: there is none, for the reason `error`."""
    headers: Message | None = None
    body: bytes = b""
    error: str = ""

    def retry_after(self) -> float | None:
        """Returns the seconds to wait that the server asks for: a number, or a date."""
        value = (self.headers.get("Retry-After") if self.headers else None) or ""
        if value.isascii() and value.isdigit():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError, IndexError):
            return None

    def to_json(self) -> Json:
        text = self.body.decode("utf-8", "replace")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = text
        return {"status": self.status, "response": body, **({"error": self.error} if self.error else {})}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key belongs to the address that the user gave."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _fetch(request: urllib.request.Request, timeout: float) -> _Response:
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=timeout) as response:
            return _Response(response.status, response.headers, _body(response))
    except urllib.error.HTTPError as error:
        with error:
            return _Response(error.code, error.headers, _body(error))
    except Exception as error:  # http.client, ssl and socket raise many
        reason = getattr(error, "reason", None) or error
        return _Response(None, error=f"{request.full_url}: {reason}")


def _quote(body: bytes) -> str:
    """Returns the error message of a response, or its beginning."""
    text = body.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        text = error if isinstance(error, str) else str(error["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    return " ".join(text.split())[:_QUOTED] or "(empty)"


def _body(response: Any) -> bytes:
    body: bytes = response.read(MAX_RESPONSE + 1)
    return body if len(body) <= MAX_RESPONSE else f"more than {MAX_RESPONSE} bytes".encode()


def _text(content: Any) -> str:
    """Returns the text of a message: a string, or a list of parts of which some are reasoning."""
    if isinstance(content, list):
        texts = [part for part in content if isinstance(part, dict) and part.get("type") in ("text", "output_text")]
        content = "".join(str(part.get("text") or "") for part in texts)
    # Servers without a parser for reasoning leave it in the text.
    return content.rpartition("</think>")[2].strip() if isinstance(content, str) else ""


def _refusal(content: Any) -> Any:
    """Returns the refusal among the parts of a message; None if there is none."""
    parts = content if isinstance(content, list) else []
    return next((part.get("refusal") for part in parts if isinstance(part, dict) and part.get("refusal")), None)


def _tool_arguments(calls: Any) -> str:
    """Returns the arguments of the last call of a tool: some models answer in this form although they have no tools."""
    if not (isinstance(calls, list) and calls):
        return ""
    arguments = calls[-1]["function"]["arguments"]
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _schema(choices: list[str]) -> Json:
    """Returns the `response_format` that allows only these moves, or any without a list."""
    move: Json = {"type": "string", "enum": choices} if choices else {"type": "string"}
    schema: Json = {
        "type": "object",
        "properties": {"move": move},
        "required": ["move"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


_SCHEMA_NAMED = re.compile(rb"response_format|schema|grammar")


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53 else 0


def _log(text: str) -> None:
    print(f"referee_bot.llm: {text}", file=sys.stderr, flush=True)
