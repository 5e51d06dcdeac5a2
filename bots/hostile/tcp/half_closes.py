#!/usr/bin/env python3
"""Half-closes its connection and continues to read."""

import os
import socket

from _bot import Json, play, read_on


def misbehave(turn: Json) -> None:
    socket.socket(fileno=os.dup(0)).shutdown(socket.SHUT_WR)
    read_on()


play(misbehave)
