"""A variant of Fairy-Stockfish: `game.py VARIANT` answers the requests of referee."""

from __future__ import annotations

import sys
from typing import Any

import pyffish
from referee_game import BadOptions, BadView, Decide, Game, Json, Knowledge, Over, Turn, Viewer, run

MOST_MOVES = 5000
STEP = 40


def rows(fen: str) -> list[list[str]]:
    """Returns the symbols of the squares, rank by rank from the top: pieces with their marks, and empty ones."""
    board: list[list[str]] = []
    for rank in fen.split()[0].partition("[")[0].split("/"):
        row: list[str] = []
        number = prefix = ""
        for symbol in rank:
            if symbol.isdigit():
                number += symbol
                continue
            row += [""] * int(number or 0)
            number = ""
            if symbol == "+":
                prefix = "+"
            elif symbol in "~'":
                row[-1] += symbol
            else:
                row.append(prefix + symbol)
                prefix = ""
        board.append(row + [""] * int(number or 0))
    width = max(map(len, board))
    return [row + [""] * (width - len(row)) for row in board]


class FairyGame(Game[Json]):
    """A state has the initial position, all moves since, and the position."""

    def __init__(self, variant: str) -> None:
        self.variant = variant

    def start(self, options: Json, seats: int) -> Json:
        fen, most = options["fen"], options["moves"]
        if pyffish.validate_fen(fen, self.variant) != pyffish.FEN_OK:
            raise BadOptions(f"fen: `{fen}` is no position of {self.variant}")
        if not isinstance(most, int) or not 1 <= most <= MOST_MOVES:
            raise BadOptions(f"moves: {most}; expected 1 to {MOST_MOVES}")
        fen = pyffish.get_fen(self.variant, fen, [])
        return {"start": fen, "limit": most, "moves": [], "fen": fen}

    def seat(self, state: Json) -> int:
        return int(state["fen"].split()[1] == "b")

    def turn(self, state: Json) -> Turn:
        where = self.variant, state["start"], state["moves"]
        seat = self.seat(state)

        def over(value: int, reason: str) -> Over:
            # The value is that of the side to move.
            return Over.by_scores([value, -value] if seat == 0 else [-value, value], reason)

        is_over, value = pyffish.is_immediate_game_end(*where)
        if is_over:
            return over(value, "variant")
        legal = pyffish.legal_moves(*where)
        if not legal:
            return over(pyffish.game_result(*where), "checkmate" if pyffish.gives_check(*where) else "no_moves")
        is_over, value = pyffish.is_optional_game_end(*where)
        if is_over:
            return over(value, "claim")
        if all(pyffish.has_insufficient_material(*where)):
            return over(0, "material")
        if len(state["moves"]) == state["limit"]:
            return over(0, "turn_limit")
        return Decide(seat, legal)

    def turns_left(self, state: Json) -> int:
        left: int = state["limit"] - len(state["moves"])
        return left

    def play(self, state: Json, moves: dict[int, str]) -> Json:
        (move,) = moves.values()
        fen = pyffish.get_fen(self.variant, state["fen"], [move])
        return {**state, "moves": [*state["moves"], move], "fen": fen}

    def view(self, state: Json, viewer: Viewer) -> Json:
        in_check = bool(pyffish.gives_check(self.variant, state["fen"], []))
        position = {"variant": self.variant, "fen": state["fen"], "start": state["start"]}
        return {**position, "in_check": in_check, "moves": state["moves"]}

    def imagine(self, knowledge: Knowledge) -> Json:
        state = self.start(knowledge.options, knowledge.seats)
        moves = knowledge.view["moves"]
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise BadView("moves: expected a list of moves")
        try:
            # One call for all moves: the library takes more than a millisecond to set a position up.
            fen = pyffish.get_fen(self.variant, state["start"], moves)
        except (SystemError, ValueError) as error:
            # It returns a position, too, of which Python complains.
            raise BadView("moves: one of them is not legal") from error
        return {**state, "moves": moves, "fen": fen}

    def text(self, state: Json, viewer: Viewer) -> str:
        fen = state["fen"]
        lines = [" ".join(f"{piece or '.':>2}" for piece in row) for row in rows(fen)]
        return "\n".join([*lines, fen]) + "\n"

    def scene(self, state: Json, viewer: Viewer) -> Json:
        fen = state["fen"]
        board = rows(fen)
        shapes: list[Json] = []
        for y, row in enumerate(board):
            for x, piece in enumerate(row):
                square = f"{chr(ord('a') + x)}{len(board) - y}"
                fill = "light" if (x + y) % 2 == 0 else "dark"
                rect = {"form": "rect", "at": [0, 0], "width": STEP, "height": STEP, "fill": fill}
                shapes.append({"id": f"square-{square}", "layer": "board", "at": [STEP * x, STEP * y], "parts": [rect]})
                if not piece:
                    continue
                is_white = piece.strip("+~'").isupper()
                fill, ink = ("white", "black") if is_white else ("black", "white")
                at = [STEP * x + STEP // 2, STEP * y + STEP // 2]
                circle = {"form": "circle", "at": [0, 0], "radius": 16, "fill": fill, "outline": {"colour": "black", "width": 1}}
                letter = {"form": "text", "at": [0, 0], "size": 18, "text": piece, "fill": ink}
                shapes.append({"id": square, "kind": piece, "at": at, "parts": [circle, letter]})
        mover = ["white", "black"][self.seat(state)]
        size = {"width": STEP * max(map(len, board)), "height": STEP * len(board)}
        return {**size, "seats": ["white", "black"], "shapes": shapes, "words": [f"{mover} to move", fen]}

    def export(self, form: str, match: Json) -> str:
        moves, fen, tags = [made["move"] for made in match["moves"]], match["options"]["fen"], match["tags"]
        ranks = match.get("ranks")
        result = "*" if ranks is None else "1/2-1/2" if ranks[0] == ranks[1] else "1-0" if ranks[0] < ranks[1] else "0-1"
        headers = {
            "Event": tags.get("event", "?"),
            "Site": tags.get("site", "?"),
            "Date": tags.get("date", "????.??.??"),
            "Round": tags.get("round", match["match"]),
            "White": match["names"][0],
            "Black": match["names"][1],
            "Result": result,
            "Variant": self.variant,
            **({} if fen == pyffish.start_fen(self.variant) else {"SetUp": "1", "FEN": fen}),
        }
        quoted = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in headers.items()}
        text = "".join(f'[{name} "{value}"]\n' for name, value in quoted.items())
        san = pyffish.get_san_moves(self.variant, fen, moves) if moves else []
        first, number = (0, 1) if fen.split()[1] == "w" else (1, 1)
        words: list[str] = []
        for ply, move in enumerate(san, first):
            if ply % 2 == 0:
                words.append(f"{number + ply // 2}.")
            elif ply == first:
                words.append(f"{number + ply // 2}...")
            words.append(move)
        lines = [""]
        for word in [*words, f"{{{match['ended']}}}", result]:
            if lines[-1] and len(lines[-1]) + len(word) > 78:
                lines.append("")
            lines[-1] += f" {word}" if lines[-1] else word
        return text + "\n" + "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    game: Game[Any] = FairyGame(sys.argv[1])
    run(game)
