"""The master as a service: who may speak to it, who is taken for lost, and what a new process finds."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from pathlib import Path

import pytest

from couler_py.steps.dlrm.sharding import wire
from couler_py.steps.dlrm.sharding.journal import Journal, JournalError
from couler_py.steps.dlrm.sharding.messages import Join, Request, Take
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
    master = os.pidfd_open(int(os.read(heard, 20)))
    process.kill()
    process.join()
    assert select.select([master], [], [], 60)[0]
    for each in (heard, said, master):
        os.close(each)


def test_who_is_silent_for_too_long_is_lost_and_hears_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "master"
    with (
        mastered(folder, Settings(rows=10, shard_rows=10, lease=4.0)),
        Worker(folder, "silent") as silent,
        Worker(folder, "b") as other,
    ):
        lease = next(silent.leases())
        silent._over.set()  # its thread ends, as if the process were stopped
        taken = next(other.leases())  # waits for it
        assert (taken.start, taken.cursor) == (0, 0)
        with pytest.raises(FencedError, match="silent of generation 1 is taken for lost"):
            silent.done(lease)
        other.done(taken)
        assert other.status().rows_done == 10


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


def test_a_beating_worker_keeps_its_shards_while_it_computes(tmp_path: Path) -> None:
    folder = tmp_path / "master"
    with mastered(folder, Settings(rows=10, shard_rows=10, lease=4.0)), Worker(folder, "a") as worker:
        lease = next(worker.leases())
        threading.Event().wait(5.0)
        worker.done(lease)
        assert list(worker.leases()) == []
