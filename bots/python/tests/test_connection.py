"""The same bot plays over TCP, and over TLS with a referee that can show who it is."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .fake_referee import PACKAGE_ROOT, TIMEOUT

BOT = "from referee_bot import run\nrun(lambda turn: turn.legal[0], name='first')"


def talk(*options: str, context: ssl.SSLContext | None = None, token: str | None = None) -> tuple[str, int, str]:
    """Starts the bot, asks it for a token, and returns its first line, its exit status and its stderr."""
    env = {**os.environ, **({"REFEREE_TOKEN": token} if token else {})}
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT)
        address = f"localhost:{server.getsockname()[1]}"
        bot = subprocess.Popen(
            [sys.executable, "-c", BOT, "--connect", address, *options],
            cwd=PACKAGE_ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = ""
        try:
            connection, _ = server.accept()
            with context.wrap_socket(connection, server_side=True) if context else connection as stream:
                stream.sendall(b'{"type":"hello","protocol":1,"server":"fake","auth":"token"}\n')
                said = stream.makefile("r").readline()
        except (ssl.SSLError, ConnectionError):
            pass  # the bot hung up
        _, stderr = bot.communicate(timeout=TIMEOUT)
        return said, bot.returncode, stderr


def make_certificate(folder: Path, host: str) -> ssl.SSLContext:
    """Makes a certificate for `host` in the folder and returns what a server needs to show it."""
    names = ["-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    subprocess.run([*command, "-days", "2", *names, *files], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    return context


class Tokens(unittest.TestCase):
    def test_the_token_is_read_from_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "token")
            path.write_text("from a file\n")
            said, status, _ = talk("--token-file", str(path), token="from the environment")
            self.assertEqual((json.loads(said)["token"], status), ("from a file", 0))

    def test_the_token_is_read_from_the_environment(self) -> None:
        said, _, _ = talk(token="from the environment")
        self.assertEqual(json.loads(said)["token"], "from the environment")

    def test_without_a_token_none_is_sent(self) -> None:
        self.assertNotIn("token", json.loads(talk()[0]))


class Tls(unittest.TestCase):
    def test_a_referee_with_a_certificate_of_the_named_authority_is_trusted(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            context = make_certificate(Path(folder), "localhost")
            said, status, stderr = talk("--tls", "--ca", f"{folder}/ca.pem", context=context)
            self.assertEqual((json.loads(said)["name"], status), ("first", 0), stderr)

    def test_a_referee_that_cannot_prove_its_identity_gets_no_token(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            unknown = talk("--tls", context=make_certificate(Path(folder), "localhost"))
            other = make_certificate(Path(folder), "elsewhere.example")
            wrong = talk("--tls", "--ca", f"{folder}/ca.pem", context=other)
        for said, status, stderr in (unknown, wrong):
            self.assertEqual((said, status), ("", 1))
            self.assertIn("CERTIFICATE_VERIFY_FAILED", stderr)


class Addresses(unittest.TestCase):
    def test_an_address_without_a_port_is_refused_with_a_reason(self) -> None:
        bot = subprocess.run(
            [sys.executable, "-c", BOT, "--connect", "localhost"], cwd=PACKAGE_ROOT, capture_output=True, text=True
        )
        self.assertEqual(bot.returncode, 2)
        self.assertIn("'localhost' is not HOST:PORT", bot.stderr)

    def test_a_referee_that_is_not_there_is_an_error(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        bot = subprocess.run(
            [sys.executable, "-c", BOT, "--connect", f"127.0.0.1:{port}"],
            cwd=PACKAGE_ROOT,
            capture_output=True,
            text=True,
        )
        self.assertEqual(bot.returncode, 1)
        self.assertIn("ConnectionRefusedError", bot.stderr)
