"""Runs a hostile bot on a connection: _connect.py HOST:PORT SCRIPT [ARGUMENT...].

The connection replaces the script's stdin and stdout. The bot's name is that of the script.
"""

import os
import sys

# The scripts of this directory must not shadow modules with the same names.
folder = sys.path.pop(0)

import runpy
import socket

host, port = sys.argv[1].rsplit(":", 1)
connection = socket.create_connection((host, int(port)))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for descriptor in (0, 1):
    os.dup2(connection.fileno(), descriptor)
connection.close()  # the two copies remain open
os.environ["REFEREE_ADDRESS"] = sys.argv[1]
sys.argv = sys.argv[2:]
sys.path.append(folder)
runpy.run_path(sys.argv[0], run_name="__main__")
