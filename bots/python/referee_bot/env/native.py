"""The backend `native`: the rules inside this process, from the extension module `referee_bot_native`."""

from __future__ import annotations

import importlib
from types import ModuleType


def module() -> ModuleType:
    """Returns the extension module. Raises ImportError, with how to install it, if it is missing."""
    try:
        return importlib.import_module("referee_bot_native")
    except ImportError as error:
        raise ImportError(
            "the backend 'native' is the package referee-bot-native: pip install bots/python/native"
        ) from error


class Loopback:
    """The stream to a referee in this process: it answers what is written, and what it answers can be read."""

    def __init__(self) -> None:
        self._referee = module().Referee()
        self._answers = b""
        self._is_closed = False

    def write(self, data: bytes) -> int:
        if self._is_closed:
            raise BrokenPipeError("the referee is closed")
        self._answers += self._referee.handle(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def read1(self, size: int) -> bytes:
        answers, self._answers = self._answers, b""
        return answers

    def close(self) -> None:
        self._is_closed = True
