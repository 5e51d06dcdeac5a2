#!/usr/bin/env python3
"""Replays the transcripts of this folder against a referee: a second reader of them, and a test for a second referee.

    replay.py REFEREE [TRANSCRIPT...]

Tells the first line in which each differs; the exit code is 1 then.
"""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path

SILENCE, TIMEOUT = 2, 30  # seconds


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
    heard: "queue.Queue[str]" = queue.Queue()
    reader = threading.Thread(target=lambda: [heard.put(line) for line in process.stdout], daemon=True)
    reader.start()
    try:
        for number, (speaker, text) in enumerate(map(said, lines), start=2):
            if speaker == "bot":
                process.stdin.write(text + "\n")
                process.stdin.flush()
                continue
            try:
                answer = heard.get(timeout=SILENCE)
            except queue.Empty:
                # Some lines come only because the host leaves.
                process.stdin.close()
                answer = heard.get(timeout=TIMEOUT)
            if answer != text + "\n":
                return f"{transcript.name}, line {number}\n  was {text}\n  is  {answer}"
        process.stdin.close()
        reader.join(TIMEOUT)
        return None if heard.empty() else f"{transcript.name}: it says more: {heard.get()}"
    except (queue.Empty, OSError) as error:
        return f"{transcript.name}: it does not go on: {error!r}"
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
