"""The master as a service: who may speak to it, who is taken for lost, and what a new process finds."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.steps.dlrm.sharding import wire
from couler_py.steps.dlrm.sharding.journal import Journal, JournalError
from couler_py.steps.dlrm.sharding.master import SETTINGS, STRANGERS, Master
from couler_py.steps.dlrm.sharding.messages import Beat, Command, Join, Lost, Request, Take
from couler_py.steps.dlrm.sharding.service import serving
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.worker import FencedError, MasterLostError, ShardingError, Worker

from .mastering import mastered, started

FOUND = Settings(rows=100, shard_rows=10, shuffled=False, lease=60)


def test_a_master_that_is_killed_is_started_again_and_known_to_its_workers(tmp_path: Path) -> None:
    with serving(tmp_path / "master", FOUND) as service, Worker(tmp_path / "master", "a") as worker:
        leases = worker.leases()
        first = next(leases)
        worker.advance(first, 4)
        os.kill(service.pid, signal.SIGKILL)
        worker.advance(first, 10)
        assert next(leases).start == 10
        assert service.restarts == 1
    with serving(tmp_path / "master", FOUND), Worker(tmp_path / "master", "b") as worker:
        assert worker.status().done == 1
        assert next(worker.leases()).start == 10  # what was held when all of it ended
    with pytest.raises(ValueError, match="is of another training"), serving(tmp_path / "master", Settings(7, 7)):
        pass


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that isn't a child, as Linux can")
def test_a_master_ends_when_who_started_it_is_killed(tmp_path: Path) -> None:
    heard, said = os.pipe()

    def starts() -> None:
        with serving(tmp_path / "master", FOUND) as service:
            os.write(said, str(service.pid).encode())
            signal.pause()

    process = started(starts)
    os.close(said)  # where the child fails, nobody has it open any more, and there is nothing to wait for
    master = os.pidfd_open(int(os.read(heard, 20)))
    process.kill()
    process.join()
    assert select.select([master], [], [], 60)[0]
    for each in (heard, master):
        os.close(each)


class Waiting(Master):
    """A master for which the time that it needs to take a worker for lost passes at once."""

    silent = ""

    def _expire(self, changes: list[Request]) -> None:
        if self.silent:
            self._heard[self.silent] -= 2 * FOUND.lease
            self.silent = ""
        super()._expire(changes)


@contextmanager
def waiting(folder: Path, settings: Settings) -> Iterator[Waiting]:
    """A master that is a thread."""
    (folder / SETTINGS).write_bytes(msgspec.json.encode(settings))
    master = Waiting(folder)
    thread = threading.Thread(target=master.serve)
    thread.start()
    try:
        yield master
    finally:
        master.stop()
        thread.join()


def test_who_is_silent_for_too_long_is_lost_and_hears_of_it(tmp_path: Path) -> None:
    with (
        waiting(tmp_path, Settings(rows=10, shard_rows=10, lease=FOUND.lease)) as master,
        Worker(tmp_path, "silent") as silent,
        Worker(tmp_path, "b") as other,
    ):
        lease = next(silent.leases())
        master.silent = "silent"
        taken = next(other.leases())  # waits for it
        assert (taken.start, taken.cursor) == (0, 0)
        with pytest.raises(FencedError, match="silent of generation 1 is taken for lost"):
            silent.done(lease)
        other.done(taken)
        assert other.status().rows_done == 10


def test_who_says_that_it_lives_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_bytes(msgspec.json.encode(FOUND))
    master, changes = Waiting(tmp_path), list[Request]()
    master._done(Request("a", 0, 1, Join()), [])
    master._heard["a"] -= 2 * FOUND.lease
    master._done(Request("a", 1, 1, Beat()), [])
    master._expire(changes)
    assert changes == []
    master.silent = "a"
    master._expire(changes)
    assert changes == [Request("a", 1, 0, Lost())]
    master.stop()
    master.serve()


def test_only_who_knows_the_token_is_heard(tmp_path: Path) -> None:
    with mastered(tmp_path / "master", FOUND), Worker(tmp_path / "master", "a") as worker:
        address, token = worker._found()
        assert (tmp_path / "master/token").stat().st_mode & 0o777 == 0o600
        with pytest.raises(MasterLostError, match="refused this token"), Worker(address, "b", token=b"guess"):
            pass
        with Worker(address, "b", token=token) as other:
            assert other.status().workers == ("a", "b")
        sock = socket.create_connection((address.host, address.port))
        wire.exactly(sock, wire.NONCE)
        sock.sendall(bytes(64) + wire.framed(Request("c", 0, 1, Join())))
        assert sock.recv(1) == b""
        assert worker.status().workers == ("a",)
    with pytest.raises(ValueError, match="by its folder, or by its address and token"):
        Worker(address, "b")


def test_no_master_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(MasterLostError, match=r"a has had no answer for 0.2 s from .*FileNotFoundError"):
        Worker(tmp_path, "a", patience=0.2).join()


def test_a_shard_that_can_not_be_read_is_reported(tmp_path: Path) -> None:
    found = Settings(rows=20, shard_rows=10, shuffled=False, retries=0, quarantine=1)
    with mastered(tmp_path / "master", found), Worker(tmp_path / "master", "a") as worker:
        leases = worker.leases()
        worker.fail(next(leases), "altered bytes")
        assert [each.reason for each in worker.status().set_aside] == ["altered bytes"]
        worker.fail(next(leases), "gone")
        with pytest.raises(ShardingError, match="the training has failed: rows 10 to 20 of epoch 0"):
            next(leases)


def test_a_journal_that_was_cut_off_is_taken_up_and_one_that_was_damaged_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    asked = [Request("a", 0, 1, Join()), Request("a", 1, 1, Take())]
    for each in asked:
        journal.append([each])
    journal.close()
    whole = (tmp_path / "journal").read_bytes()
    for cut in range(1, len(whole) // 2):
        (tmp_path / "journal").write_bytes(whole[:-cut])
        again = Journal(tmp_path)
        assert again.requests == asked[:1]
        again.close()
    (tmp_path / "journal").write_bytes(whole.replace(b'"join"', b'"jion"'))
    with pytest.raises(JournalError, match="was damaged at byte 0: what follows can't be trusted"):
        Journal(tmp_path)


class Counted(Worker):
    """A worker that counts what it said of itself and was answered."""

    def __init__(self, folder: Path, name: str):
        super().__init__(folder, name)
        self.beats = threading.Semaphore(0)

    def _asked(self, command: Command, kind: Any) -> Any:
        reply = super()._asked(command, kind)
        if isinstance(command, Beat):
            self.beats.release()
        return reply


def test_a_worker_says_that_it_lives_while_it_computes(tmp_path: Path) -> None:
    folder = tmp_path / "master"
    worker = Counted(folder, "a")
    with mastered(folder, Settings(rows=10, shard_rows=10, lease=20.0)), worker:
        lease = next(worker.leases())
        assert all(worker.beats.acquire(timeout=60) for _ in range(2))
        worker.done(lease)
        assert list(worker.leases()) == []


def test_who_never_shows_the_token_keeps_no_worker_out(tmp_path: Path) -> None:
    with mastered(tmp_path / "master", FOUND), Worker(tmp_path / "master", "a") as worker, ExitStack() as opened:
        address, token = worker._found()
        strangers = [
            opened.enter_context(socket.create_connection((address.host, address.port))) for _ in range(STRANGERS + 1)
        ]
        for each in strangers[:-1]:
            wire.exactly(each, wire.NONCE)
        assert strangers[-1].recv(1) == b""
        assert worker.status().workers == ("a",)
        strangers[0].close()
        with Worker(address, "b", token=token) as other:
            assert other.status().workers == ("a", "b")


def test_a_master_that_can_open_no_more_files_serves_on(tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_bytes(msgspec.json.encode(FOUND))
    master = Master(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.create_connection(master._listening.getsockname()) as sock:
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
        try:
            master._accept()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        master._accept()
        assert len(wire.exactly(sock, wire.NONCE)) == wire.NONCE
    master.stop()
    master.serve()
