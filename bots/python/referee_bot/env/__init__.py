"""Learning environments: all games as PettingZoo and Gymnasium environments, also vectorized.

    from referee_bot.env import env

    checkers = env("checkers")

Needs the packages of the extra `env`: pettingzoo, gymnasium and numpy; and the program `referee` or, for the backend
`native`, the package referee-bot-native. README.md beside this file tells what observations and actions mean.
"""

from .aec import RefereeEnv, env
from .batch import Batch
from .encodings import GAMES
from .opponent import BotProcess
from .parallel import ParallelRefereeEnv, parallel_env
from .referee import Backend, Referee
from .seat import SeatEnv
from .step import Step

__all__ = [
    "GAMES",
    "Backend",
    "Batch",
    "BotProcess",
    "ParallelRefereeEnv",
    "Referee",
    "RefereeEnv",
    "SeatEnv",
    "Step",
    "env",
    "parallel_env",
]
