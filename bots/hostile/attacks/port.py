"""Connects to the port of the referee under the name of its opponent, and listens at a port.

Arguments: the port of the referee, the name of the opponent, a port to listen at.
"""

import json
import socket

from _attack import ARGS, attempt, play

connections = []


def connect() -> None:
    stream = socket.create_connection(("127.0.0.1", int(ARGS[0])), timeout=5)
    connections.append(stream)
    lines = stream.makefile("rw")
    lines.readline()
    lines.write(json.dumps({"type": "hello", "protocol": 1, "name": ARGS[1]}) + "\n")
    lines.flush()
    # A rejected connection gets an error, another one waits for its match.
    stream.settimeout(0.5)
    try:
        raise OSError(0, json.loads(stream.recv(4096).splitlines()[0])["code"])
    except TimeoutError:
        pass


def listen() -> None:
    with socket.create_server(("127.0.0.1", int(ARGS[2]))) as server:
        server.settimeout(2)
        try:
            server.accept()
        except TimeoutError:
            raise OSError(0, "unreachable") from None


attempt("connect to the referee as its opponent", connect)
attempt("listen for connections", listen)
play()
