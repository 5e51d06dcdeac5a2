"""Connects to the referee over TCP."""

from __future__ import annotations

import socket
import ssl


def connect(address: tuple[str, int], tls: bool, ca: str | None) -> socket.socket:
    """Returns a connection, with TLS if `tls`. The file `ca` has the certificates to trust, by default the system's."""
    connected = socket.create_connection(address)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _probe(connected)
    if not tls:
        return connected
    context = ssl.create_default_context(cafile=ca)
    return context.wrap_socket(connected, server_hostname=address[0])


def _probe(connected: socket.socket) -> None:
    """Detects a referee that has vanished within 30 s."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
