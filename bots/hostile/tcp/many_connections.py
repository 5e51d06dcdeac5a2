#!/usr/bin/env python3
"""Opens a hundred more connections: half of them send its name, the others nothing."""

import os
import socket

from _bot import Json, answer, line, play

others: list[socket.socket] = []


def misbehave(turn: Json) -> None:
    host, port = os.environ["REFEREE_ADDRESS"].rsplit(":", 1)
    for number in range(100):
        other = socket.create_connection((host, int(port)))
        if number % 2:
            other.sendall(line({"type": "hello", "protocol": 1, "name": "many_connections"}))
        others.append(other)
    answer(turn)


play(misbehave)
