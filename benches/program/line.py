"""The game of the bench `program`: a line of JSON in, a line of JSON out. A state is [salt, moves]."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    kind = request["type"]
    salt, moves = request.get("state", (0, 0))
    if kind == "show":
        answer = {"view": {"moves": moves}}
    elif kind == "start":
        answer = {"state": [0, 0], "turn": {"draw": {"pick": 4294967295}}}
    else:
        if kind == "play":
            moves += 1
        else:
            salt = request["drawn"][0]
        decision = {"seat": moves % 2, "legal": list("abcdefg"), "view": {"moves": moves}}
        over = {"over": {"ranks": [1, 1], "reason": "length"}}
        answer = {"state": [salt, moves], "turn": over if moves == 60 else {"decide": [decision]}}
    print(json.dumps(answer, separators=(",", ":")), flush=True)
