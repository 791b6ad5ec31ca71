"""How an engine, its warden and zygotes speak: JSON behind its length, descriptors beside it. Stdlib only.

What is loaded here is part of what a zygote copies for each step: what is seldom needed is imported where it is.
"""

from __future__ import annotations

import array
import json
import marshal
import os
import socket
import struct
from typing import Any

MOST_DESCRIPTORS = 253  # that come with one message: SCM_MAX_FD of linux/include/net/scm.h
MARSHAL = 4  # the format of marshal since Python 3.4: a zygote's interpreter may be older than the engine's
_HEADER = struct.Struct("!I")


def send(channel: socket.socket, data: bytes, handles: list[int]) -> None:
    """Send one message. Raises `OSError` where nobody is at the other end."""
    message = _HEADER.pack(len(data)) + data
    sent = socket.send_fds(channel, [message], handles) if handles else channel.send(message)
    if sent < len(message):
        channel.sendall(message[sent:])


def receive(channel: socket.socket) -> tuple[Any, list[int]]:
    """One message with the descriptors that came along, or None at the end."""
    handles = array.array("i")
    space = socket.CMSG_SPACE(MOST_DESCRIPTORS * handles.itemsize)
    header, ancillary, _, _ = channel.recvmsg(_HEADER.size, space, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
    for handle in handles:
        os.set_inheritable(handle, False)
    if len(header) < _HEADER.size:
        return None, list(handles)
    (length,) = _HEADER.unpack(header)
    parts = []
    while length:
        part = channel.recv(min(length, 1 << 20))
        if not part:
            return None, list(handles)
        parts.append(part)
        length -= len(part)
    return json.loads(b"".join(parts)), list(handles)


def sealed(data: dict[str, Any]) -> int:
    """A descriptor of a file without a name that holds plain data: only who is handed it can read it."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("couler", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            handle = os.dup(file.fileno())
    view = memoryview(marshal.dumps(data, MARSHAL))
    while view:
        view = view[os.write(handle, view) :]
    return handle


def unsealed(handle: int) -> Any:
    """What a descriptor of `sealed` holds. Whoever reads it has just been forked: each page it touches costs."""
    return marshal.loads(os.pread(handle, os.fstat(handle).st_size, 0))  # noqa: S302 - our own engine's
