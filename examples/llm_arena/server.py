#!/usr/bin/env python3
"""Ten models behind one mock server with the chat API of OpenAI. Each names its move in one of 30 styles, and of the replies a
share is spoiled: busy, cut off, empty, refused, truncated, or talk without a move. It prints its address, and serves until the end
of its input."""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from players import MODELS, choose
from styles import STYLES

SPOILED: dict[str, tuple[str | None, str, str | None]] = {
    # The text, the finish_reason and the refusal of a reply without a move.
    "empty": ("", "stop", None),
    "refused": (None, "stop", "I cannot help with games."),
    "truncated": ('{"move": "', "length", None),
    "talk": ("The position is rich, and both sides have chances.", "stop", None),
}


class Server(ThreadingHTTPServer):
    """Serves the models. While `outage` requests are left in it, all of them are answered with 503."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, spoil: float, outage_after: int, outage: int, seed: int) -> None:
        super().__init__(("127.0.0.1", port), Request)
        self.spoil, self.outage_after, self.outage = spoil, outage_after, outage
        self.rng, self.lock, self.served = random.Random(seed), threading.Lock(), 0

    def draw(self) -> tuple[str | None, str]:
        """Returns how the next reply is spoiled, if it is, and its style."""
        with self.lock:
            self.served += 1
            if self.outage_after < self.served <= self.outage_after + self.outage:
                return "down", ""
            spoiled = self.rng.choice(["busy", "cut", *SPOILED]) if self.rng.random() < self.spoil else None
            return spoiled, self.rng.choice(list(STYLES))


class Request(BaseHTTPRequestHandler):
    """A request for a completion."""

    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["model"] not in MODELS:
            return self.send(404, {"error": {"message": f"no such model: {body['model']}"}})
        spoiled, style = self.server.draw()
        if spoiled in ("busy", "down"):
            retry_after = "0" if spoiled == "busy" else None
            return self.send(503, {"error": {"message": "overloaded"}}, retry_after)
        if spoiled == "cut":
            self.close_connection = True
            return None
        asked = body["messages"][1]["content"]
        text, finish, refusal = SPOILED.get(spoiled or "", (None, "stop", None))
        if spoiled is None:
            text = STYLES[style](move_of(body["model"], asked))
        message = {"role": "assistant", "content": text, "refusal": refusal}
        rules = len(body["messages"][0]["content"]) // 4
        usage = {
            "prompt_tokens": rules + len(asked) // 4,
            "completion_tokens": len(text or "") // 4 + 1,
            "prompt_tokens_details": {"cached_tokens": rules},
        }
        self.send(200, {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})

    def send(self, status: int, body: dict[str, Any], retry_after: str | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(data)


def move_of(model: str, asked: str) -> str:
    """Returns the move of a model in the position of a prompt: a random one in a game in disguise, which it does not recognise."""
    position, _, listed = asked.partition("The legal moves:\n")
    view = dict(line.split(": ", 1) for line in position.splitlines() if ": " in line)
    legal = listed.split("\n\n")[0].splitlines()
    if "board" not in view:
        return random.Random(f"{model} {position}").choice(legal)
    return choose(model, json.loads(view["board"]), "bw"[json.loads(view["to_move"])[0]], legal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8321, help="0: any free one [8321]")
    parser.add_argument("--spoil", type=float, default=0.3, metavar="SHARE", help="of the replies [0.3]")
    parser.add_argument("--outage-after", type=int, default=0, metavar="N", help="an outage after N requests")
    parser.add_argument("--outage", type=int, default=0, metavar="N", help="of N requests [0]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is spoiled, and of the styles")
    args = parser.parse_args()
    server = Server(args.port, args.spoil, args.outage_after, args.outage, args.seed)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
