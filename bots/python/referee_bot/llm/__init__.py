"""A bot whose moves a language model chooses, through any OpenAI-compatible chat API.

    python -m referee_bot.llm --base-url http://127.0.0.1:8080/v1 --model qwen2.5-7b-instruct

It needs the standard library only. See README.md in this directory.
"""

from .chat import Answer, Chat, NoAnswer, Outage, Rejected
from .player import Player
from .prices import Prices

__all__ = ["Answer", "Chat", "NoAnswer", "Outage", "Player", "Prices", "Rejected"]
