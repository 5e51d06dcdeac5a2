"""Write a bot for referee in Python: a function from a turn to one of its legal moves.

    from referee_bot import Turn, run

    def choose(turn: Turn) -> str:
        return turn.legal[0]

    run(choose, name="first")

`Bot` also handles starts, events and ends.
"""

from .bot import BatchBot, Bot, Choose, ChooseAll, batched
from .connection import options
from .hello import Hello
from .messages import Clock, End, Fault, Json, Retry, SeatInfo, Start, TimeLeft, Turn
from .process import run
from .reply import AcceptDraw, Move, Reply, Resign, Unable
from .self_play import self_play
from .session import Refused, Session
from .stream import Disconnected, Stream

__version__ = "0.1.0"

__all__ = [
    "AcceptDraw",
    "BatchBot",
    "Bot",
    "Choose",
    "ChooseAll",
    "Clock",
    "Disconnected",
    "End",
    "Fault",
    "Hello",
    "Json",
    "Move",
    "Refused",
    "Reply",
    "Resign",
    "Retry",
    "SeatInfo",
    "Session",
    "Start",
    "Stream",
    "TimeLeft",
    "Turn",
    "Unable",
    "batched",
    "options",
    "run",
    "self_play",
]
