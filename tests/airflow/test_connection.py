"""Connections to a server with a certificate of its own."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from couler_py.backends.airflow.client import AirflowClient
from couler_py.backends.rest.failures import UntrustedError
from couler_py.backends.rest.pacing import Pacing
from couler_py.settings.model import AirflowSettings

ONCE = Pacing(attempts=1)


class Empty(BaseHTTPRequestHandler):
    """An Airflow without runs."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"dag_runs": [], "total_entries": 0}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The URL of such a server, and the certificate that it has made for itself."""
    folder = tmp_path_factory.mktemp("certificate")
    certificate, key = folder / "ca.pem", folder / "key.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(
        ["openssl", *words.split(), "-out", certificate, "-keyout", key], check=True, stderr=subprocess.DEVNULL
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_address[1]}", certificate
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_server_that_nobody_vouches_for_is_not_trusted(secure: tuple[str, Path]) -> None:
    url, _ = secure
    with pytest.raises(UntrustedError, match=r"list runs .*no trusted connection.*--certificate-authority FILE"):
        list(AirflowClient(server=url, token="any", pacing=ONCE).list())


def test_whoever_is_named_is_trusted(secure: tuple[str, Path]) -> None:
    url, certificate = secure
    settings = AirflowSettings(server=url, certificate_authority=str(certificate))
    assert list(AirflowClient(settings=settings, token="any", pacing=ONCE).list()) == []
    assert list(AirflowClient(server=url, authority=certificate, token="any", pacing=ONCE).list()) == []
    assert list(AirflowClient(server=url, insecure=True, token="any", pacing=ONCE).list()) == []


def test_a_token_is_read_from_its_file_whenever_it_is_needed(secure: tuple[str, Path], tmp_path: Path) -> None:
    url, certificate = secure
    (tmp_path / "token").write_text("Bearer one\n")
    client = AirflowClient(server=url, authority=certificate, token_file=tmp_path / "token", pacing=ONCE)
    api = client._server.http._api
    assert api.configuration.access_token == "one"
    (tmp_path / "token").write_text("two\n")
    assert client._server.http._renew is not None
    assert client._server.http._renew()
    assert api.configuration.access_token == "two"
