"""What identifies how the bot plays, for its `hello`."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

_LONGEST = 256
"""The characters of a text in `details`."""

_SECRET = re.compile("key|token$|secret|password|user", re.IGNORECASE)
"""The names of fields whose values are not for others."""


def details(model: str, settings: dict[str, Any]) -> dict[str, str]:
    """Returns the model, its settings, and the SHA-256 of the prompts and of this package. No addresses and no keys."""
    package = Path(__file__).parent
    own = {
        "model": model,
        "prompts_sha256": hashlib.sha256((package / "prompt.py").read_bytes()).hexdigest(),
        "package_sha256": package_sha256(package),
    }
    shown = {name: "(hidden)" if _SECRET.search(name) else value for name, value in settings.items()}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in shown.items()}
    all_texts = list({**own, **{name[:64]: text for name, text in texts.items() if name}}.items())
    return {name: text[:_LONGEST] for name, text in all_texts[:32]}


def package_sha256(package: Path) -> str:
    """Returns the SHA-256 of the lines `NAME SHA-256` of its modules, in the order of their names."""
    lines = (f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in sorted(package.glob("*.py")))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
