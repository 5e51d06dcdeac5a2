"""Plays any game with the moves that a language model chooses, through an OpenAI-compatible chat API."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Callable
from urllib.parse import urlsplit

from .. import __version__
from ..connection import options
from ..process import run
from .cache import Cache
from .chat import Chat, Rejected
from .identity import details
from .null import NULL, NullChat
from .player import Player
from .prices import Prices, read_prices
from .transcript import Transcript, require_private

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the API key when no file is named."""

EXAMPLES = """examples:
  python -m referee_bot.llm --base-url http://127.0.0.1:8080/v1 --model qwen2.5-7b-instruct
  python -m referee_bot.llm --base-url https://api.openai.com/v1 --model gpt-4o-mini --key-file key --price 0.15,0.6

with the referee:
  referee play checkers 'python -m referee_bot.llm --base-url http://127.0.0.1:8080/v1 --model NAME' ./mybot \\
      --clock delay=30s --trust-outages
"""


class NoRules(Exception):
    """The rules of the game cannot be found."""


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m referee_bot.llm", None, __doc__, EXAMPLES, [options()], form, allow_abbrev=False
    )
    parser.add_argument("--base-url", type=_url, help="the API, up to the part before /chat/completions")
    parser.add_argument("--model", required=True, help="the name of the model; null: random legal moves, without an API")
    parser.add_argument("--key-file", metavar="FILE", help=f"where the API key is, if not in {KEY_VARIABLE}; mode 0600")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_field,
        metavar="NAME=JSON",
        help="a further field of each request, such as temperature=0; may be repeated",
    )
    parser.add_argument("--attempts", type=_positive, default=3, metavar="N", help="answers asked for a move [3]")
    parser.add_argument(
        "--time-limit",
        type=_seconds,
        default=120.0,
        metavar="SECONDS",
        help="the longest time for a move [120]; the clock of the match may allow less",
    )
    parser.add_argument(
        "--fallback",
        choices=["none", "random"],
        default="none",
        help="without a legal move in time: say so to the referee [none], or play a random move",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="make random moves repeatable: those of --fallback and of the model null")
    prices = parser.add_mutually_exclusive_group()
    prices.add_argument("--price", type=_prices, metavar="IN,OUT", help="US dollars for a million tokens, for `info`")
    prices.add_argument("--prices", metavar="FILE", help="the same by model, in TOML: see README.md")
    parser.add_argument("--prompts", metavar="FILE", help="append every request and response here; mode 0600")
    parser.add_argument("--cache", metavar="FILE", help="keep answers here, and ask for none a second time; mode 0600")
    rules = parser.add_mutually_exclusive_group()
    rules.add_argument("--rules", metavar="FILE", help="the rules of the game, if there is no `referee` to print them")
    rules.add_argument("--referee", default="referee", metavar="PROGRAM", help="prints the rules [referee]")
    return parser


def main() -> None:
    """Plays until the referee ends it. Exits with status 1 if the API rejects the bot, and 2 for a wrong option."""
    arguments = parser()
    args = arguments.parse_args()
    try:
        prices = read_prices(args.prices, args.model) if args.prices else args.price
    except (OSError, ValueError) as error:
        arguments.error(f"--prices {args.prices}: {_reason(error)}")
    try:
        if args.model == NULL:
            chat: Chat = NullChat(random.Random(args.seed))
        elif args.base_url is None:
            arguments.error("--base-url is required, except with --model null")
        else:
            chat = Chat(args.base_url, args.model, _key(args.key_file), dict(args.set), prices)
    except (OSError, ValueError) as error:
        arguments.error(f"--key-file {args.key_file}: {_reason(error)}")
    try:
        chat.transcript = Transcript(args.prompts) if args.prompts else None
    except OSError as error:
        arguments.error(f"--prompts {args.prompts}: {_reason(error)}")
    try:
        chat.cache = Cache(args.cache) if args.cache else None
    except OSError as error:
        arguments.error(f"--cache {args.cache}: {_reason(error)}")
    try:
        rules = _rules_of_file(args.rules) if args.rules else _rules_of(args.referee)
    except (OSError, ValueError) as error:
        arguments.error(f"--rules {args.rules}: {_reason(error)}")
    player = Player(
        chat,
        rules,
        attempts=args.attempts,
        time_limit=args.time_limit,
        fallback=random.Random(args.seed) if args.fallback == "random" else None,
    )
    try:
        name = re.sub(r"[^A-Za-z0-9._ -]", "_", args.model)[:64] or "llm"
        settings = {**dict(args.set), "attempts": args.attempts, "fallback": args.fallback}
        run(player, name=name, version=__version__, details=details(args.model, settings))
    except (NoRules, Rejected) as error:
        sys.exit(f"referee_bot.llm: error: {error}")


def _key(path: str | None) -> str | None:
    if path is None:
        return os.environ.get(KEY_VARIABLE) or None
    with open(path, encoding="utf-8") as file:
        require_private(os.fstat(file.fileno()))
        key = file.read().strip()
    if not (key and key.isascii() and key.isprintable()):
        raise ValueError("it must hold the key alone, in one line of ASCII")
    return key


def _rules_of_file(path: str) -> Callable[[str], str]:
    rules = Path(path).read_text("utf-8")
    return lambda game: rules


def _rules_of(referee: str) -> Callable[[str], str]:
    @cache
    def rules(game: str) -> str:
        hint = "give --rules FILE, or --referee PROGRAM"
        try:
            printed = subprocess.run(
                [referee, "rules", game, "--short"], capture_output=True, stdin=subprocess.DEVNULL, timeout=30
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoRules(f"`{referee} rules {game} --short` cannot be run: {_reason(error)}; {hint}") from None
        if printed.returncode != 0:
            stderr = printed.stderr.decode("utf-8", "replace").strip()
            raise NoRules(f"`{referee} rules {game} --short` ends with status {printed.returncode}: {stderr}; {hint}")
        return printed.stdout.decode("utf-8", "replace")

    return rules


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        has_user = parts.username is not None or parts.password is not None
        _ = parts.port
    except ValueError:
        is_valid, has_user = False, False
    if not is_valid:
        raise argparse.ArgumentTypeError(f"{text!r} is not like https://api.example.com/v1")
    if has_user:
        raise argparse.ArgumentTypeError("a password in the address is visible to other users: use --key-file")
    return text


def _field(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        if not (name and equals):
            raise ValueError
        if name in ("model", "messages", "response_format", "stream", "n"):
            raise argparse.ArgumentTypeError(f"{name} is set by the bot")
        return name, json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=JSON, like temperature=0 or stop=["x"]') from None


def _prices(text: str) -> Prices:
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0.15,0.6") from None
    if not (0 <= prompt < 1e6 and 0 <= completion < 1e6):
        raise argparse.ArgumentTypeError(f"{text!r}: a price is from 0 to 1000000")
    return Prices(prompt, completion)


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 100")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 86400")
    return seconds


if __name__ == "__main__":
    main()
