#!/usr/bin/env python3
"""Replays the transcripts of this folder against a referee: a second reader of them, and a test for a second referee.

    replay.py REFEREE [TRANSCRIPT...]

Tells the first line in which each differs; the exit code is 1 then.
"""

import json
import subprocess
import sys
from pathlib import Path


def said(line: str) -> tuple[str, str]:
    """Who speaks, and the bytes of what is said."""
    speaker = json.loads(line)["from"]
    message = json.loads(line)
    if "text" in message:
        return speaker, message["text"]
    return speaker, line.split('"line":', 1)[1][:-1]


def replay(referee: str, transcript: Path) -> "str | None":
    """Returns what differs first."""
    head, *lines = transcript.read_text(encoding="utf-8").splitlines()
    process = subprocess.Popen(
        [referee, *json.loads(head)["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        for number, (speaker, text) in enumerate(map(said, lines), start=2):
            if speaker == "bot":
                process.stdin.write(text + "\n")
                process.stdin.flush()
                continue
            if process.stdin.closed is False and not any(said(later)[0] == "bot" for later in lines[number - 2 :]):
                # The host has said all it says: what comes now may come because it leaves.
                process.stdin.close()
            if (answer := process.stdout.readline().rstrip("\n")) != text:
                return f"{transcript.name}, line {number}\n  was {text}\n  is  {answer}"
        if not process.stdin.closed:
            process.stdin.close()
        if more := process.stdout.read():
            return f"{transcript.name}: it says more: {more}"
        return None
    finally:
        process.kill()
        process.wait()


def main() -> int:
    referee, *names = sys.argv[1:]
    transcripts = [Path(name) for name in names] or sorted(Path(__file__).parent.glob("*.jsonl"))
    differing = [difference for transcript in transcripts if (difference := replay(referee, transcript))]
    print(*differing, f"{len(transcripts)} transcripts, {len(differing)} differ", sep="\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
