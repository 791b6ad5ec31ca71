"""What a runtime says of a container whose neighbour, the network of which it was to share, has ended."""

from __future__ import annotations

import pytest

from couler_py.backends.local.containers.running import ALONE


@pytest.mark.parametrize(
    "said",
    [
        b"Error: cannot get namespace path unless container 1f is running: container is stopped",
        b"Error: runc: runc create failed: unable to create new parent process: namespace path: lstat /proc/9392/ns/net"
        b": no such file or directory: OCI runtime attempted to invoke a command that was not found",
        b"docker: Error response from daemon: cannot join network of a non running container: 1f",
        b"docker: Error response from daemon: No such container: a",
    ],
)
def test_that_the_neighbour_has_ended_is_understood(said: bytes) -> None:
    assert ALONE.search(said)


def test_that_a_program_is_missing_is_something_else() -> None:
    said = b'Error: runc create failed: exec: "nothing": executable file not found in $PATH: OCI runtime attempted to '
    assert not ALONE.search(said + b"invoke a command that was not found")
