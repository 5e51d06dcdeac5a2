"""A bot that plays many matches at once: slotbot.py SLOTS [HOST:PORT NAME].

It answers all that one read brings with one write, the last first. At the end it tells on standard error how many
requests one read brought at most, how many matches were open at most, and how many it played.
"""

import json
import os
import signal
import socket
import sys

signal.alarm(100)
slots = int(sys.argv[1])
if len(sys.argv) > 2:
    host, port = sys.argv[2].rsplit(":", 1)
    stream = socket.create_connection((host, int(port)))
    source, sink, name = stream.fileno(), stream.fileno(), sys.argv[3]
else:
    source, sink, name = 0, 1, "slots"

open_matches = set()
most_asked = most_open = played = 0
rest = b""
while got := os.read(source, 1 << 20):
    *lines, rest = (rest + got).split(b"\n")
    answers = []
    asked = 0
    for line in lines:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answers.append({"type": "hello", "protocol": 1, "name": name, "slots": slots})
        elif kind == "start":
            open_matches.add(message["match"])
            answers.append({"type": "ready", "match": message["match"]})
        elif kind == "turn":
            asked += 1
            answer = {"type": "move", "match": message["match"], "turn": message["turn"]}
            answers.append({**answer, "move": message["legal"][0]})
        elif kind == "end":
            open_matches.remove(message["match"])
            played += 1
    most_asked, most_open = max(most_asked, asked), max(most_open, len(open_matches))
    text = b"".join(json.dumps(answer).encode() + b"\n" for answer in reversed(answers))
    while text:
        text = text[os.write(sink, text) :]
print(json.dumps({"asked": most_asked, "open": most_open, "played": played}), flush=True, file=sys.stderr)
