"""Printed programs write equal documents, look as a person would have written them, and hold no one's text as code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from couler_py import argo_native
from couler_py.backends import yaml
from couler_py.backends.argo import compile_workflow
from couler_py.backends.argo.document import is_argo, load_all, read, write
from couler_py.backends.argo.native.printing import Printed, print_documents
from couler_py.backends.argo.native.printing.proof import ForeignError, built
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Document, Workflow
from couler_py.printer.layout import broken
from tests.strategies import workflows
from tests.strategies.documents import documents, texts

JSON = dict[str, Any]


def executed(program: str) -> list[argo_native.Written]:
    """The documents of a program, run as the program that it is."""
    names: dict[str, Any] = {}
    exec(compile(program, "<printed>", "exec", dont_inherit=True), names)
    return [each for each in names.values() if isinstance(each, argo_native.Written)]


def document(*templates: JSON, **spec: Any) -> JSON:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "w-"},
        "spec": {**spec, "templates": list(templates)},
    }


def printed(data: JSON) -> str:
    return print_documents([Printed(data)])


# ---- what programs look like


def test_a_dag() -> None:
    data = document(
        {
            "name": "main",
            "dag": {
                "tasks": [
                    {"name": "A", "template": "echo", "arguments": {"parameters": [{"name": "text", "value": "hi"}]}},
                    {
                        "name": "B",
                        "template": "echo",
                        "depends": "A.Succeeded && !A.Skipped",
                        "arguments": {"parameters": [{"name": "text", "value": "{{tasks.A.outputs.result}}"}]},
                    },
                    {"name": "C", "template": "echo", "when": "{{tasks.B.status}} == Failed", "dependencies": ["B"]},
                ]
            },
        },
        {
            "name": "echo",
            "inputs": {"parameters": [{"name": "text", "default": "x"}]},
            "container": {"image": "alpine", "args": ["{{inputs.parameters.text}}", "say {{inputs.parameters.text}}"]},
        },
        entrypoint="main",
    )
    assert (
        printed(data)
        == """\
from couler_py import argo_native as argo

with argo.Workflow(generateName="w-", entrypoint="main") as w:
    echo = argo.container(
        "echo",
        inputs=[argo.parameter("text", default="x")],
        image="alpine",
        args=[argo.input("text"), "say {{inputs.parameters.text}}"],
    )
    with argo.dag("main"):
        a = echo("A", text="hi")
        b = echo("B", text=a.result, depends=a.succeeded & ~a.skipped)
        echo("C", when=f"{b.status} == Failed", dependencies=[b])
    w.arrange("main")
"""
    )


def test_steps_that_call_their_own_template_and_a_source_of_several_lines() -> None:
    data = document(
        {"name": "flip", "script": {"image": "python", "source": 'import random\nprint("\\\\")\n'}},
        {
            "name": "main",
            "steps": [
                [{"name": "flip", "template": "flip"}],
                [
                    {"name": "again", "template": "main", "when": "{{steps.flip.outputs.result}} == tails"},
                    {"name": "each", "template": "flip", "withParam": "{{steps.flip.outputs.parameters.list}}"},
                ],
            ],
        },
    )
    assert (
        printed(data)
        == '''\
from couler_py import argo_native as argo

with argo.Workflow(generateName="w-") as w:
    flip = argo.script(
        "flip",
        image="python",
        source=argo.text("""
            import random
            print("\\\\\\\\")
            """),
    )
    with argo.steps("main"):
        flip_step = flip("flip")
        with argo.parallel():
            argo.step("again", "main", when=f"{flip_step.result} == tails")
            flip("each", withParam=flip_step.parameter("list"))
'''
    )


def test_artifacts_and_what_has_no_words_of_its_own() -> None:
    data = document(
        {"name": "use", "inputs": {"artifacts": [{"name": "file", "path": "/f"}]}, "container": {"name": "n"}},
        {
            "name": "main",
            "dag": {
                "failFast": False,
                "tasks": [
                    {"name": "make", "templateRef": {"name": "t", "template": "m"}},
                    {
                        "name": "use",
                        "template": "use",
                        "arguments": {"artifacts": [{"name": "file", "from": "{{tasks.make.outputs.artifacts.out}}"}]},
                    },
                    {
                        "name": "raw",
                        "template": "use",
                        "arguments": {"artifacts": [{"name": "file", "raw": {"data": "x"}}]},
                    },
                ],
            },
        },
    )
    assert (
        printed(data)
        == """\
from couler_py import argo_native as argo

with argo.Workflow(generateName="w-") as w:
    use = argo.container("use", inputs=[argo.artifact("file", "/f")], container={"name": "n"})
    with argo.dag("main", dag={"failFast": False}):
        make = argo.task("make", templateRef={"name": "t", "template": "m"})
        use("use", file=make.artifact("out"))
        use("raw", artifacts={"file": {"raw": {"data": "x"}}})
"""
    )


def test_a_tree_of_dependencies_that_is_long_stays_text() -> None:
    long = " && ".join(f"(task-{n}.Succeeded || task-{n}.Failed)" for n in range(4))
    tasks = [{"name": f"task-{n}", "template": "x"} for n in range(4)]
    data = document({"name": "main", "dag": {"tasks": [*tasks, {"name": "z", "template": "x", "depends": long}]}})
    assert f'"{long}"' in printed(data)


def test_an_argument_that_the_template_has_no_input_for() -> None:
    given = {"parameters": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]}
    data = document(
        {"name": "one", "inputs": {"parameters": [{"name": "a"}]}, "suspend": {}},
        {"name": "main", "steps": [[{"name": "x", "template": "one", "arguments": given}]]},
    )
    assert 'one("x", parameters={"a": "1", "b": "2"})' in printed(data)


def test_no_variable_is_a_task_and_then_something_else() -> None:
    graph = {"tasks": [{"name": "a", "template": "x"}, {"name": "b", "template": "x", "depends": "a"}]}
    data = document(
        {"name": "a", "dag": graph},
        {"name": "b", "suspend": {}},
        {
            "name": "c",
            "dag": {"tasks": [{"name": "a", "template": "a"}, {"name": "q", "template": "b", "depends": "a"}]},
        },
    )
    assert (
        print_documents([Printed(data), Printed({**data, "metadata": {"name": "a"}, "spec": {}})])
        == """\
from couler_py import argo_native as argo

with argo.Workflow(generateName="w-") as w:
    with argo.dag("a") as a_template:
        a = argo.task("a", "x")
        argo.task("b", "x", depends=a)
    b_template = argo.suspend("b")
    with argo.dag("c"):
        a = a_template("a")
        b_template("q", depends=a)

a_workflow = argo.Workflow("a")
"""
    )


def test_a_variable_is_never_as_long_as_a_name_can_be() -> None:
    data = {**document({"name": "b" * 128, "suspend": {}}), "metadata": {"name": "a" * 253}}
    assert f") as {'a' * 50}:\n" in printed(data)


def test_several_documents_and_those_around_them_make_one_program() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    one = document({"name": "a", "suspend": {}})
    program = print_documents([Printed(one, before=(config,)), Printed(one, after=(config,))])
    assert (
        program
        == """\
from couler_py import argo_native as argo

with argo.Workflow(
    generateName="w-", before=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}]
) as w:
    argo.suspend("a")

with argo.Workflow(
    generateName="w-", after=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}]
) as w_workflow:
    argo.suspend("a")
"""
    )


def test_what_argo_does_not_know_is_written_unchecked() -> None:
    data = document({"name": "a", "container": {"image": "x", "fresh": 1}}, volumes=None)
    assert "check=False" in printed(data)
    assert [each.data for each in executed(printed(data))] == [data]


def test_fields_without_a_value_are_typed_ones() -> None:
    data = document({"name": "a", "outputs": {"parameters": None}, "suspend": {}}, podMetadata={"labels": None})
    program = printed(data)
    assert 'podMetadata={"labels": argo.null}' in program
    assert 'outputs={"parameters": argo.null}' in program


@pytest.mark.parametrize("metadata", [{"generateName": 5}, {"name": ["a"]}, {"name": "", "generateName": "a-"}])
def test_metadata_may_hold_anything(metadata: JSON) -> None:
    data = {**document({"name": "a", "suspend": {}}), "metadata": metadata}
    assert [each.data for each in executed(printed(data))] == [data]


@pytest.mark.parametrize("empty", [None, {"templates": []}, {}])
def test_a_cron_workflow_that_runs_nothing(empty: JSON | None) -> None:
    data = {**document(), "kind": "CronWorkflow", "spec": {"workflowSpec": empty}}
    assert [each.data for each in executed(printed(data))] == [data]


@pytest.mark.parametrize("words", ["(" * 3000 + "a" + ")" * 3000, "!" * 3000 + "a", " && ".join(["a"] * 3000)])
def test_dependencies_without_end_are_text(words: str) -> None:
    tasks = [{"name": "a", "template": "x"}, {"name": "b", "depends": words}]
    data = document({"name": "main", "dag": {"tasks": tasks}})
    assert [each.data for each in executed(printed(data))] == [data]


def nested(depth: int) -> JSON:
    found: Any = 1
    for _ in range(depth):
        found = {"a": [found]}
    return document({"name": "a", "unknown": found})


def test_a_document_as_deep_as_one_can_be_read_is_written_again() -> None:
    data = nested(62)
    assert [each.data for each in executed(printed(data))] == [data]
    assert yaml.load(yaml.dump(data)) == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (
            {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {}, "spec": {}, "more": 1},
            "more than",
        ),
        ({**document(), "apiVersion": "argoproj.io/v9"}, "its apiVersion isn't argoproj.io/v1alpha1"),
        ({**document(), "spec": {"": 1}}, "'' can't name an argument"),
        (document({"name": "a", "": 1}, **{"a b": 1}), "'' can't name an argument"),
        (nested(100), "nested deeper than 128 collections"),
    ],
)
def test_what_has_no_program_is_refused_with_the_reason(data: JSON, why: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        printed(data)
    assert [each.code for each in caught.value.diagnostics] == ["CLR195"]
    assert why in caught.value.diagnostics[0].why


# ---- examples


@pytest.fixture(scope="module")
def examples(reference_data: Path) -> dict[str, tuple[Document, ...]]:
    """Argo's example files with documents that are printed; the others hold ConfigMaps, claims and event bindings."""
    found = {}
    root = reference_data / "argo" / "examples"
    for path in sorted(root.rglob("*.yaml")):
        content = path.read_text(encoding="utf-8")
        if any(is_argo(each) for each in yaml.load_all(content)):
            found[str(path.relative_to(root).with_suffix(""))] = load_all(content, file=path.name)
    assert len(found) == 154
    return found


@pytest.fixture(scope="module")
def programs(examples: dict[str, tuple[Document, ...]]) -> dict[str, str]:
    return {
        name: print_documents([Printed(write(each), each.before, each.after) for each in found])
        for name, found in examples.items()
    }


def test_an_example_is_written_again(examples: dict[str, tuple[Document, ...]], programs: dict[str, str]) -> None:
    for name, program in programs.items():
        assert tuple(each.document for each in executed(program)) == examples[name], name
        assert "check=False" not in program, name


@pytest.fixture(scope="module")
def folder(programs: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs")
    for number, (name, program) in enumerate(sorted(programs.items())):
        (made / f"p{number}_{re.sub('[^a-z0-9]', '_', name)}.py").write_text(program, encoding="utf-8")
    return made


def test_programs_are_formatted_and_clean(folder: Path) -> None:
    ruff = str(Path(sys.executable).with_name("ruff"))
    settings_ = ["--isolated", "--line-length", "120"]
    form = subprocess.run([ruff, "format", "--diff", *settings_, folder], capture_output=True, text=True, check=False)
    assert form.stdout == ""
    # E501: a person's text may be longer than any line should be
    rules = ["--select", "E,F,W,I,B,UP,C4,PIE,RET,RUF,N", "--ignore", "E501"]
    lint = subprocess.run([ruff, "check", *settings_, *rules, folder], capture_output=True, text=True, check=False)
    assert (lint.returncode, lint.stdout) == (0, "All checks passed!\n")


def test_programs_are_typed(folder: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, sorted(folder.glob("*.py")))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[5])
    assert done.stdout == ""


# ---- anyone's text

generated = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@generated
@given(documents())
def test_any_document_is_written_again(data: JSON) -> None:
    program = printed(data)
    assert [each.data for each in executed(program)] == [data]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(workflows())
def test_what_we_emit_for_any_workflow_is_written_again(workflow: Workflow) -> None:
    try:
        *around, main = compile_workflow(workflow).documents
    except DiagnosticError:  # what Argo can't do
        return
    program = print_documents([Printed(main, tuple(around))])
    [written] = executed(program)
    assert (written.data, list(written.around[0])) == (main, around)


@generated
@given(documents())
def test_a_program_consists_of_nothing_but_calls_and_literals(data: JSON) -> None:
    """Whatever text a document holds, no name, attribute or statement comes of it."""
    program = ast.parse(printed(data))
    called = {ast.unparse(node.func) for node in ast.walk(program) if isinstance(node, ast.Call)}
    methods = {name.rpartition(".")[2] for name in called if "." in name}
    assert methods <= set(argo_native.__all__) | {"parameter", "artifact", "label", "annotation", "output", "arrange"}
    assert not any(
        isinstance(node, ast.Lambda | ast.FunctionDef | ast.Starred | ast.Await) for node in ast.walk(program)
    )


@generated
@given(documents())
def test_a_program_of_any_document_is_formatted(data: JSON) -> None:
    program = printed(data)
    ruff = str(Path(sys.executable).with_name("ruff"))
    command = [ruff, "format", "--isolated", "--line-length", "120", "-"]
    done = subprocess.run(command, input=program.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == program


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(0, 3))
def test_any_text_of_several_lines_is_written_line_by_line_or_not_at_all(given_text: str, depth: int) -> None:
    from couler_py.backends.argo.native.printing.literals import lines

    found = lines(given_text)
    if found is not None:
        assert eval(broken(found, 4 * depth, 0), {"argo": argo_native}) == given_text


@pytest.mark.parametrize(
    "program",
    [
        "import os",
        "from couler_py import argo_native as argo\nargo.__class__",
        "from couler_py import argo_native as argo\nargo.container.__globals__['x']()",
        "print('x')",
        "[x for x in 'a']",
        "lambda: 0",
    ],
)
def test_the_proof_reads_nothing_but_what_programs_consist_of(program: str) -> None:
    with pytest.raises(ForeignError):
        built(program)


def test_documents_survive_the_way_through_the_ir() -> None:
    data = document({"name": "a", "container": {"image": "x"}}, entrypoint="a")
    assert write(read(data)) == data
