"""Small documents with one mistake each. `‸` marks, in the text itself, where the linter has to point."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from couler_py.backends.argo.lint import lint
from couler_py.ir.codes.lint_meaning import CODES
from couler_py.ir.diagnostics import Diagnostic

MARK = "‸"
OURS = {code.code for code in CODES}

_HEAD = "apiVersion: argoproj.io/v1alpha1\nkind: {kind}\nmetadata: {{name: it}}\nspec:\n"
_COMMON = """\
- {name: echo, inputs: {parameters: [{name: x}]}, container: {image: busybox, args: ["{{inputs.parameters.x}}"]}}
- name: give
  container: {image: busybox}
  outputs: {parameters: [{name: p, valueFrom: {path: /p}}], artifacts: [{name: f, path: /f}]}
- {name: none, container: {image: busybox}}
"""


class Case(NamedTuple):
    """A spec with a mark (of `kind`, with the common templates behind its own), and what is said at the mark."""

    code: str
    says: str
    spec: str
    severity: str = "error"
    kind: str = "Workflow"

    @property
    def marked(self) -> str:
        """The whole text, the mark in it."""
        spec = textwrap.dedent(self.spec).strip("\n")
        if "entrypoint:" not in spec and self.kind == "Workflow":
            spec = f"entrypoint: main\n{spec}"
        if "\ntemplates:\n" in f"\n{spec}\n" and self.kind != "CronWorkflow":
            spec = f"{spec}\n{_COMMON}"
        return _HEAD.format(kind=self.kind) + textwrap.indent(spec, "  ")

    @property
    def findings(self) -> list[Diagnostic]:
        """What the rules about meaning find; that nothing calls a common template is no part of a case."""
        found = lint(self.marked.replace(MARK, ""))
        return [each for each in found if each.code in OURS and (each.code != "CLR448" or self.code == "CLR448")]

    @property
    def place(self) -> tuple[int, int]:
        """The line and column of the mark."""
        before = self.marked[: self.marked.index(MARK)]
        return before.count("\n") + 1, len(before) - before.rfind("\n")


def check(case: Case) -> None:
    """Assert that the mistake of a case, and nothing else, is found where it stands, in these words."""
    found = [
        (each.code, each.severity, each.message, (each.source.line, each.source.column) if each.source else None)
        for each in case.findings
    ]
    assert found == [(case.code, case.severity, case.says, case.place)]
