"""Compares games of chess with python-chess.

Each line of standard input is a game: {"variant", "fen", "plies": [{"fen", "legal"?, "move"}], "last", "reason", "winner", "pgn"}, where
`winner` is 0 for White, 1 for Black or null. Prints the number of positions whose legal moves were compared.
"""

import io
import json
import sys

import chess
import chess.pgn


def end(board: chess.Board) -> tuple[str, int | None] | None:
    """Returns why the game is over, and the winner."""
    if board.is_checkmate():
        return "checkmate", int(board.turn)
    if board.is_stalemate():
        return "stalemate", None
    if board.is_insufficient_material():
        return "insufficient_material", None
    if board.is_repetition(3):
        return "repetition", None
    return ("quiet_plies", None) if board.halfmove_clock >= 100 else None


compared = 0
for line in sys.stdin:
    game = json.loads(line)
    is_960 = game["variant"] == "chess960"
    board = chess.Board(game["fen"], chess960=is_960)
    for ply in game["plies"]:
        assert board.fen() == ply["fen"], (board.fen(), ply["fen"])
        if "legal" in ply:
            legal = sorted(board.uci(move) for move in board.legal_moves)
            assert legal == sorted(ply["legal"]), (board.fen(), legal, ply["legal"])
            compared += 1
        assert end(board) is None, (board.fen(), end(board))
        board.push_uci(ply["move"])
    assert board.fen() == game["last"], (board.fen(), game["last"])
    assert end(board) == (game["reason"], game["winner"]), (board.fen(), end(board), game["reason"])

    read = chess.pgn.read_game(io.StringIO(game["pgn"]))
    assert read is not None and not read.errors, (game["pgn"], read and read.errors)
    assert read.board().chess960 == is_960 and read.board().fen() == game["fen"], game["pgn"]
    assert [move.uci() for move in read.mainline_moves()] == [ply["move"] for ply in game["plies"]], game["pgn"]
    assert read.headers["Result"] == {0: "1-0", 1: "0-1", None: "1/2-1/2"}[game["winner"]], game["pgn"]
print(compared)
