"""Reaches for the network and for sockets of this machine.

Arguments: a port of 127.0.0.1 that accepts TCP, one that answers UDP, the Unix sockets of two services, and the name of
an abstract one.
"""

import socket
import struct

from _attack import ARGS, attempt, play


def connect(family: int, address: object) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.settimeout(5)
        stream.connect(address)


def ask() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(5)
        datagrams.connect(("127.0.0.1", int(ARGS[1])))
        # A query with one question: the addresses of example.org.
        datagrams.send(struct.pack("!6H", 1, 0x100, 1, 0, 0, 0) + b"\7example\3org\0\0\1\0\1")
        datagrams.recv(512)


def list_links() -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        # RTM_GETLINK with NLM_F_REQUEST and NLM_F_DUMP.
        netlink.send(struct.pack("=IHHII", 20, 18, 0x301, 1, 0) + bytes(4))
        netlink.recv(65536)


attempt("connect by TCP", lambda: connect(socket.AF_INET, ("127.0.0.1", int(ARGS[0]))))
attempt("ask a name server by UDP", ask)
attempt("list network devices by netlink", list_links)
attempt("open a raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
attempt("connect to docker.sock", lambda: connect(socket.AF_UNIX, ARGS[2]))
attempt("connect to D-Bus", lambda: connect(socket.AF_UNIX, ARGS[3]))
attempt("connect to an abstract socket", lambda: connect(socket.AF_UNIX, "\0" + ARGS[4]))
play()
