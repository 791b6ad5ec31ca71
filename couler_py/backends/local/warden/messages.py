"""How an engine and its warden speak: JSON behind its length, descriptors beside it. Standard library only."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from typing import Any

MOST_DESCRIPTORS = 253  # that come with one message: SCM_MAX_FD of linux/include/net/scm.h
_HEADER = struct.Struct("!I")


def framed(data: bytes) -> bytes:
    """A message as it travels."""
    return _HEADER.pack(len(data)) + data


def close(handles: list[int]) -> None:
    """Close descriptors."""
    for handle in handles:
        os.close(handle)


def receive(channel: socket.socket) -> tuple[Any, list[int]]:
    """One message with the descriptors that came along, or None at the end."""
    handles = array.array("i")
    space = socket.CMSG_SPACE(MOST_DESCRIPTORS * handles.itemsize)
    header, ancillary, _, _ = channel.recvmsg(_HEADER.size, space, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
    if not hasattr(socket, "MSG_CMSG_CLOEXEC"):
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
