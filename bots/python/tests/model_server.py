"""A server that speaks the documented chat API of language models, and does to its clients what a test asks for.

The model chooses at random among the strings that the request's JSON Schema allows. Run as a program it prints its
address, and serves until the end of its input:

    python3 -m tests.model_server
"""

from __future__ import annotations

import json
import random
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

Json = dict[str, Any]

KEY = "sk-secret-of-the-test"
MODEL = "tiny-random"

Fault = Callable[["Request"], None]
"""Answers one request instead of the model."""


class ModelServer(ThreadingHTTPServer):
    """Serves in the background, on a free port. `faults` answer the first requests, None leaves one to the model."""

    daemon_threads = True

    def __init__(self, *faults: Fault | None, key: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.faults = list(faults)
        self.key = key
        self.chooser = random.Random(1)
        self.requests: list[Json] = []
        self.times: list[float] = []
        self.lock = threading.Lock()
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __exit__(self, *args: Any) -> None:
        self.released.set()
        self.shutdown()
        super().__exit__(*args)


class Request(BaseHTTPRequestHandler):
    """A request for a completion, checked as strictly as a real server does."""

    server: ModelServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(body)
            self.server.times.append(time.monotonic())
            fault = self.server.faults.pop(0) if self.server.faults else None
        (fault or Request.complete)(self)

    def complete(self) -> None:
        """Answers as the model."""
        body = self.server.requests[-1]
        if self.path != "/v1/chat/completions":
            return self.refuse(404, f"no such path: {self.path}")
        if self.server.key is not None and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            return self.refuse(401, f"Incorrect API key provided: {self.headers.get('Authorization')}")
        if body["model"] != MODEL:
            return self.refuse(404, f"The model `{body['model']}` does not exist", "model_not_found")
        if not all(
            message["role"] in ("system", "user", "assistant") and message["content"] for message in body["messages"]
        ):
            return self.refuse(400, "messages need a role and a content")
        if "response_format" in body:
            moves = self.allowed(body["response_format"])
        else:
            listed = body["messages"][1]["content"].split("The legal moves:\n")[1]
            moves = listed.split("\n\n")[0].splitlines()
        if not moves:
            return self.refuse(400, "Invalid schema for response_format")
        with self.server.lock:
            move = self.server.chooser.choice(moves)
        self.say(json.dumps({"move": move}))

    def allowed(self, wanted: Json) -> list[str]:
        """Returns the moves that a schema allows; none if the schema is not the documented subset."""
        schema = wanted["json_schema"]["schema"]
        fits = (
            wanted["type"] == "json_schema"
            and wanted["json_schema"]["strict"] is True
            and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wanted["json_schema"]["name"])
            and schema["type"] == "object"
            and schema["required"] == list(schema["properties"]) == ["move"]
            and schema["additionalProperties"] is False
            and schema["properties"]["move"]["type"] == "string"
        )
        moves: list[str] = schema["properties"]["move"]["enum"]
        return moves if fits and len(set(moves)) == len(moves) else []

    def say(self, text: str | list[Any] | None, finish: str = "stop", **fields: Any) -> None:
        """Answers with a completion."""
        message = {"role": "assistant", "content": text, "refusal": None, **fields}
        words = sum(len(message["content"].split()) for message in self.server.requests[-1]["messages"])
        usage = {"prompt_tokens": words, "completion_tokens": 5, "total_tokens": words + 5}
        self.send(
            200,
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1700000000,
                "model": MODEL,
                "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
                "usage": usage,
            },
        )

    def refuse(self, status: int, message: str, code: str | None = None, **headers: str) -> None:
        """Answers with an error."""
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        self.send(status, {"error": error}, **headers)

    def send(self, status: int, body: Json | bytes, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:  # the client waits no more
            pass


def says(text: str | list[Any] | None, finish: str = "stop", **fields: Any) -> Fault:
    """A completion with this text, or these parts."""
    return lambda request: request.say(text, finish, **fields)


def refuses(status: int, message: str = "try later", **headers: str) -> Fault:
    """An error of this status."""
    return lambda request: request.refuse(status, message, **headers)


def sends(body: bytes) -> Fault:
    """A response of these bytes."""
    return lambda request: request.send(200, body)


def hangs(request: Request) -> None:
    """No answer, until the server ends."""
    request.server.released.wait(60)


def drips(request: Request) -> None:
    """An answer that never ends, a byte at a time, so that no single read of it takes long."""
    try:
        request.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not request.server.released.wait(0.05):
            request.wfile.write(b" ")
    except ConnectionError:
        pass


def cuts(request: Request) -> None:
    """The connection ends without an answer."""
    request.close_connection = True


if __name__ == "__main__":
    with ModelServer() as server:
        print(server.url, flush=True)
        sys.stdin.read()
