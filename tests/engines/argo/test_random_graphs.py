"""Hundreds of random graphs on the real controller: states, outcome and outputs are those of the IR's meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cluster.argo import Namespace
from tests.conformance.case import Case
from tests.conformance.cases import PODLESS
from tests.conformance.interpreter import interpret
from tests.conformance.random_graphs import random_workflow
from tests.engines.argo.controller import Run, differences

pytestmark = pytest.mark.cluster

BATCH = 125


@pytest.mark.parametrize("start", range(0, 4 * BATCH, BATCH))
def test_random_graphs_mean_the_same_on_the_controller(namespace: Namespace, start: int) -> None:
    runs = []
    for seed in range(start, start + BATCH):
        workflow = random_workflow(seed)
        meant = interpret(workflow)
        outputs = meant.outputs if meant.state == "Succeeded" else None
        runs.append(Run(f"seed {seed}", workflow, meant.state, meant.tasks, outputs))
    assert differences(namespace, runs) == {}


def outputs(case: Case) -> Mapping[str, Any] | None:
    """A run that fails gives none on Argo."""
    return case.outputs if case.status == "Succeeded" else None


def test_every_case_without_pods_holds_on_the_controller(namespace: Namespace) -> None:
    runs = [
        Run(case.name, case.build(), case.status, case.tasks, outputs(case), case.parameters)
        for case in PODLESS
        if "argo" not in case.refused
    ]
    assert differences(namespace, runs) == {}
