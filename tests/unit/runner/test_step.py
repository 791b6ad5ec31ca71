"""The program of a Python step, run as engines run it: in a process of its own, with nothing of ours in reach."""

from __future__ import annotations

import ast
import base64
import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given

from couler_py.ir import expr, types, wire
from couler_py.ir.codec import to_builtins
from couler_py.ir.model import (
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Template,
)
from couler_py.runner import runner_text, source, values
from tests import strategies


def other_pythons() -> list[str]:
    """The oldest and the newest other Python from 3.8 on that this machine has."""
    found = {}
    for place in (*Path("/usr/bin").glob("python3.*[0-9]"), *Path.home().glob(".pyenv/versions/3.*/bin/python")):
        done = subprocess.run(
            [place, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, check=False
        )
        version = tuple(map(int, done.stdout.split()))
        if done.returncode == 0 and (3, 8) <= version != sys.version_info[:2]:
            found[version] = str(place)
    return [found[version] for version in sorted({min(found), max(found)})] if found else []


class Ended(msgspec.Struct):
    """How a step ended: what it left, and what it said."""

    code: int
    outputs: dict[str, str]
    folder: Path
    stdout: str
    stderr: str


class Bench:
    """Runs steps in a folder of the test's."""

    def __init__(self, folder: Path):
        self.folder = folder

    def run(
        self,
        template: Template,
        inputs: Mapping[str, Any] | None = None,
        *,
        python: str = sys.executable,
        readable: bool = True,
        **environment: str,
    ) -> Ended:
        script, outputs = self.folder / "script", self.folder / "outputs"
        script.write_text(source(template, readable=readable), encoding="utf-8")
        shutil.rmtree(outputs, ignore_errors=True)
        given = {parameter.name: to_builtins(parameter.type) for parameter in template.inputs.parameters}
        environment = {
            "PATH": os.environ["PATH"],
            "COULER_RUNNER": runner_text(),
            "COULER_INPUTS": str(self.folder / "inputs"),
            "COULER_OUTPUTS": str(outputs),
            **{
                f"COULER_INPUT_{name}": base64.b64encode(wire.encode(given[name], value).encode()).decode()
                for name, value in (inputs or {}).items()
            },
            **environment,
        }
        # -I: nothing of ours, nor of the environment of the tests, is in reach.
        done = subprocess.run(
            [python, "-I", "-S", str(script)],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        left = {path.name: path.read_text() for path in sorted(outputs.glob("*")) if path.is_file()}
        return Ended(done.returncode, left, outputs, done.stdout, done.stderr)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def function(text: str, returns: Any = "one", line: int = 1, **more: Any) -> Function:
    tree = ast.parse(text)
    name = next(node.name for node in reversed(tree.body) if isinstance(node, ast.FunctionDef))
    return Function(name, (Piece(text, "flow.py", line),), returns, **more)


def taking(**inputs: types.Type) -> Inputs:
    return Inputs(tuple(Parameter(name, type_) for name, type_ in inputs.items()))


def giving(**outputs: types.Type) -> Outputs:
    return Outputs(tuple(OutputParameter(name, type_) for name, type_ in outputs.items()))


# ---- its text


def test_the_runner_travels_everywhere_unchanged() -> None:
    text = runner_text()
    assert text.isascii()
    assert "{{" not in text
    assert "$" not in text
    assert "\t" not in text


def test_the_runner_reads_as_python_3_8() -> None:
    ast.parse(runner_text(), feature_version=(3, 8))


def test_no_two_parts_of_the_runner_define_the_same_name() -> None:
    defined = [node.name for node in ast.parse(runner_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert sorted(defined) == sorted(set(defined))


def test_the_users_source_stands_in_the_script_as_it_was_written() -> None:
    text = "def f(x: int) -> int:\n    # a comment\n    return x"
    template = Template("f", function(text, line=12), taking(x=types.INT), giving(result=types.INT))
    assert source(template).splitlines()[1:] == ["", "# flow.py, line 12", *text.splitlines()]


def test_source_with_double_braces_travels_in_base64() -> None:
    text = 'def f() -> str:\n    return "{{x}}"'
    template = Template("f", function(text), outputs=giving(result=types.STR))
    assert "{{" not in source(template)
    assert base64.b64encode(text.encode()).decode() in source(template)


# ---- values


@pytest.mark.parametrize("python", [sys.executable, *other_pythons()])
def test_values_go_in_and_come_out(bench: Bench, python: str) -> None:
    template = Template(
        "f",
        function("def f(a, b, c):\n    return {'sum': a + len(b), 'text': b, 'items': c}", "fields"),
        taking(a=types.INT, b=types.STR, c=types.ListOf(types.FLOAT)),
        giving(sum=types.INT, text=types.STR, items=types.ListOf(types.FLOAT)),
    )
    ended = bench.run(template, {"a": 2, "b": "line\nwith {{tag}}", "c": [1.5, math.nan, -math.inf]}, python=python)
    assert ended.stderr == ""
    assert ended.code == 0
    assert ended.outputs == {
        "sum": "19",
        "text": 'couler:json:"line\\nwith {\\u007btag}}"',
        "items": '[1.5,"NaN","-Infinity"]',
    }


def test_annotations_make_objects_of_json(bench: Bench) -> None:
    text = """
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import NamedTuple, Optional, Union

class Colour(Enum):
    RED = "red"

@dataclass
class Point:
    x: float
    at: datetime

class Pair(NamedTuple):
    first: Point
    second: Optional[Colour]

def f(pair: Pair, colours: list[Colour], either: Union[int, Colour]) -> Pair:
    assert isinstance(pair, Pair) and isinstance(pair.first, Point) and isinstance(pair.first.at, datetime)
    assert colours == [Colour.RED] and either is Colour.RED
    return Pair(Point(pair.first.x * 2, pair.first.at + timedelta(hours=1)), colours[0])
"""
    point = types.Record("Point", (types.Field("x", types.FLOAT), types.Field("at", types.DATETIME)))
    colour = types.Choice(("red",), "Colour")
    pair = types.Record(
        "Pair", (types.Field("first", point), types.Field("second", types.UnionOf((colour, types.NONE))))
    )
    template = Template(
        "f",
        function(text),
        taking(pair=pair, colours=types.ListOf(colour), either=types.UnionOf((types.INT, colour))),
        giving(result=pair),
    )
    value = {"first": {"x": 1.5, "at": "2026-01-02T03:04:05+00:00"}, "second": None}
    ended = bench.run(template, {"pair": value, "colours": ["red"], "either": "red"})
    assert ended.stderr == ""
    assert json.loads(ended.outputs["result"]) == {
        "first": {"x": 3.0, "at": "2026-01-02T04:04:05+00:00"},
        "second": "red",
    }


def test_a_value_of_the_wrong_type_fails_the_step_that_returns_it(bench: Bench) -> None:
    template = Template(
        "f", function("def f():\n    return [1, 'two']"), outputs=giving(result=types.ListOf(types.INT))
    )
    ended = bench.run(template)
    assert (ended.code, ended.stderr) == (1, "couler: the output 'result': element 1: 'two' is not int\n")


def test_a_missing_field_of_what_is_returned_is_named(bench: Bench) -> None:
    template = Template(
        "f", function("def f():\n    return {'a': 1}", "fields"), outputs=giving(a=types.INT, b=types.INT)
    )
    assert bench.run(template).stderr == "couler: the step returned dict, which has no 'b'\n"


def test_a_value_that_is_too_large_names_the_way_out(bench: Bench) -> None:
    template = Template("f", function("def f():\n    return 'x' * 96001"), outputs=giving(result=types.STR))
    ended = bench.run(template)
    assert ended.code == 1
    assert (
        "96001 bytes long, and a value can have 96000: return a Path to a file, or couler.spill(value)" in ended.stderr
    )
    smaller = Template("f", function("def f():\n    return 'x' * 96000"), outputs=giving(result=types.STR))
    assert len(bench.run(smaller).outputs["result"]) == 96000


def test_text_that_a_container_cannot_get_as_it_is_fails_the_step(bench: Bench) -> None:
    template = Template("f", function("def f():\n    return '{{x}}'"), outputs=giving(result=types.STR))
    assert bench.run(template).code == 0
    ended = bench.run(template, COULER_PLAIN="result")
    assert ended.code == 1
    assert "return a Path, and let it read the file" in ended.stderr


def test_an_integer_that_an_engine_would_round_fails_the_step(bench: Bench) -> None:
    template = Template("f", function("def f():\n    return [{'id': 2**53 + 1}]"), outputs=giving(result=types.ANY))
    assert json.loads(bench.run(template).outputs["result"]) == [{"id": 2**53 + 1}]
    ended = bench.run(template, COULER_EXACT="result")
    assert (ended.code, ended.stderr) == (
        1,
        "couler: the output 'result' holds 9007199254740993, and the engine that takes it apart can't tell integers "
        "beyond plus or minus 2^53 from their neighbours: return them as strings\n",
    )


def test_the_largest_integers_that_doubles_can_say_pass(bench: Bench) -> None:
    template = Template("f", function("def f():\n    return [2**53, -2**53, True]"), outputs=giving(result=types.ANY))
    assert json.loads(bench.run(template, COULER_EXACT="result").outputs["result"]) == [2**53, -(2**53), True]


def test_outputs_of_items_are_json_strings_of_json(bench: Bench) -> None:
    template = Template("f", function("def f():\n    return {'a': '{{'}"), outputs=giving(result=types.ANY))
    ended = bench.run(template, COULER_FORM="item")
    assert json.loads(json.loads(ended.outputs["result"])) == {"a": "{{"}
    assert "{{" not in ended.outputs["result"]


def test_conditions_over_the_outputs_are_decided_by_the_step(bench: Bench) -> None:
    decision = OutputParameter(
        "good",
        types.BOOL,
        value=expr.Compare(">", expr.Access(expr.Own("result"), expr.Literal("score")), expr.Literal(0.9)),
    )
    template = Template(
        "f",
        function("def f(score):\n    return {'score': score}"),
        taking(score=types.FLOAT),
        Outputs((OutputParameter("result", types.ANY), decision)),
    )
    assert bench.run(template, {"score": 0.95}).outputs["good"] == "true"
    assert bench.run(template, {"score": math.nan}).outputs["good"] == "false"


def test_a_condition_without_a_value_fails_the_step(bench: Bench) -> None:
    decision = OutputParameter("good", types.BOOL, value=expr.Compare(">", expr.Own("result"), expr.Literal(1)))
    template = Template(
        "f", function("def f():\n    return 'a'"), outputs=Outputs((OutputParameter("result", types.ANY), decision))
    )
    assert "a condition over the outputs of this step has no value" in bench.run(template).stderr


@given(strategies.types().flatmap(lambda type_: strategies.values(type_).map(lambda value: (type_, value))))
def test_every_value_of_a_type_fits_it_in_the_runner_too(case: tuple[types.Type, Any]) -> None:
    type_, value = case
    assert types.mismatch(type_, value) is None
    assert values.misfit(to_builtins(type_), value) is None


@given(strategies.types(), strategies.types().flatmap(strategies.values))
def test_the_runner_and_the_ir_agree_on_what_fits(type_: types.Type, value: Any) -> None:
    assert (values.misfit(to_builtins(type_), value) is None) == (types.mismatch(type_, value) is None)


SPAWNING = """
import multiprocessing
import couler_py as couler


def double(n):
    return 2 * n


def spawning():
    couler.log_metric("n", 1.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(double, [1, 2])
"""


def test_processes_that_a_step_spawns_need_no_more_than_it_does(bench: Bench) -> None:
    ended = bench.run(Template("s", function(SPAWNING), outputs=giving(result=types.ListOf(types.INT))))
    assert (ended.code, ended.outputs["result"]) == (0, "[2,4]"), ended.stderr


# ---- files


def test_files_go_in_and_come_out(bench: Bench) -> None:
    text = """
from pathlib import Path
def f(data, extra):
    assert extra is None
    Path("made.csv").write_text(data.read_text() * 2)
    return Path("made.csv")
"""
    (bench.folder / "inputs").mkdir()
    (bench.folder / "inputs" / "data").write_text("ab")
    template = Template(
        "f",
        function(text),
        Inputs((), (InputArtifact("data"), InputArtifact("extra", optional=True))),
        Outputs((), (OutputArtifact("result"),)),
    )
    ended = bench.run(template)
    assert ended.stderr == ""
    assert ended.outputs == {"result": "abab", "result.suffix": ".csv"}


def test_a_file_that_is_not_there_is_named(bench: Bench) -> None:
    template = Template(
        "f",
        function("from pathlib import Path\ndef f():\n    return Path('nowhere.txt')"),
        outputs=Outputs((), (OutputArtifact("result"),)),
    )
    assert f"names {bench.folder}/nowhere.txt, which is not there" in bench.run(template).stderr


def test_the_folder_around_the_outputs_is_no_output(bench: Bench) -> None:
    template = Template(
        "f",
        function("import os\ndef f():\n    return os.path.dirname(os.environ['COULER_OUTPUTS'])"),
        outputs=Outputs((), (OutputArtifact("result"),)),
    )
    assert "in which the outputs themselves are written" in bench.run(template).stderr


def test_a_spilled_value_is_read_back(bench: Bench) -> None:
    text = """
def f():
    import couler_py
    path = couler_py.spill({"numbers": [1, 2]})
    assert couler_py.unspill(path) == {"numbers": [1, 2]}
    return path
"""
    template = Template("f", function(text), outputs=Outputs((), (OutputArtifact("result"),)))
    assert json.loads(bench.run(template).outputs["result"]) == {"numbers": [1, 2]}


def test_a_spilled_number_that_is_not_finite_is_read_back_as_a_number(bench: Bench) -> None:
    text = """
def f():
    import couler_py
    return str(couler_py.unspill(couler_py.spill([float("nan"), float("inf"), -float("inf"), "NaN"])))
"""
    template = Template("f", function(text), outputs=giving(result=types.STR))
    assert bench.run(template).outputs == {"result": "[nan, inf, -inf, 'NaN']"}


def test_annotations_that_this_python_cannot_read_are_named_once(bench: Bench) -> None:
    text = """
import dataclasses

@dataclasses.dataclass
class Point:
    x: "Nowhere"

def f(points: "list[Point]"):
    return sum(point.x for point in points)
"""
    points = types.ListOf(types.Record("Point", (types.Field("x", types.INT),)))
    template = Template("f", function(text), taking(points=points), giving(result=types.INT))
    ended = bench.run(template, {"points": [{"x": 1}, {"x": 2}]})
    assert ended.outputs == {"result": "3"}
    assert ended.stderr.splitlines() == [
        "couler: values for Point stay plain JSON, its annotations can't be read here: name 'Nowhere' is not defined"
    ]


def test_included_modules_and_files_are_in_reach(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def seven(): return 7")
    (tmp_path / "words.txt").write_text("words")
    with tarfile.open(tmp_path / "include.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "helper.py", "helper.py")
        archive.add(tmp_path / "words.txt", "conf/words.txt")
    text = """
def f():
    import couler_py
    from helper import seven
    return [seven(), couler_py.included("conf/words.txt").read_text()]
"""
    template = Template("f", function(text), outputs=giving(result=types.ANY))
    ended = bench.run(template, COULER_INCLUDE=str(tmp_path / "include.tar.gz"))
    assert (ended.stderr, ended.outputs) == ("", {"result": '[7,"words"]'})


def test_a_file_of_any_archive_is_in_reach(bench: Bench, tmp_path: Path) -> None:
    for folder, name in (("one", "first.txt"), ("two", "second.txt")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(name)
    text = """
def f():
    import couler_py
    return [couler_py.included(name).read_text() for name in ("first.txt", "second.txt")]
"""
    template = Template("f", function(text), outputs=giving(result=types.ANY))
    ended = bench.run(template, COULER_INCLUDE=os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two")]))
    assert (ended.stderr, ended.outputs) == ("", {"result": '["first.txt","second.txt"]'})


# ---- what a step says


def test_a_traceback_shows_the_users_file_line_and_source(bench: Bench) -> None:
    text = "def g(x):\n    raise ValueError('no good')\n\ndef f(x):\n    return g(x)"
    template = Template("f", function(text, line=40), taking(x=types.INT), giving(result=types.INT))
    for readable in (True, False):
        ended = bench.run(template, {"x": 1}, readable=readable)
        assert ended.code == 1
        lines = [line.strip() for line in ended.stderr.splitlines() if set(line.strip()) - set("^~")]
        assert lines == [
            "Traceback (most recent call last):",
            'File "flow.py", line 44, in f',
            "return g(x)",
            'File "flow.py", line 41, in g',
            "raise ValueError('no good')",
            "ValueError: no good",
        ]


def test_metrics_are_written_as_json_lines(bench: Bench) -> None:
    text = """
def f():
    import couler_py
    couler_py.log_metric("loss", 0.5, step=3)
    couler_py.log_metric("loss", 1)
"""
    ended = bench.run(Template("f", function(text, "none")))
    assert ended.outputs == {
        "metrics.jsonl": '{"name":"loss","value":0.5,"step":3}\n{"name":"loss","value":1.0,"step":null}\n'
    }


def test_facts_of_the_run_are_in_reach(bench: Bench) -> None:
    text = """
def f():
    from couler_py import run_info
    return [run_info.name, run_info.attempt, run_info.scheduled_time.hour]
"""
    template = Template("f", function(text), outputs=giving(result=types.ANY))
    ended = bench.run(
        template, COULER_RUN_NAME="nightly-1", COULER_RUN_ATTEMPT="2", COULER_RUN_SCHEDULED_TIME="2026-01-01T03:00:00Z"
    )
    assert ended.outputs == {"result": '["nightly-1",2,3]'}


def test_the_exit_code_that_a_step_asks_for_is_its_own(bench: Bench) -> None:
    assert bench.run(Template("f", function("def f():\n    raise SystemExit(7)", "none"))).code == 7


def test_an_input_that_was_not_given_is_named(bench: Bench) -> None:
    template = Template("f", function("def f(x):\n    return x"), taking(x=types.INT), giving(result=types.INT))
    assert bench.run(template).stderr == "couler: the input 'x' was not given\n"
