#!/usr/bin/env python3
"""The share of wrong adjudications: `benches/adjudications.py RECORDS...` for directories of records of matches that were played to the end by
bots that state scores.

For each rule it says in how many matches the rule would have ended the match, in how many of these the result would have been another one
than that of the match as it was played, with a 95% interval (Wilson), and how many of all moves would have been saved. Copies of a match count once.
"""

import json
import math
import pathlib
import sys

RULES = {
    "resign score=300,moves=3": ("resign", 300, 3, False),
    "resign score=600,moves=3": ("resign", 600, 3, False),
    "resign score=600,moves=3,one-sided": ("resign", 600, 3, True),
    "resign score=1000,moves=3": ("resign", 1000, 3, False),
    "draw score=10,moves=8,after=40": ("draw", 10, 8, 40),
    "draw score=20,moves=8,after=20": ("draw", 20, 8, 20),
}


def read(path):
    """The moves of a match as pairs of side and score for it, and the points of side 0; `None` without a result by the rules."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    sides = [seat["team"] for seat in lines[0]["seats"]]
    moves = []
    for line in lines:
        if line["type"] == "answer":
            info, side = line.get("info", {}), sides[line["seat"]]
            score = None if info.get("score_scale") == "points" else info.get("score")
            if score is not None and info.get("score_side", side) != side:
                score = -score
            moves.append((side, score))
        elif line["type"] == "result" and line["ended_by"] in ("rules", "turn_limit"):
            ranks = dict(zip(sides, line["ranks"]))
            return moves, 0.5 if ranks[0] == ranks[1] else float(ranks[0] < ranks[1])
    return None


def ended(rule, moves):
    """The number of moves after which a rule ends a match, and the points of side 0."""
    kind, most, row, extra = rule
    counts, made = [[0, 0, 0], [0, 0, 0]], [0, 0]
    for number, (side, score) in enumerate(moves, 1):
        holds = [False] * 3 if score is None else [score <= -most, score >= most, abs(score) <= most]
        counts[side] = [count + 1 if holds else 0 for count, holds in zip(counts[side], holds)]
        made[side] += 1
        if kind == "resign":
            loses = [counts[loser][0] >= row and (extra or counts[1 - loser][1] >= row) for loser in (0, 1)]
            if loses[0] != loses[1]:
                return number, float(loses[1])
        elif all(counts[of][2] >= row and made[of] >= extra for of in (0, 1)):
            return number, 0.5
    return None


def wilson(wrong, of):
    z, share = 1.96, wrong / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0, middle - half), middle + half


def main():
    if not sys.argv[1:]:
        sys.exit(__doc__)
    paths = [path for folder in sys.argv[1:] for path in sorted(pathlib.Path(folder).glob("*.jsonl"))]
    matches = [match for match in map(read, paths) if match]
    # Deterministic bots repeat matches, which say nothing more.
    matches = list({str(match): match for match in matches}.values())
    total = sum(len(moves) for moves, _ in matches)
    print(f"{len(matches)} different matches with {total} moves")
    print("| rule | matches ended | wrong results | share, 95% interval | moves saved |\n|---|---|---|---|---|")
    for name, rule in RULES.items():
        fired = [(ended(rule, moves), points, len(moves)) for moves, points in matches]
        fired = [(*by_rule, points, length) for by_rule, points, length in fired if by_rule]
        wrong = sum(given != points for _, given, points, _ in fired)
        saved = sum(length - number for number, _, _, length in fired) / total
        low, high = wilson(wrong, len(fired)) if fired else (0, 1)
        share = f"{wrong / len(fired):.1%} [{low:.1%}, {high:.1%}]" if fired else "unknown"
        print(f"| `{name}` | {len(fired)} | {wrong} | {share} | {saved:.0%} |")


if __name__ == "__main__":
    main()
