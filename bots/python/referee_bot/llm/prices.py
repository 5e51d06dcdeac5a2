"""What tokens cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens."""

    prompt: float
    completion: float
    cached: float | None = None
    """For tokens of the prompt that the server had cached; None: as for others."""

    def cost(self, tokens_in: int, tokens_cached: int, tokens_out: int) -> float:
        """Returns what a request costs, in US dollars. `tokens_cached` are some of `tokens_in`."""
        cached = self.prompt if self.cached is None else self.cached
        new = max(0, tokens_in - tokens_cached)
        return (new * self.prompt + tokens_cached * cached + tokens_out * self.completion) / 1e6


def read_prices(path: str, model: str) -> Prices:
    """Returns the prices of a model from a table in TOML.

    Raises OSError, and ValueError if the file has no valid prices of this model.
    """
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        raise ValueError("a table needs Python 3.11; give --price IN,OUT") from None
    table = tomllib.loads(Path(path).read_text("utf-8"))
    row = table.get(model)
    if not isinstance(row, dict):
        raise ValueError(f"it has no table [{model!r}]; it has {', '.join(map(repr, table)) or 'none'}")
    unknown = sorted(set(row) - {"input", "cached", "output"})
    if unknown:
        raise ValueError(f"[{model!r}]: unknown key {unknown[0]}; expected input, output and perhaps cached")
    if not {"input", "output"} <= set(row):
        raise ValueError(f"[{model!r}]: input and output are required, in US dollars for a million tokens")
    prices = {name: _price(model, name, value) for name, value in row.items()}
    return Prices(prices["input"], prices["output"], prices.get("cached"))


def _price(model: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise ValueError(f"[{model!r}]: {name} = {value!r} is not a price from 0 to 1000000")
    return float(value)
