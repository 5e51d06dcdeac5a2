#!/usr/bin/env python3
"""Ends its side of the connection and reads on."""

import os
import socket

from _bot import Json, play, read_on


def misbehave(turn: Json) -> None:
    socket.socket(fileno=os.dup(0)).shutdown(socket.SHUT_WR)
    read_on()


play(misbehave)
