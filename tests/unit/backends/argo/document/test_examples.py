"""Every example of Argo's comes in, goes out as it was, and stays the same on the way through IR as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

import couler_py as couler
from couler_py import ir
from couler_py.backends import argo, yaml
from couler_py.backends.argo.document import load, load_all, loaded, write
from couler_py.backends.argo.document.natives import same
from couler_py.backends.argo.document.share import native_share
from tests.unit.backends.argo.document.examples import expected, texts


@pytest.fixture(scope="module")
def files(reference_data: Path) -> dict[str, str]:
    return texts(reference_data)


def test_all_files_with_documents_of_argos_are_read(files: dict[str, str]) -> None:
    assert len(files) == 154
    assert sum(len(load_all(text)) for text in files.values()) == 162


def test_what_is_written_is_what_was_read(files: dict[str, str]) -> None:
    for name, text in files.items():
        for given in (load(text), load_all(text)):
            assert same(yaml.load_all(argo.dump(given)), expected(text)), name


def test_what_is_written_is_read_as_the_same_ir(files: dict[str, str]) -> None:
    for name, text in files.items():
        document = load(text)
        assert load(argo.dump(document)) == document, name


def test_nothing_is_said_about_them(files: dict[str, str]) -> None:
    assert [name for name, text in files.items() if loaded(text)[1]] == []


def test_they_travel_as_ir_in_json(files: dict[str, str]) -> None:
    for name, text in files.items():
        document = load(text)
        assert ir.from_json(ir.to_json(document)) == document, name


def test_they_compile_as_they_stand(files: dict[str, str]) -> None:
    for name, text in files.items():
        for document in load_all(text):
            bundle = couler.compile(document)
            assert same(bundle.documents[-1], write(document)), name
            assert bundle.diagnostics == ()


def test_their_workflows_alone_compile_to_documents_that_are_read_as_the_same_workflow(files: dict[str, str]) -> None:
    for name, text in files.items():
        workflow = couler.build(load(text))
        assert load(couler.compile(workflow).text).workflow == workflow, name


def test_less_than_one_leaf_in_a_hundred_is_carried_without_being_understood(files: dict[str, str]) -> None:
    share = native_share(document for text in files.values() for document in load_all(text))
    print(share.report())
    assert share.leaves == 4224
    assert share.natives == {
        "/spec/templates/*/inputs/parameters/*/default": 9,
        "/spec/templates/*/inputs/parameters/*/value": 9,
        "/spec/templates/*/retryStrategy/limit": 7,
        "/spec/suspend": 2,
        "/spec/concurrencyPolicy": 1,
        "/spec/templates/*/suspend/duration": 1,
    }
    assert share.part < 0.01
