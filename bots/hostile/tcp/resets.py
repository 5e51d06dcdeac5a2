#!/usr/bin/env python3
"""Resets its connection."""

import os
import socket
import struct

from _bot import Json, play, sleep_on


def misbehave(turn: Json) -> None:
    connection = socket.socket(fileno=os.dup(0))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for descriptor in (0, 1, connection.detach()):
        os.close(descriptor)
    sleep_on()


play(misbehave)
