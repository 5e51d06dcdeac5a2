"""The six games: for each the view as a value, and the texts of its moves both ways.

    from referee_bot.games import saxum

    view = saxum.View.from_json(turn.view)
    moves = {text: saxum.read_move(text) for text in turn.legal}
"""

from . import checkers, chess, jeex, keezen, saxum, xe_queo

__all__ = ["checkers", "chess", "jeex", "keezen", "saxum", "xe_queo"]
