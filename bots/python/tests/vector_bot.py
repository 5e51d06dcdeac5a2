"""Does what bots/vectors/README.md says."""

from __future__ import annotations

from referee_bot import AcceptDraw, Bot, End, Move, Reply, Resign, Start, Turn, Unable, run


class VectorBot(Bot):
    def __init__(self) -> None:
        self.ended: list[str] = []

    def start(self, start: Start) -> str | None:
        return "00ff" if start.nonce else None

    def choose(self, turn: Turn) -> Reply:
        if turn.draw_offered:
            return AcceptDraw()
        if turn.retry:
            return Resign()
        if "unable" in turn.view:
            return Unable(**turn.view["unable"])
        limit = turn.clock.limit_ms if turn.clock else None
        info = {"game": turn.start.game, "events": len(turn.events), "limit_ms": limit, "ended": self.ended}
        if turn.banks_ms is not None:
            info["banks_ms"] = turn.banks_ms
        move = "unlisted" if turn.start.unlisted else turn.legal[0]
        return Move(move, offer_draw=turn.turns_left == 1, info=info)

    def end(self, end: End) -> None:
        self.ended.append(end.ended_by)


if __name__ == "__main__":
    run(VectorBot(), name="vector", version="1.0", details={"kind": "test"}, slots=64)
