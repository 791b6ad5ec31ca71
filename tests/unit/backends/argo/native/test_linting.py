"""Documents are linted at the lines of the program that writes them."""

from __future__ import annotations

from pathlib import Path

from couler_py import argo_native as argo
from tests.unit.cli.conftest import Couler, couler, here  # noqa: F401  fixtures

PROGRAM = """\
from couler_py import argo_native as argo

with argo.Workflow(generateName="w-", entrypoint="mian") as w:
    echo = argo.container("echo", image="alpine:3.20", inputs=["message"])
    with argo.dag("main"):
        echo("a", message="{{tasks.b.outputs.result}}")
        argo.task("c", "nowhere")
"""


def test_a_sound_document_has_no_findings() -> None:
    with argo.Workflow(generateName="w-", entrypoint="main") as w:
        echo = argo.container("echo", image="alpine:3.20", inputs=["message"])
        with argo.dag("main"):
            echo("a", message="x")
    assert w.lint() == ()


def test_each_finding_stands_at_its_line(couler: Couler, here: Path) -> None:  # noqa: F811
    (here / "flow.py").write_text(PROGRAM, encoding="utf-8")
    shown = couler("lint", "flow.py", "--format", "json")
    assert shown.code == 2
    for line, name in ((3, "w"), (6, "main.a"), (7, "main.c")):
        assert f'"line": {line}' in shown.out, shown.out
        assert f'"step": "{name}"' in shown.out, shown.out
