"""Names that engines accept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from couler_py.ir.names import RULES, Namer, file_stem, legal, legal_name

KINDS = sorted(RULES)


@given(st.sampled_from(KINDS), st.text())
@example(("argo", "workflow"), "-")
@example(("argo", "task"), "in")
@example(("argo", "task"), "x" * 200)
@example(("airflow", "task"), "")
@example(("argo", "workflow"), "é" * 80)
@example(("argo", "workflow"), "a" * 54 + "-" * 20)
def test_a_made_name_is_legal(kind: tuple[str, str], text: str) -> None:
    for distinct in (False, True):
        name = legal_name(*kind, text, distinct=distinct)  # type: ignore[arg-type]
        assert legal(*kind, name), name  # type: ignore[arg-type]
        assert name == legal_name(*kind, text, distinct=distinct)  # type: ignore[arg-type]


@given(st.sampled_from(KINDS), st.lists(st.text(alphabet="aA-_ é.", max_size=4), unique=True, max_size=12))
def test_names_of_one_scope_differ(kind: tuple[str, str], texts: list[str]) -> None:
    namer = Namer(*kind)  # type: ignore[arg-type]
    names = [namer.name(text) for text in texts]
    assert len(set(names)) == len(texts)
    assert [namer.name(text) for text in texts] == names


@pytest.mark.parametrize(
    ("engine", "kind", "text", "name"),
    [
        ("argo", "workflow", "my-flow", "my-flow"),
        ("argo", "workflow", "My Flow_2", "my-flow-2"),
        ("argo", "task", "train_model", "train-model"),
        ("argo", "task", "1st", "n-1st"),
        ("argo", "task", "in", "in-58296753"),
        ("argo", "task", "Not", "Not-a3cb7fba"),
        ("argo", "parameter", "a_b", "a_b"),
        ("airflow", "task", "train-model", "train-model"),
        ("airflow", "task", "naïve step", "naive_step"),
        ("ir", "task", "été", "été"),
    ],
)
def test_the_name_made_of_a_text(engine: str, kind: str, text: str, name: str) -> None:
    assert legal_name(engine, kind, text) == name  # type: ignore[arg-type]


def test_ids_on_airflow_are_short_enough_for_its_files_and_folders() -> None:
    assert len(f".{legal_name('airflow', 'workflow', 'w' * 250)}.py.12345678.part") <= 255
    assert len(f"task_id={legal_name('airflow', 'task', 't' * 250)}") <= 255


@given(st.text(max_size=300))
def test_a_file_stays_in_its_folder_whatever_the_name_is(name: str) -> None:
    stem = file_stem(name)
    assert Path(f"/folder/{stem}.yaml").resolve().parent == Path("/folder")
    assert len(stem.encode()) <= 250


@pytest.mark.parametrize(
    ("name", "stem"),
    [("my.flow-2", "my.flow-2"), ("Ünï_x", "Ünï_x"), ("../../etc/flow", "etc-flow"), ("..", "x-5ec1f7e7")],
)
def test_the_file_of_a_workflow_is_called_as_the_workflow_where_a_file_may_be(name: str, stem: str) -> None:
    assert file_stem(name) == stem
