"""Runs a hostile bot on a connection: _connect.py HOST:PORT SCRIPT [ARGUMENT...].

The connection takes the place of the script's stdin and stdout. The referee knows the bot by the script's name.
"""

import os
import sys

# The scripts of this folder must not stand in for modules of the same names.
folder = sys.path.pop(0)

import runpy
import socket

host, port = sys.argv[1].rsplit(":", 1)
connection = socket.create_connection((host, int(port)))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for descriptor in (0, 1):
    os.dup2(connection.fileno(), descriptor)
connection.close()  # the two copies are the connection now
os.environ["REFEREE_ADDRESS"] = sys.argv[1]
sys.argv = sys.argv[2:]
sys.path.append(folder)
runpy.run_path(sys.argv[0], run_name="__main__")
