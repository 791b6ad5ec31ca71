"""The source of a step travels whole, and what can't travel is named where the step is defined.

A captured step is run by the real runner in a process of its own, in an empty folder.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import enum
import functools
import logging
import math as mathematics
import os
import re
import subprocess
import sys
import textwrap
import threading
import xml.etree.ElementTree
from collections.abc import Callable, Iterator
from datetime import timedelta
from os import path as os_path
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import couler_py as couler
from couler_py import runner
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.step import StepFunction, step
from couler_py.ir import digest, to_builtins, wire
from couler_py.ir.model import Function

FACTOR = 3
NESTED = {"a": [1, 2.5, (None, float("inf"))], "b": {"z", "y"}}
PATTERN = re.compile(r"a+", re.IGNORECASE)
DELAY = timedelta(hours=1)
log = logging.getLogger(__name__)
Numbers = list[float]
square = lambda x: x * x  # noqa: E731
LOCK = threading.Lock()
BIG = "x" * 70_000


class Color(enum.Enum):
    RED = "red"


class Base:
    scale = FACTOR


@dataclasses.dataclass
class Config(Base):
    c: float = 1.0
    color: Color = Color.RED


class Scores(NamedTuple):
    low: float
    high: float


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*args: Any) -> Any:
        return function(*args)

    return inner


@traced
def tripled(x: float) -> float:
    return x * FACTOR


@functools.lru_cache
def cached(x: float) -> float:
    return tripled(x) + 1


def is_even(n: int) -> bool:
    return n == 0 or is_odd(n - 1)


def is_odd(n: int) -> bool:
    return n != 0 and is_even(n - 1)


@step
def doubled(x: int) -> int:
    return 2 * x


def run(function: StepFunction[Any, Any], folder: Path, **inputs: Any) -> Any:
    """The result of a step whose source was captured, run where there is nothing of ours."""
    template = function.template()
    types = {parameter.name: to_builtins(parameter.type) for parameter in template.inputs.parameters}
    environment = {
        "PATH": os.environ["PATH"],
        "COULER_INPUTS": str(folder),
        "COULER_RUNNER": runner.runner_text(),
        "COULER_OUTPUTS": str(folder / "outputs"),
    }
    for name, value in inputs.items():
        encoded = wire.encode(types[name], value)
        environment[f"COULER_INPUT_{name}"] = base64.b64encode(encoded.encode()).decode()
    script = folder / "step.py"
    script.write_text(runner.source(template), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    output = template.outputs.parameters[0]
    return wire.decode(to_builtins(output.type), (folder / "outputs" / output.name).read_text(encoding="utf-8"))


def texts(function: StepFunction[Any, Any]) -> list[str]:
    body = function.template().body
    assert isinstance(body, Function)
    return [piece.text for piece in body.pieces]


def test_all_kinds_of_globals_travel(tmp_path: Path) -> None:
    @step
    def everything(config: Config, n: int) -> list[Any]:
        log.info("started")
        couler.log_metric("n", n)
        tree = xml.etree.ElementTree.fromstring("<a/>")
        counted = collections.Counter("aab")
        return [
            config.c * config.scale,
            config.color.value,
            cached(2.0),
            square(n),
            mathematics.floor(2.5),
            os_path.sep,
            tree.tag,
            counted["a"],
            is_even(n),
            PATTERN.fullmatch("AA") is not None,
            DELAY.total_seconds(),
            sorted(NESTED["b"]),
            NESTED["a"][2][1],
            doubled(n),
            Scores(1.0, 2.0).high,
        ]

    found = run(everything, tmp_path, config={"c": 2.0, "color": "red"}, n=4)
    assert found == [6.0, "red", 7.0, 16, 2, "/", "a", 2, True, True, 3600.0, ["y", "z"], "Infinity", 8, 2.0]


def test_literal_of_a_closure_travels(tmp_path: Path) -> None:
    rate = 0.5

    def scaled(x: float) -> float:
        return x * rate

    @step
    def apply(x: float) -> float:
        return scaled(x) + rate

    assert run(apply, tmp_path, x=3.0) == 2.0


def test_list_of_paths_is_read_from_a_folder_in_order(tmp_path: Path) -> None:
    @step
    def names(files: list[Path], one: Path, none: Path | None = None) -> list[str]:
        return [file.read_text() for file in files] + [one.name, str(none)]

    (tmp_path / "files").mkdir()
    for number in range(11):
        (tmp_path / "files" / f"{number:02}").write_text(str(number))
    (tmp_path / "one").write_text("")
    assert run(names, tmp_path) == [*map(str, range(11)), "one", "None"]


def test_decorators_above_and_of_couler_are_taken_off_and_those_below_stay() -> None:
    made = functools.partial(step, cpu=1)

    @made(
        memory="1Gi",
    )
    # a comment
    @functools.lru_cache
    def work() -> int:
        """What it does."""
        return 1

    assert texts(work)[-1] == '@functools.lru_cache\ndef work() -> int:\n    """What it does."""\n    return 1'


def test_text_of_several_lines_keeps_its_indentation() -> None:
    @step
    def work() -> str:
        text = """
  two
        eight"""
        return text.upper()

    assert texts(work)[-1].splitlines()[1:] == [
        '    text = """',
        "  two",
        '        eight"""',
        "    return text.upper()",
    ]


def test_pieces_say_where_they_stand() -> None:
    body = doubled.template().body
    assert isinstance(body, Function)
    line = next(
        number for number, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "def doubled" in text
    )
    assert [(Path(piece.file).name, piece.line) for piece in body.pieces] == [("test_capture.py", line)]


def test_future_features_travel() -> None:
    body = doubled.template().body
    assert isinstance(body, Function)
    assert body.future == ("annotations",)


def test_names_only_in_annotations_travel() -> None:
    @step
    def work(values: Numbers) -> Scores:
        return Scores(min(values), max(values))

    assert "Numbers = list[float]" in texts(work)


def test_helper_defined_later_is_found_when_the_step_is_used() -> None:
    @step
    def work() -> int:
        return later()

    def later() -> int:
        return 1

    assert texts(work)[0] == "def later() -> int:\n    return 1"


def test_changed_constant_is_captured_anew() -> None:
    limit = [1]

    @step
    def work() -> list[int]:
        return limit

    before = texts(work)
    limit.append(2)
    assert (before[0], texts(work)[0]) == ("limit = [1]", "limit = [1, 2]")


def test_line_numbers_are_no_part_of_the_content(module: Callable[[str], ModuleType]) -> None:
    source = "from couler_py.dsl.step import step\n{}\nN = 1\n@step\ndef work() -> int:\n    return N\n"
    contents = {digest(module(source.format(gap)).work.template()) for gap in ("", "\n# moved\n\n")}
    assert len(contents) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [("LOCK", "'LOCK' .a lock. can't travel"), ("BIG", "larger than 65,536 bytes"), ("__file__", "__file__ can't")],
)
def test_variable_that_can_not_travel_is_refused_at_its_line(
    module: Callable[[str], ModuleType], name: str, message: str
) -> None:
    source = f"""
        import threading
        from couler_py.dsl.step import step
        LOCK = threading.Lock()
        BIG = "x" * 70_000
        @step
        def work():
            x = 1
            return {name}
    """
    with pytest.raises(DefinitionError, match=message) as caught:
        module(source)
    (found,) = caught.value.diagnostics
    assert (found.code, found.source.line if found.source else None) == ("CLR113", 9)
    assert found.help


def test_name_that_never_comes_is_refused_when_the_step_is_used(module: Callable[[str], ModuleType]) -> None:
    work = module("from couler_py.dsl.step import step\n@step\ndef work():\n    return nowhere\n").work
    with pytest.raises(DefinitionError, match=r":4: error\[CLR116\].*'nowhere' is not defined"):
        work.template()


@pytest.mark.parametrize(
    "source",
    ["import own\n@step\ndef work():\n    return own.x\n", "@step\ndef work():\n    from own import x\n    return x\n"],
    ids=["global", "inside"],
)
def test_own_module_must_be_included(module: Callable[[str], ModuleType], tmp_path: Path, source: str) -> None:
    (tmp_path / "own.py").write_text("x = 1\n")
    with pytest.raises(DefinitionError, match=r"CLR114.*own") as caught:
        module("from couler_py.dsl.step import step\n" + source)
    assert 'include=["own.py"]' in caught.value.diagnostics[0].help


def test_own_module_that_is_included_is_imported(module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("x = 1\n")
    source = "from couler_py.dsl.step import step\nfrom own import x as y\n"
    work = module(source + '@step(include=["own.py"])\ndef work():\n    import own\n    return own\n').work
    (archive,) = work.archives()
    assert (archive.paths, archive.root) == (("own.py",), str(tmp_path))


def test_definitions_of_a_module_that_says_so_travel_and_nothing_of_it_is_imported(
    module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(
        "import math\n__couler_travels__ = True\nUNIT = 10\nRows = list[int]\n\n"
        "class Box:\n    def __init__(self, rows: Rows):\n        self.rows = rows\n\n"
        "def scaled(x: float) -> float:\n    return math.floor(x) * UNIT\n"
    )
    work = module(
        "from couler_py.dsl.step import step\nfrom own import Box, Rows, scaled as larger\n"
        "@step\ndef work(x: float) -> int:\n    rows: Rows = [int(larger(x))]\n    return sum(Box(rows).rows)\n"
    ).work
    assert [text for text in texts(work) if "own" in text] == []
    assert {Path(piece.file).name for piece in work.template().body.pieces} == {"own.py", "captured_0.py"}
    assert run(work, tmp_path, x=4.5) == 40


def test_what_such_a_module_has_from_another_one_travels_too(
    module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    (tmp_path / "base.py").write_text("__couler_travels__ = True\ndef twice(x: int) -> int:\n    return 2 * x\n")
    (tmp_path / "own.py").write_text("from base import twice\n__couler_travels__ = True\n")
    source = "from couler_py.dsl.step import step\nfrom own import twice\n"
    work = module(source + "@step\ndef work(x: int) -> int:\n    return twice(x)\n").work
    assert [text for text in texts(work) if "import" in text] == []
    assert run(work, tmp_path, x=4) == 8


def test_what_such_a_module_has_from_elsewhere_is_imported_from_there(
    module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text("from json import dumps\n__couler_travels__ = True\n")
    source = (
        "from couler_py.dsl.step import step\nfrom own import dumps\n@step\ndef work() -> str:\n    return dumps(1)\n"
    )
    assert texts(module(source).work)[0] == "from json import dumps"


def test_relative_import_is_refused(module: Callable[[str], ModuleType]) -> None:
    with pytest.raises(DefinitionError, match=r"CLR114.*relative to its package"):
        module("from couler_py.dsl.step import step\n@step\ndef work():\n    from . import x\n")


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("step(lambda x: x)", "a lambda can't be a step"),
        ("class A:\n    @step\n    def work(self): ...", "a method can't be a step"),
        ("@step\ndef work():\n    yield 1", "a generator can't be a step"),
        ("@step\nasync def work(): ...", "an async function can't be a step"),
        ("def around():\n    n = 1\n    @step\n    def work():\n        nonlocal n\naround()", "can't stand by itself"),
        ("exec('@step\\ndef work(): ...', globals())", "the source of work can't be found"),
        ("@step\ndef work(*xs): ...", r"can't have the parameter \*xs"),
        ("@step\ndef work(**xs): ...", r"can't have the parameter \*\*xs"),
        ("@step\ndef work(x, /): ...", "can't have the parameter x, /"),
    ],
)
def test_what_can_not_be_a_step_is_refused(module: Callable[[str], ModuleType], definition: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        module("from couler_py.dsl.step import step\n" + definition + "\n")


def test_function_of_a_class_body_is_a_step() -> None:
    class Steps:
        @staticmethod
        @step
        def one() -> int:
            return 1

    assert (Steps.one(), texts(Steps.one)) == (1, ["def one() -> int:\n    return 1"])


def test_two_things_of_one_name_are_refused() -> None:
    def make(rate: float) -> Callable[[], float]:
        def scaled() -> float:
            return rate

        return scaled

    first, second = make(1.0), make(2.0)
    with pytest.raises(DefinitionError, match="two different things named"):

        @step
        def work() -> float:
            return first() + second()


def test_same_program_gives_the_same_pieces_under_any_hash_seed(tmp_path: Path) -> None:
    script = tmp_path / "flow.py"
    script.write_text(
        textwrap.dedent("""
        from couler_py.dsl.step import step
        NAMES = {"a", "b", "c", "d", "e"}
        import math, json, re
        @step
        def work():
            return NAMES, math.pi, json.dumps({}), re.I
        print([piece.text for piece in work.template().body.pieces])
    """)
    )
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        outputs.add(
            subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, check=True).stdout
        )
    assert len(outputs) == 1


CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    shell.run_cell(text, store_history=True).raise_error()
cell("from math import tau\\nimport collections as c\\nfrom dataclasses import dataclass\\nRATE = 2")
cell("from couler_py.dsl.step import step\\n@dataclass\\nclass Config:\\n    c: int = 1")
cell("def helper(x):\\n    return c.Counter(str(x * RATE))")
cell("@step\\ndef work(config: Config) -> float:\\n    return len(helper(config.c)) + tau + other()")
cell("def other():\\n    return 1")
cell("@step\\ndef work(config: Config) -> float:\\n    return len(helper(config.c)) + tau + other()")
cell("def other():\\n    return 2")
cell("for piece in work.template().body.pieces: print(piece.file, piece.line, repr(piece.text))")
"""


def test_cells_of_a_notebook_are_one_module(tmp_path: Path) -> None:
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CELLS], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "<cell 1> 3 'from dataclasses import dataclass'",
        "<cell 1> 2 'import collections as c'",
        "<cell 1> 4 'RATE = 2'",
        "<cell 6> 3 'tau = 6.283185307179586'",
        "<cell 2> 2 '@dataclass\\nclass Config:\\n    c: int = 1'",
        "<cell 3> 1 'def helper(x):\\n    return c.Counter(str(x * RATE))'",
        "<cell 7> 1 'def other():\\n    return 2'",
        "<cell 6> 2 'def work(config: Config) -> float:\\n    return len(helper(config.c)) + tau + other()'",
    ]


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Runs a text as a module of its own file."""
    made: list[str] = []

    def load(source: str) -> ModuleType:
        name = f"captured_{len(made)}"
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        found = ModuleType(name)
        found.__file__ = str(path)
        sys.modules[name] = found
        made.append(name)
        sys.path.insert(0, str(tmp_path))
        try:
            exec(compile(path.read_text(), str(path), "exec"), found.__dict__)
        finally:
            sys.path.remove(str(tmp_path))
        return found

    yield load
    for name in (*made, "own"):
        sys.modules.pop(name, None)
