"""`couler import`, and files of documents in Argo's own words at the other commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.backends import yaml
from tests.unit.cli.conftest import Couler

DIAMOND = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: hello-
spec:
  entrypoint: hello
  templates:
  - name: hello
    container:
      image: alpine:3.20
      command: [echo, "{{workflow.name}}"]
"""

PROGRAM = """\
from couler_py import argo_native as argo

with argo.Workflow(
    generateName="hello-",
    entrypoint="hello",
    before=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}],
) as hello:
    argo.container("hello", image="alpine:3.20", command=["echo", argo.workflow.name])
"""


@pytest.fixture
def flow(here: Path) -> Path:
    path = here / "flow.yaml"
    path.write_text(DIAMOND, encoding="utf-8")
    return path


@pytest.fixture
def program(here: Path) -> Path:
    path = here / "flow.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_a_file_is_imported(couler: Couler, here: Path, flow: Path) -> None:
    shown = couler("import", "flow.yaml")
    assert (shown.code, shown.out) == (0, PROGRAM)
    assert couler("import", "flow.yaml", "-o", "made/flow.py").code == 0
    assert (here / "made" / "flow.py").read_text() == PROGRAM


def test_what_was_imported_compiles_to_the_same_documents(couler: Couler, flow: Path, program: Path) -> None:
    for file in (flow, program):
        shown = couler("compile", file.name)
        assert shown.code == 0
        assert yaml.load_all(shown.out) == yaml.load_all(DIAMOND)


def test_a_program_of_documents_is_printed_and_linted(couler: Couler, program: Path) -> None:
    assert couler("print", "flow.py").out == PROGRAM
    shown = couler("lint", "flow.py")
    assert (shown.code, shown.err) == (0, "nothing wrong\n")


def test_what_is_not_kept_or_not_known_is_said(couler: Couler, flow: Path) -> None:
    flow.write_text(DIAMOND + "    fresh: 1\nstatus:\n  phase: Running\n", encoding="utf-8")
    shown = couler("import", "flow.yaml")
    assert shown.code == 0
    assert "flow.yaml:17:5" in shown.err
    assert "Argo knows no such field" in shown.err
    assert "status is set aside" in shown.err
    assert "fresh=1" in shown.out


def test_yaml_is_printed_too(couler: Couler, flow: Path) -> None:
    assert couler("print", "flow.yaml").out == PROGRAM


def test_one_of_several_documents_is_chosen_by_its_name(couler: Couler, program: Path) -> None:
    program.write_text(PROGRAM + PROGRAM.partition("\n")[2].replace("hello", "other"), encoding="utf-8")
    shown = couler("compile", "flow.py")
    assert shown.code == 2
    assert "choose one of flow.py:hello, flow.py:other" in shown.err
    assert "generateName: other-" in couler("compile", "flow.py:other").out


def test_a_mistake_in_a_program_is_said_at_its_line(couler: Couler, program: Path) -> None:
    program.write_text(PROGRAM.replace("image=", "imag="), encoding="utf-8")
    shown = couler("compile", "flow.py")
    assert shown.code == 2
    assert "flow.py:8" in shown.err
    assert "did you mean 'image'?" in shown.err


def test_an_import_in_the_words_of_every_engine(couler: Couler, flow: Path) -> None:
    shown = couler("import", "flow.yaml", "--portable")
    assert shown.code == 0
    assert shown.out.startswith("import couler_py as couler\n")


STEPS = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: coin-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: flip, template: flip}
    - - {name: heads, template: say, when: "{{= steps.flip.outputs.result == 'heads' }}"}
  - name: flip
    retryStrategy: {limit: "3"}
    script: {image: "python:3.11", command: [python], source: "print('heads')"}
  - name: say
    inputs: {parameters: [{name: text, default: hello}]}
    container: {image: busybox, command: [echo, "{{inputs.parameters.text}}"]}
"""

PLAIN = """\
import couler_py as couler

flip = couler.script(
    "python:3.11",
    "print('heads')",
    ["python"],
    name="flip",
    outputs={"result": couler.stdout()},
    retries=couler.RetryPolicy(3, policy="OnFailure"),
)
say = couler.container("busybox", ["echo", couler.argument("text")], name="say", inputs={"text": (str, "hello")})


@couler.workflow(entrypoint="main")
def coin():
    flip_result = flip()
    couler.when(flip_result == "heads", say.named("heads"))
"""


def test_a_portable_import_is_a_function_that_calls_steps(couler: Couler, here: Path) -> None:
    (here / "coin.yaml").write_text(STEPS, encoding="utf-8")
    shown = couler("import", "coin.yaml", "--portable")
    assert (shown.code, shown.out, shown.err) == (0, PLAIN, "")


def test_what_is_not_portable_is_said_at_its_line(couler: Couler, here: Path) -> None:
    (here / "coin.yaml").write_text(STEPS.replace("'heads' }}", "sprig.trim('heads') }}"), encoding="utf-8")
    shown = couler("import", "coin.yaml", "--portable")
    assert shown.code == 2
    assert "CLR302" in shown.err
    assert "coin.yaml:10:9" in shown.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("flow.py", "", "is no YAML"),
        ("missing.yaml", None, "there is no file"),
        ("broken.yaml", "a: [", "broken.yaml"),
        ("other.yaml", "kind: ConfigMap\n", "the kind 'ConfigMap' is none that is read"),
    ],
)
def test_what_can_not_be_imported_is_said(
    couler: Couler, here: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (here / name).write_text(content, encoding="utf-8")
    shown = couler("import", name)
    assert shown.code == 2
    assert message in " ".join(shown.err.split())


LIBRARY = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: steps}
spec:
  templates:
  - {name: wait, suspend: {}}
"""


@pytest.mark.parametrize(
    "words",
    [("graph", "{}"), ("plan", "{}"), ("run", "{}", "--runtime", "process"), ("convert", "{}", "--to", "local")],
)
def test_what_begins_nowhere_is_neither_run_nor_shown(couler: Couler, here: Path, words: tuple[str, ...]) -> None:
    (here / "steps.yaml").write_text(LIBRARY)
    done = couler(*(word.format("steps.yaml") for word in words))
    assert done.code == 2
    assert "error[CLR201]: the workflow has no entrypoint  (in steps)\n --> steps.yaml:4:1\n" in done.err
