"""How workers and master speak: over TCP, in messages of JSON, after both have shown that they know a token.

The token never travels. Each side sends a random number, and the other its HMAC (RFC 2104, SHA-256) with the token.
What follows is neither signed nor secret: row numbers, on a network that a training trusts with its gradients.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
from pathlib import Path

import msgspec

LENGTH = 4
LARGEST = 64 << 20
NONCE = 32
WAIT = 10.0  # seconds that a handshake may take

ADDRESS, TOKEN = "address.json", "token"


class Address(msgspec.Struct, frozen=True):
    """Where a master listens."""

    host: str
    port: int


class AuthenticationError(ConnectionError):
    """The other side doesn't know the token."""


def framed(message: object) -> bytes:
    """A message as it travels."""
    body = msgspec.json.encode(message)
    return len(body).to_bytes(LENGTH, "big") + body


def proof(token: bytes, role: bytes, first: bytes, second: bytes) -> bytes:
    """That a side knows the token: its role is in it, so that no answer can be sent back as one's own."""
    return hmac.new(token, role + first + second, hashlib.sha256).digest()


def connected(address: Address, token: bytes) -> socket.socket:
    """A connection to a master that knows the token. Raises `AuthenticationError` where one side doesn't."""
    sock = socket.create_connection((address.host, address.port), timeout=WAIT)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        theirs, mine = exactly(sock, NONCE), secrets.token_bytes(NONCE)
        sock.sendall(mine + proof(token, b"worker", theirs, mine))
        try:
            answer = exactly(sock, hashlib.sha256().digest_size)
        except EOFError:
            raise AuthenticationError(f"the master at {address.host}:{address.port} refused this token") from None
        if not hmac.compare_digest(answer, proof(token, b"master", theirs, mine)):
            raise AuthenticationError(f"what listens at {address.host}:{address.port} doesn't know this token")
    except BaseException:
        sock.close()
        raise
    return sock


def receive(sock: socket.socket) -> bytes:
    """The body of the next message. Raises `EOFError` where the other side is gone."""
    size = int.from_bytes(exactly(sock, LENGTH), "big")
    if size > LARGEST:
        raise ConnectionError(f"a message of {size} bytes: this is no master")
    return exactly(sock, size)


def exactly(sock: socket.socket, size: int) -> bytes:
    """So many bytes. Raises `EOFError` where the other side is gone."""
    data = bytearray()
    while len(data) < size:
        part = sock.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError("the other side is gone")
        data += part
    return bytes(data)


def token_of(folder: Path) -> bytes:
    """The token of a master's folder, made where there is none; only this user can read it."""
    path = folder / TOKEN
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes().strip()
    token = secrets.token_hex(32).encode()
    with os.fdopen(handle, "wb") as file:
        file.write(token + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return token
