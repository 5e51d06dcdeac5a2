#!/usr/bin/env python3
"""Disconnects during a match, reconnects immediately, and repeats this in the next match."""

import os
import socket

from _bot import Json, play


def misbehave(turn: Json) -> None:
    host, port = os.environ["REFEREE_ADDRESS"].rsplit(":", 1)
    # The new connection replaces the old one, which closes with its last descriptor.
    connection = socket.create_connection((host, int(port)))
    for descriptor in (0, 1):
        os.dup2(connection.fileno(), descriptor)
    connection.close()


play(misbehave)
