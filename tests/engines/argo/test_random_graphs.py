"""Hundreds of random graphs on the real controller: states, outcome and outputs are those of the IR's meaning."""

from __future__ import annotations

import pytest

from tests.cluster.argo import Namespace
from tests.conformance.interpreter import interpret
from tests.conformance.random_graphs import random_workflow
from tests.engines.argo.controller import Run, differences

pytestmark = pytest.mark.cluster

BATCH = 250
"""They run side by side: the more at once, the less is waited for the last of each batch."""
LATER = [pytest.param(start, marks=pytest.mark.soak) for start in range(BATCH, 10 * BATCH, BATCH)]


@pytest.mark.parametrize("start", [0, *LATER])
def test_random_graphs_mean_the_same_on_the_controller(namespace: Namespace, start: int) -> None:
    runs = []
    for seed in range(start, start + BATCH):
        workflow = random_workflow(seed)
        meant = interpret(workflow)
        outputs = meant.outputs if meant.state == "Succeeded" else None
        runs.append(Run(f"seed {seed}", workflow, meant.state, meant.tasks, outputs))
    assert differences(namespace, runs) == {}
