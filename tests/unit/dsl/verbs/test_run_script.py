"""`run_script`: peers' row of Couler's API."""

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.problems import RecordingError
from couler_py.ir import expr as ir
from couler_py.ir.model import Function, OutputParameter, Script
from couler_py.ir.pod import Container
from couler_py.ir.types import INT, STR
from tests.unit.dsl.verbs.programs import (
    arguments,
    built,
    flip_coin,
    leave,
    message_of,
    random_code,
    tasks,
    template_of,
)

LIMIT = 3


def helper(x: int) -> int:
    return x * LIMIT


def typed(x: int, unit: str = "cm") -> None:
    print(f"{helper(x)} {unit}")


def shows() -> None:
    print({"a": helper(2)})


def returns(x: int) -> int:
    return x + 1


def script_of(name: str) -> Script:
    body = template_of(built(), name).body
    assert isinstance(body, Script)
    return body


def function_of(name: str) -> Function:
    body = template_of(built(), name).body
    assert isinstance(body, Function)
    return body


def run_pieces(function: Function, *args: Any) -> Any:
    scope: dict[str, Any] = {}
    exec("\n\n".join(piece.text for piece in function.pieces), scope)
    return scope[function.name](*args)


def test_what_a_function_prints_is_the_output() -> None:
    flip_coin()
    assert template_of(built(), "flip_coin").outputs.parameters == (OutputParameter("result", STR, stdout=True),)
    assert script_of("flip_coin").command == ("python",)


def test_a_function_travels_whole_with_what_it_needs() -> None:
    couler.run_script("python:3.11", source=shows, step_name="shows")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(script_of("shows").source, {})  # type: ignore[arg-type]
    assert printed.getvalue() == "{'a': 6}\n"


def test_a_typed_signature_travels_and_gets_typed_arguments() -> None:
    couler.run_script("python:3.11", source=typed, args=[2], step_name="typed")
    workflow = built()
    template = template_of(workflow, "typed")
    assert [(item.name, item.type) for item in template.inputs.parameters] == [("x", INT), ("unit", STR)]
    assert arguments(tasks(workflow)["typed"]) == {"x": ir.Literal(2)}
    assert run_pieces(function_of("typed"), 2, "mm") == "6 mm"


def test_a_function_that_prints_still_prints() -> None:
    couler.run_script("python:3.11", source=typed, args=[2], step_name="typed")
    printed = io.StringIO()
    with redirect_stdout(printed):
        run_pieces(function_of("typed"), 1, "m")
    assert printed.getvalue() == "3 m\n"


def test_a_function_that_returns_gives_what_it_returns() -> None:
    outputs = couler.run_script("python:3.11", source=returns, args=[1], step_name="returns")
    assert template_of(built(), "returns").outputs.parameters == (OutputParameter("result", INT),)
    assert run_pieces(function_of("returns"), 1) == 2
    assert outputs[0]._couler_type == INT


def test_an_argument_of_another_type_is_refused() -> None:
    with pytest.raises(RecordingError, match="'x'"):
        couler.run_script("python:3.11", source=returns, args=["one"])


def test_a_lambda_is_refused_with_the_way_out() -> None:
    with pytest.raises(DefinitionError, match="def"):
        couler.run_script("python:3.11", source=lambda: print(3))


def test_a_method_is_refused_with_the_way_out() -> None:
    class Steps:
        def one(self) -> None:
            print(self)

    with pytest.raises(RecordingError, match="neither a text nor a function"):
        couler.run_script("python:3.11", source=Steps().one)


def test_a_function_with_bash_as_its_command_is_refused() -> None:
    with pytest.raises(RecordingError) as error:
        couler.run_script("alpine", command="bash", source=random_code)
    assert "can't run a Python function" in message_of(error)


def test_another_python_runs_a_function() -> None:
    couler.run_script("pypy", command=["/usr/bin/python3.11", "-u"], source=random_code, step_name="x")
    assert script_of("x").command == ("/usr/bin/python3.11", "-u")


def test_a_function_that_needs_arguments_and_gets_none_is_refused() -> None:
    with pytest.raises(RecordingError, match="needs x"):
        couler.run_script("python:3.11", source=typed)


def test_text_is_run_by_its_command() -> None:
    couler.run_script("alpine", command="sh", source="ls", step_name="ls")
    assert script_of("ls") == Script("alpine", "ls", ("sh",))


def test_braces_in_text_are_text() -> None:
    source = "print('{{workflow.name}} {x}')"
    couler.run_script("python:3.11", source=source, step_name="braces")
    assert script_of("braces").source == source


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        (None, ("python", "-c", "SOURCE")),
        ("bash", ("bash", "-c", "SOURCE", "bash")),
        (["sh"], ("sh", "-c", "SOURCE", "sh")),
    ],
)
def test_text_with_arguments_finds_them(command: Any, prefix: tuple[str, ...]) -> None:
    couler.run_script("alpine", command=command, source="SOURCE", args=["a", 1], step_name="given")
    body = template_of(built(), "given").body
    assert isinstance(body, Container)
    assert (body.command, len(body.args)) == (prefix, 2)


def test_text_with_arguments_for_another_command_is_refused() -> None:
    with pytest.raises(RecordingError, match="can't hand args"):
        couler.run_script("alpine", command="perl", source="print", args=["a"])


def test_the_source_is_needed() -> None:
    with pytest.raises(RecordingError, match="no source"):
        couler.run_script("alpine", command="python")


def test_declared_outputs_come_before_what_is_printed() -> None:
    outputs = couler.run_script(
        "alpine", command="sh", source="date > /o/f", output=couler.create_local_artifact("/o/f"), step_name="both"
    )
    assert [type(output) for output in outputs] == [couler.OutputArtifact, couler.OutputScript]


def test_files_are_read_by_a_script() -> None:
    couler.run_script("alpine", command="sh", source="cat /mnt/data.csv", input=leave(name="make"), step_name="use")
    assert [item.path for item in template_of(built(), "use").inputs.artifacts] == ["/mnt/data.csv"]


def test_a_function_with_a_result_and_an_output_is_refused() -> None:
    with pytest.raises(RecordingError, match=r"couler\.step"):
        couler.run_script("a", source=returns, args=[1], output=couler.create_local_artifact("/o/f"))


def test_a_function_that_takes_files_is_refused() -> None:
    def reads(path: Path) -> int:
        return len(path.read_text())

    with pytest.raises(RecordingError, match="takes files"):
        couler.run_script("a", source=reads, args=["x"])
