"""Hooks of Schemathesis for the API of owners: it signs in, and names what there is.

Requests come from many owners in turn, so that the limit of changes by an owner is not all that answers.
"""

import io
import itertools
import os
import tarfile

import schemathesis

TOKENS = itertools.cycle(os.environ["TOKENS"].split())
THERE = {"ladder": "short", "bot": "mouse", "match": "m1", "submission": 1}


@schemathesis.auth(refresh_interval=None)
class Owner:
    def get(self, case, context):
        return next(TOKENS)

    def set(self, case, token, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {token}"}


@schemathesis.hook
def map_path_parameters(context, parameters):
    """Every other path leads to something."""
    if parameters and len(str(parameters)) % 2:
        path = context.operation.path
        known = {"name": THERE["bot"], "ladder": THERE["ladder"]}
        known["id"] = THERE["submission" if "submissions" in path else "match"]
        return {key: known.get(key, value) for key, value in parameters.items()}
    return parameters


@schemathesis.hook
def map_body(context, body):
    """Challenges are between bots of the ladder."""
    if context.operation.path.endswith("/challenges") and isinstance(body, dict) and len(str(body)) % 2:
        return {"ladder": THERE["ladder"], "bots": [THERE["bot"], "plain"]}
    return body


def program():
    """An archive with a `bot.toml`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        text = b"name = 'mouse'\ncommand = 'true'\n"
        entry = tarfile.TarInfo("bot.toml")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return out.getvalue()


@schemathesis.serializer("application/x-tar")
def archive(context, value):
    """Any bytes, or a program."""
    text = str(value)
    return program() if len(text) % 2 else text.encode(errors="replace")
