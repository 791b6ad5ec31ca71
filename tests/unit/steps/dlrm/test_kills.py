"""Whoever is killed, and wherever: no row is lost, and how many came twice is known."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.worker import Worker
from couler_py.store.faults import SHARDING
from tests.cutting import Cutting

from .mastering import mastered, rows_of, started, work

SHARDS, SIZE, CHUNK = 200, 20, 10
ROWS = SHARDS * SIZE


@pytest.mark.parametrize("seed", range(20))
def test_a_killed_worker_loses_nothing_and_repeats_only_what_it_had_not_reported(seed: int, tmp_path: Path) -> None:
    found = Settings(rows=ROWS, shard_rows=SIZE, seed=seed, lease=60)
    die_at = random.Random(seed).randrange(1, SHARDS)
    models = [tmp_path / name for name in ("a", "b", "again")]
    with mastered(tmp_path / "master", found):
        first = started(work, tmp_path / "master", "a", models[0], CHUNK, die_at)
        other = started(work, tmp_path / "master", "b", models[1], CHUNK)
        first.join()
        killed = first.exitcode == -signal.SIGKILL  # the other one may have been so fast that it never got there
        if killed:
            again = started(work, tmp_path / "master", "a", models[2], CHUNK)
            again.join()
        other.join()
        with Worker(tmp_path / "master", "looking") as looking:
            status = looking.status()
    counts = Counter(rows_of(*models))
    assert set(counts) == set(range(ROWS))
    assert sum(counts.values()) - ROWS == (CHUNK if killed else 0)
    assert (status.done, status.rows_done, status.set_aside) == (SHARDS, ROWS, ())


def _train(folder: Path, place: Path, die_at: int) -> None:
    """A training whose model is how often it saw each row, saved with the state of the master every third step."""
    with Worker(folder, "trainer") as worker:
        saved = json.loads(place.read_text()) if place.exists() else {"model": [0] * ROWS, "state": "", "step": 0}
        worker.restore(saved["state"])
        model, step = saved["model"], saved["step"]
        while True:
            step += 1
            pieces = [each for rank in worker.draw(step, (17, 23)) for each in rank]
            if not pieces:
                break
            for piece in pieces:
                for row in range(piece.start + piece.first, piece.start + piece.last):
                    model[row] += 1
            if step == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if step % 3 == 0:
                other = place.with_suffix(".new")
                other.write_text(json.dumps({"model": model, "state": worker.state(), "step": step}))
                other.replace(place)
        place.write_text(json.dumps({"model": model, "state": worker.state(), "step": step}))


@pytest.mark.parametrize("seed", range(20))
def test_a_training_that_is_killed_has_every_row_in_its_model_exactly_once(seed: int, tmp_path: Path) -> None:
    found = Settings(rows=ROWS, shard_rows=SIZE, seed=seed, lease=60, mode="exactly_once")
    die_at = random.Random(seed).randrange(1, ROWS // 40)
    with mastered(tmp_path / "master", found):
        killed = started(_train, tmp_path / "master", tmp_path / "model", die_at)
        killed.join()
        again = started(_train, tmp_path / "master", tmp_path / "model", 0)
        again.join()
    assert (killed.exitcode, again.exitcode) == (-signal.SIGKILL, 0)
    assert json.loads((tmp_path / "model").read_text())["model"] == [1] * ROWS


@pytest.mark.parametrize("times", [1, 30])
@pytest.mark.parametrize("point", SHARDING)
def test_a_master_that_is_killed_at_any_point_goes_on_and_nothing_comes_twice(
    point: str, times: int, tmp_path: Path
) -> None:
    found = Settings(rows=600, shard_rows=20, lease=60)
    models = [tmp_path / "a", tmp_path / "b"]
    times = min(times, 5) if "compact" in point else times
    with mastered(tmp_path / "master", found, f"{point}:{times}", compact=8) as master:
        workers = [
            threading.Thread(target=work, args=(tmp_path / "master", model.name, model, CHUNK)) for model in models
        ]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        with Worker(tmp_path / "master", "looking") as looking:
            status = looking.status()
    assert master.count == 1
    assert rows_of(*models) == list(range(600))
    assert (status.done, status.rows_done) == (30, 600)


def test_broken_connections_make_nothing_come_twice(tmp_path: Path) -> None:
    from couler_py.steps.dlrm.sharding import wire

    found = Settings(rows=600, shard_rows=20, lease=60)
    with mastered(tmp_path / "master", found), Worker(tmp_path / "master", "first") as first:
        address, token = first._found()
        proxy = Cutting(f"http://{address.host}:{address.port}")
        through = wire.Address("127.0.0.1", int(proxy.endpoint.rpartition(":")[2]))
        proxy.after, proxy.cuts = 400, 6
        seen = []
        with Worker(through, "a", token=token) as worker:
            for lease in worker.leases():
                seen += range(lease.start, lease.stop)
                worker.done(lease)
        assert proxy.broken == 6
        proxy.close()
    assert sorted(seen) == list(range(600))
