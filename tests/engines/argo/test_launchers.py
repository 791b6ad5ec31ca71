"""What is kept of the operators' definitions, in tests/data/crds, is what their Go modules say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tools import crds

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(shutil.which("go") is None, reason="the definitions come from Go modules, and there is no go"),
]


def kept(name: str) -> object:
    return json.loads((crds.DATA / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", crds.DEFINED)
def test_a_definition_is_kept_as_its_operator_has_it(name: str) -> None:
    assert crds.reduced(name) == kept(name)


def test_the_definition_of_an_experiment_is_kept_as_katib_has_it() -> None:
    assert crds.katib() == kept("experiment")


def test_no_definition_is_kept_that_nobody_asks_for() -> None:
    assert {path.stem for path in Path(crds.DATA).iterdir()} == {*crds.DEFINED, "experiment"}
