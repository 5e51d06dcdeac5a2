"""Learning environments: all games as PettingZoo and Gymnasium environments, also vectorized.

    from referee_bot.env import env

    checkers = env("checkers")

For one seat against opponents, Gymnasium has them by name: `gymnasium.make("referee_bot.env:referee/checkers-v1")`.

Needs the packages of the extra `env`: pettingzoo, gymnasium and numpy; and the program `referee` or, for the backend
`native`, the package referee-bot-native. README.md beside this file tells what observations and actions mean.
"""

import gymnasium

from .aec import RefereeEnv, env
from .batch import Batch
from .encodings import GAMES, Encoding, GameDirectory
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
    "Encoding",
    "GameDirectory",
    "ParallelRefereeEnv",
    "Referee",
    "RefereeEnv",
    "SeatEnv",
    "Step",
    "env",
    "parallel_env",
]

for _game in GAMES:
    gymnasium.register(f"referee/{_game}-v1", entry_point="referee_bot.env:SeatEnv", kwargs={"game": _game})
