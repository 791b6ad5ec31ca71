"""What comes out in words that every engine shares means the same: run by our rules, and by Argo's."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from couler_py.backends.argo import load
from couler_py.backends.imported import for_engine
from couler_py.backends.local.api import execute
from couler_py.ir.model import Document
from couler_py.passes.portable import portable
from couler_py.store.records import RunRecord
from tests.conformance.imported import Imported
from tests.conformance.imported.cases import CASES
from tests.unit.passes.portable.flows import PARTS, random_flow


def same(document: Document) -> bool:
    """Whether a document has a portable form without a finding; both forms must come to the same then."""
    ours, findings = portable(document)
    if findings:
        return False
    with TemporaryDirectory() as folder:
        argo = execute(for_engine(document, "local")[0], home=Path(folder))
        here = execute(ours, home=Path(folder))
    assert seen(here) == seen(argo)
    return True


def seen(record: RunRecord) -> dict[str, Any]:
    """What a run came to. A fan-out without items is Skipped on Argo and Succeeded here, for all who wait the same."""
    tasks = {path: task for path, task in record.tasks.items() if path}
    states = {
        path: "Succeeded" if task.kind == "map" and task.state == "Skipped" else task.state
        for path, task in tasks.items()
    }
    ended = {path: task.result for path, task in tasks.items() if task.kind != "map" and task.state == "Succeeded"}
    says = {path: result.parameters for path, result in ended.items() if result is not None and result.parameters}
    return {"status": record.status, "outputs": record.outputs, "states": states, "says": says}


def portable_parts(document: dict[str, Any]) -> Document:
    """The document of a case, with templates that do the same in words that have a portable form."""
    parts = {part["name"]: part for part in PARTS}
    own = [each for each in document["spec"]["templates"] if each["name"] not in parts]
    document["spec"]["templates"] = [*own, *parts.values()]
    return load(yaml.safe_dump(document))


PORTABLE = [case for case in CASES if not portable(portable_parts(case.document))[1]]


def test_many_cases_are_portable() -> None:
    assert len(PORTABLE) >= 15


@pytest.mark.parametrize("case", PORTABLE, ids=str)
def test_a_case_means_the_same(case: Imported) -> None:
    assert same(portable_parts(case.document))


def test_any_flow_means_the_same() -> None:
    assert sum(same(load(yaml.safe_dump(random_flow(seed)))) for seed in range(24)) >= 12


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_any_flow_means_the_same_by_the_hundred(first: int) -> None:
    assert sum(same(load(yaml.safe_dump(random_flow(seed)))) for seed in range(first, first + 100)) >= 20
