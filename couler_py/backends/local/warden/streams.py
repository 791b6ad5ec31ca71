"""What a step writes, on its way to the log: secrets as ***, and what is an output also to a file. Stdlib only."""

from __future__ import annotations

import os


class Redactor:
    """Copies a stream to the log with secrets as ***, and, as it is, to a file."""

    def __init__(self, log: int, copy: int | None, secrets: list[bytes]):
        self.log = log
        self.copy = copy
        self.secrets = sorted(secrets, key=len, reverse=True)
        self.kept = b""

    def write(self, data: bytes) -> None:
        """Take some bytes; none at all is the end."""
        if self.copy is not None and data:
            write_all(self.copy, data)
        text = masked(self.kept + data, self.secrets)
        # The start of a secret may stand at the end of what has come so far.
        held = 0
        if data and self.secrets:
            held = max(begun(secret, text) for secret in self.secrets)
        self.kept = text[len(text) - held :]
        write_all(self.log, text[: len(text) - held])

    def close(self) -> None:
        """Take no more: what was held back is written."""
        self.write(b"")
        if self.copy is not None:
            os.close(self.copy)
            self.copy = None


def masked(text: bytes, secrets: list[bytes]) -> bytes:
    """A text with secrets, the longest of which come first, as ***."""
    for secret in secrets:
        text = text.replace(secret, b"***")
    return text


def begun(secret: bytes, text: bytes) -> int:
    """How many bytes at the end of a text may be the start of a secret."""
    place = text.find(secret[:1], max(0, len(text) - len(secret) + 1))
    while place >= 0:
        if secret.startswith(text[place:]):
            return len(text) - place
        place = text.find(secret[:1], place + 1)
    return 0


def write_all(handle: int, data: bytes) -> None:
    """Write all of some bytes, which one call may not."""
    while data:
        data = data[os.write(handle, data) :]
