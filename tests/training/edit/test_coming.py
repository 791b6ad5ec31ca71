"""Replicas that come and go while others train: three processes, of which two begin and the third comes and leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(600)  # three processes import torch, beside whatever else runs


@pytest.fixture(scope="module")
def found(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    from couler_py.steps.edit.members import server

    folder, meeting = tmp_path_factory.mktemp("coming"), server(0)
    environment = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    running = {}
    for who in (1, 3, 5):
        command = [sys.executable, "-m", "tests.training.edit.coming", str(meeting.port), str(who), f"{folder}/{who}"]
        running[who] = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    told = {who: process.communicate(timeout=500)[1] for who, process in running.items()}
    for who, process in running.items():
        assert process.returncode == 0, f"{who}: {told[who][-3000:]}"
    return {who: json.loads((folder / str(who)).read_text()) for who in running}


def test_who_comes_takes_part_from_the_next_round_and_who_leaves_counts_for_nothing(found: dict[int, Any]) -> None:
    rounds = [[2, 2], [2, 2], [2, 2, 2], [2, 2, 0], [2, 2]]
    assert found[1]["steps"] == found[3]["steps"] == rounds
    assert found[5]["steps"] == rounds[2:4]
    assert [found[who]["gone"] for who in (1, 3, 5)] == [False, False, True]


def test_who_comes_has_the_anchor_and_the_momentum_of_the_others(found: dict[int, Any]) -> None:
    import torch

    weight = torch.zeros(1, requires_grad=True)
    outer = torch.optim.SGD([weight], lr=0.7, momentum=0.8, nesterov=True)
    expected = []
    for average in (4.0, 4.0, 6.0, 4.0, 4.0):  # of 2 steps each of 1 and 3; in the third round also of 5
        weight.grad = torch.tensor([-average])
        outer.step()
        expected.append(float(weight.detach()))
    assert found[1]["moved"] == pytest.approx(expected, abs=1e-4)
    assert found[5]["began"] == pytest.approx(expected[1], abs=1e-4)
    assert found[1]["digests"] == found[3]["digests"]  # to the last bit
    assert found[5]["digests"] == found[1]["digests"][2:4]


def test_everybody_hears_of_each_change(found: dict[int, Any]) -> None:
    assert found[1]["changes"] == [[0, 0, 2, [0]], [1, 0, 3, [4]], [2, 0, 2, [8]]]
    assert found[3]["changes"] == [[0, 1, 2, [0]], [1, 1, 3, [4]], [2, 1, 2, [8]]]
    assert found[5]["changes"] == [[1, 2, 3, [4]]]


def test_who_comes_when_all_is_over_is_told(found: dict[int, Any]) -> None:
    assert found[1]["late"] == "the training that this replica wanted to join is over"
