"""What type checkers and editors see of a step: mypy on snippets."""

from __future__ import annotations

import re
import sys

import pytest
from mypy import api

SNIPPET = """
from pathlib import Path
from typing import NamedTuple
import couler_py as couler
from couler_py.dsl.step import step

class Trained(NamedTuple):
    score: float
    model: Path

@step
def bare(x: int, name: str = "a") -> str: ...

@step(cpu=2, memory="4Gi", retries=2, packages=["numpy"])
def train(data: Path, c: float = 1.0) -> Trained: ...

@couler.workflow(schedule="0 3 * * *")
def nightly(seed: int = 0) -> float: ...

"""


CASES = [
    ("reveal_type(bare(1))", 'note: Revealed type is "str"'),
    ("reveal_type(train(Path('d')).score)", 'note: Revealed type is "float"'),
    ("reveal_type(train.with_options(gpu=1)(Path('d')).model)", 'note: Revealed type is "pathlib.Path"'),
    ("reveal_type(bare.named('x')(1))", 'note: Revealed type is "str"'),
    ("bare('a')", 'error: Argument 1 to "__call__" of "StepFunction" has incompatible type "str"; expected "int"'),
    ("bare(1, nam='a')", 'error: Unexpected keyword argument "nam" for "__call__" of "StepFunction"'),
    ("bare()", 'error: Missing positional argument "x" in call to "__call__" of "StepFunction"'),
    ("step(cpuu=1)", "error: No overload variant"),
    ("reveal_type(nightly(1))", 'note: Revealed type is "float"'),
    ("nightly('a')", 'error: Argument 1 to "__call__" of "WorkflowFunction" has incompatible type "str"'),
    ("couler.workflow(schedul='x')", "error: No overload variant"),
    ("reveal_type(couler.when(True, lambda: bare(1)))", 'note: Revealed type is "str"'),
    ("reveal_type(couler.when(True, lambda: bare(1), otherwise=lambda: 3))", 'note: Revealed type is "str | int"'),
    ("reveal_type(couler.first(bare(1), bare(2)))", 'note: Revealed type is "str"'),
    ("reveal_type(couler.or_else(bare(1), 5))", 'note: Revealed type is "str | int"'),
    (
        "reveal_type(couler.loop(lambda x: bare(x), until=lambda t: t == 'a', initial=0))",
        'note: Revealed type is "str"',
    ),
    ("reveal_type(couler.exec_while(lambda t: t == 'a', lambda: bare(1)))", 'note: Revealed type is "str"'),
    ("reveal_type(couler.after(bare(1), bare(2)))", 'note: Revealed type is "str"'),
    ("reveal_type(couler.Workflow('w').add(bare, 1))", 'note: Revealed type is "str"'),
    ("couler.Workflow('w').add(bare, 'a')", 'error: Argument 2 to "add" of "Workflow" has incompatible type "str"'),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[str]]:
    """What mypy says, by line: one run over the snippet and all cases."""
    folder = tmp_path_factory.mktemp("mypy")
    path = folder / "snippet.py"
    path.write_text(SNIPPET + "".join(f"{code}\n" for code, _ in CASES))
    options = ["--strict", "--no-error-summary", "--follow-imports=silent", "--disable-error-code=empty-body"]
    limit = sys.getrecursionlimit()
    out, errors, _ = api.run([*options, "--config-file=", "--cache-dir", str(folder / "cache"), str(path)])
    sys.setrecursionlimit(limit)  # mypy raises it for the whole process
    assert not errors
    found: dict[int, list[str]] = {}
    for line in out.splitlines():
        match = re.match(r".*snippet\.py:(\d+): (.*)", line)
        assert match, line
        found.setdefault(int(match[1]), []).append(match[2])
    return found


@pytest.mark.parametrize("number", range(len(CASES)), ids=[code for code, _ in CASES])
def test_checker_sees_the_signature(report: dict[int, list[str]], number: int) -> None:
    found = report[SNIPPET.count("\n") + 1 + number]
    assert found[0].startswith(CASES[number][1])


def test_steps_themselves_are_clean(report: dict[int, list[str]]) -> None:
    assert [line for line in report if line <= SNIPPET.count("\n")] == []
