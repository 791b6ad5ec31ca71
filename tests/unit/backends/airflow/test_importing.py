"""The parts of an import that need no Airflow: functions without its context, commands without values in their text."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.backends.airflow.importing import inspecting
from couler_py.backends.airflow.importing.made import Slots
from couler_py.backends.airflow.importing.reading import read
from couler_py.backends.airflow.importing.rewriting import Wanted, rewritten, without_annotations
from couler_py.backends.airflow.importing.settings import type_of
from couler_py.backends.airflow.importing.shell import command, last_line
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.ir import DiagnosticError
from couler_py.ir import expr as x
from couler_py.ir.types import ANY, INT, NONE, STR, Choice, DictOf, ListOf, UnionOf


def test_what_a_function_pulls_becomes_a_parameter_of_the_name_it_gave() -> None:
    made = rewritten("def load(ti):\n    rows = ti.xcom_pull(task_ids='extract')\n    return len(rows)", set())
    assert made.text == "def load(rows):\n    return len(rows)"
    assert made.wanted == {"rows": Wanted("result", "extract")}


def test_a_task_instance_with_a_name_of_its_own_is_one() -> None:
    source = "def load(**kwargs):\n    ti = kwargs['ti']\n    return ti.xcom_pull('a') + ti.xcom_pull('b', key='k')"
    made = rewritten(source, set())
    assert made.text == "def load(a, b_k):\n    return a + b_k"
    assert made.wanted == {"a": Wanted("result", "a"), "b_k": Wanted("result", "b", "k")}


def test_members_of_the_context_become_parameters_behind_those_that_are_needed() -> None:
    made = rewritten("def f(x, y=1, **context):\n    return x, y, context['ds'], context['params']['n']", {"x"})
    assert made.text == "def f(x, ds, n, y=1):\n    return x, y, ds, n"
    assert made.wanted == {"ds": Wanted("context", "ds"), "n": Wanted("param", "n")}


def test_a_parameter_that_the_dag_gives_is_no_context() -> None:
    made = rewritten("def f(ds):\n    return ds", {"ds"})
    assert (made.text, made.wanted) == ("def f(ds):\n    return ds", {})


def test_what_only_airflow_has_is_named_with_its_line() -> None:
    with pytest.raises(UnsayableError, match="line 2 of the function uses 'ti'"):
        rewritten("def f(ti):\n    ti.xcom_push('k', 1)", set())
    with pytest.raises(UnsayableError, match="line 2 of the function pulls an XCom that isn't named"):
        rewritten("def f(ti):\n    return ti.xcom_pull(task_ids=name())", set())


def test_a_function_without_its_types() -> None:
    source = 'def f(a: "pd.DataFrame", *, b: int = 1) -> list[x]:\n    return a'
    assert without_annotations(source) == "def f(a, *, b=1):\n    return a"


TEXTS = st.text(st.characters(codec="ascii", exclude_characters="\x00\r"), max_size=20)


@settings(max_examples=40)
@given(TEXTS)
def test_a_value_in_quotes_reaches_the_command_as_it_is(value: str) -> None:
    slots = Slots()
    word = x.WorkflowParameter("word")
    text = command(("printf '%s|%s' \"", word, "\" '", word, "'"), slots)
    assert list(slots.arguments) == ["word"]
    done = subprocess.run(["bash", "-c", text], env={"word": value}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{value}|{value}"


def test_a_value_in_a_document_of_the_shell_is_refused() -> None:
    with pytest.raises(UnsayableError, match="document of the shell"):
        command(("cat <<EOF\n", x.WorkflowParameter("word"), "\nEOF"), Slots())


def test_the_last_line_is_the_result_and_the_exit_code_stays() -> None:
    done = subprocess.run(["bash", "-c", last_line("echo one; echo two; exit 3")], capture_output=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (b"two\n", b"one\ntwo\n", 3)


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "integer", "minimum": 1}, INT),
        ({"type": ["null", "string"]}, UnionOf((NONE, STR))),
        ({"enum": ["a", "b"]}, Choice(("a", "b"))),
        ({"const": 3}, Choice((3,))),
        ({"type": "array", "items": {"type": "string"}}, ListOf(STR)),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, DictOf(INT)),
        ({"anyOf": [{"type": "string"}, {}]}, ANY),
    ],
)
def test_a_json_schema_is_a_type(schema: object, type_: object) -> None:
    assert type_of(schema) == type_


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_number_that_json_does_not_have_is_said_as_what_it_is(number: float) -> None:
    told = msgspec.json.decode(json.dumps(inspecting.said({"rate": [number, 0.5]})))
    assert told == {"rate": [{"$": "other", "type": "builtins.float", "text": repr(number)}, 0.5]}
    assert not inspecting.plain({"rate": number})
    assert inspecting.plain({"rate": 0.5})


def test_half_a_character_is_nothing_that_json_has() -> None:
    assert inspecting.said(["a", "\ud800"]) == ["a", {"$": "other", "type": "builtins.str", "text": "'\\ud800'"}]
    assert inspecting.said({"\ud800": 1})["$"] == "other"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"dags": [{"id": 1}]}', "what it makes is nothing that a DAG can hold"),
        ('{"dags": "\\ud800"}', "what it makes is nothing that a DAG can hold"),
        ("{}", "the file makes no DAG"),
    ],
)
def test_facts_that_do_not_fit_are_a_finding(written: str, said: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    (tmp_path / "facts").write_text(written)
    python.write_text(f'#!/bin/sh\ncp {tmp_path / "facts"} "$4"\n')
    python.chmod(0o755)
    with pytest.raises(DiagnosticError, match=said):
        read("dag.py", str(python))
