"""Every example compiles for each version of Argo to the documents that are written down here.

`make golden` writes them anew. They are compared as parsed documents; the text of the runner, which is the
same in all of them and has tests of its own, is left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import pytest

import couler_py as couler
from couler_py.backends.argo.emission import RUNNER
from couler_py.backends.argo.verify import verify
from couler_py.backends.yaml import dump_all, load_all
from couler_py.cli.load import load

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted((CHECKOUT / "examples").glob("*.py"))
EXPECTED = {"4": Path(__file__).parent / "argo", "3.5": Path(__file__).parent / "argo35"}


def without_runner(documents: list[Any]) -> list[Any]:
    for document in documents:
        spec = document["spec"].get("workflowSpec", document["spec"])
        annotations = spec.get("workflowMetadata", {}).get("annotations", {})
        if RUNNER in annotations:
            annotations[RUNNER] = "the runner"
    return documents


@pytest.mark.parametrize("version", ["4", "3.5"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compiles_to_the_documents_written_down(
    example: Path, version: Literal["4", "3.5"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    bundle = couler.compile(load(str(example.relative_to(CHECKOUT))).workflow, to=f"argo@{version}")
    assert bundle.diagnostics == ()
    documents = without_runner(load_all(bundle.text))
    expected = EXPECTED[version] / f"{example.stem}.yaml"
    if os.environ.get("COULER_GOLDEN") == "write":
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(dump_all(documents), encoding="utf-8")
    assert documents == load_all(expected.read_text(encoding="utf-8"))
    assert verify(documents, version=version) == []


@pytest.mark.parametrize("version", ["4", "3.5"])
def test_nothing_is_expected_of_examples_that_are_gone(version: str) -> None:
    assert {path.stem for path in EXPECTED[version].glob("*.yaml")} == {path.stem for path in EXAMPLES}
