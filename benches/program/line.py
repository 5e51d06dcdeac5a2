"""The game of the bench `program`: a line of JSON in, a line of JSON out."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "show":
        answer = {"view": {"moves": request["state"]}}
    else:
        moves = request["state"] + 1 if request["type"] == "play" else 0
        decision = {"seat": moves % 2, "legal": list("abcdefg"), "view": {"moves": moves}}
        over = {"over": {"ranks": [1, 1], "reason": "length"}}
        answer = {"state": moves, "turn": over if moves == 60 else {"decide": [decision]}}
    print(json.dumps(answer, separators=(",", ":")), flush=True)
