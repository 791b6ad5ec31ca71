"""Files and folders between steps on the real controller, through a real S3 endpoint."""

from __future__ import annotations

import uuid

import pytest
from msgspec.structs import replace

from couler_py.ir.expr import (
    Compare,
    Compute,
    Expr,
    First,
    Input,
    Item,
    Literal,
    Not,
    OrElse,
    Own,
    TaskArtifact,
    TaskItems,
    TaskOutput,
    WorkflowParameter,
)
from couler_py.ir.model import (
    After,
    ArtifactArgument,
    Cache,
    Carry,
    Each,
    Function,
    Graph,
    InputArtifact,
    Inputs,
    Loop,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Task,
    Template,
)
from couler_py.ir.types import ANY, INT, STR, ListOf
from tests.cluster.argo import Namespace
from tests.engines.argo.controller import Run, SideBySide, given, python, shell, workflow

pytestmark = pytest.mark.cluster
together = SideBySide()

WRITE = python(
    "write",
    "import pathlib\ndef write(x):\n    p = pathlib.Path('/tmp/f.txt')\n    p.write_text(f'content {x}')\n    return p",
    Parameter("x", INT),
    returns=OutputArtifact("result"),
)
READ = python(
    "read", "def read(p):\n    return p.read_text()", returns=OutputParameter("result"), files=(InputArtifact("p"),)
)
READ_IF = python(
    "read_if",
    "def read_if(p):\n    return 'none' if p is None else p.read_text()",
    returns=OutputParameter("result"),
    files=(InputArtifact("p", optional=True),),
)
LIST = python(
    "listed",
    "def listed(p):\n    return [] if p is None else [each.read_text() for each in sorted(p.iterdir())]",
    returns=OutputParameter("result", ListOf(STR)),
    files=(InputArtifact("p", optional=True),),
)
OFF = Compare("==", WorkflowParameter("switch"), Literal("on"))
SWITCH = (Parameter("switch", default="off"),)


def write(name: str, x: Expr, **more: object) -> Task:
    return Task(name, "write", given(x=x), **more)  # type: ignore[arg-type]


def reading(call: str, value: Expr, optional: bool = False) -> Task:
    return Task("b", call, artifacts=(ArtifactArgument("p", value, optional=optional),))


def text(type_: object = STR) -> list[tuple[str, object, Expr]]:
    return [("r", type_, TaskOutput("b", "result"))]


def runs() -> list[Run]:
    both = First((TaskArtifact("a", "result"), TaskArtifact("c", "result")))
    once = replace(WRITE, name="once", cache=Cache(version=uuid.uuid4().hex))
    fan = write("m", Item(), each=Each(Literal([5, 3, 4])))
    none = write("m", Item(), each=Each(Literal([])))
    folder = reading("listed", TaskArtifact("m", "result"), True)
    nested = Template(
        "nested",
        Graph((write("k", Compute("+", Input("x"), Literal(1))),)),
        Inputs((Parameter("x", INT),)),
        Outputs(artifacts=(OutputArtifact("deep", value=TaskArtifact("k", "result")),)),
    )
    numbers = python("numbers", "def numbers():\n    return [7, 8]", returns=OutputParameter("result", ListOf(INT)))
    mapped = Task("m", "nested", given(x=Item()), each=Each(TaskOutput("numbers", "result")))
    step = Template(
        "step",
        Function("step", (Piece(STEP),), returns="fields"),
        Inputs((Parameter("x", INT),)),
        Outputs((OutputParameter("n", INT),), (OutputArtifact("f"),)),
    )
    loop = Template(
        "loop",
        Loop("step", Compare(">=", Own("n"), Literal(3)), (Carry("n", "x"),), 5),
        Inputs((Parameter("x", INT),)),
        Outputs((OutputParameter("n", INT, value=Own("n")),), (OutputArtifact("f", value=Own("f")),)),
    )
    folders = (
        Template(
            "leave",
            shell("leave", "mkdir /tmp/d && echo hi > /tmp/d/x").body,
            outputs=Outputs(artifacts=(OutputArtifact("f", "/tmp/d"),)),
        ),
        Template(
            "show",
            shell("show", "cat /in/x").body,
            Inputs(artifacts=(InputArtifact("p", "/in"),)),
            Outputs((OutputParameter("result", stdout=True),)),
        ),
    )
    return [
        Run(
            "file",
            workflow(
                "file",
                write("a", Literal(1)),
                reading("read", TaskArtifact("a", "result")),
                templates=(WRITE, READ),
                outputs=text(),
            ),
            outputs={"r": "content 1"},
        ),
        Run(
            "a file of an earlier success",
            workflow(
                "cached",
                Task("a", "once", given(x=Literal(1))),
                Task("c", "once", given(x=Literal(1)), after=(After("a"),)),
                reading("read", TaskArtifact("c", "result")),
                templates=(once, READ),
                outputs=text(),
            ),
            outputs={"r": "content 1"},
        ),
        Run(
            "first of files",
            workflow(
                "first",
                write("a", Literal(1), when=OFF),
                write("c", Literal(2), when=Not(OFF)),
                reading("read", both),
                templates=(WRITE, READ),
                outputs=text(),
                parameters=SWITCH,
            ),
            tasks={"a": "Skipped", "b": "Succeeded"},
            outputs={"r": "content 2"},
        ),
        Run(
            "absent file",
            workflow(
                "absent",
                write("a", Literal(1), when=OFF),
                reading("read_if", OrElse(TaskArtifact("a", "result"), Literal(None)), True),
                templates=(WRITE, READ_IF),
                outputs=text(),
                parameters=SWITCH,
            ),
            outputs={"r": "none"},
        ),
        Run(
            "files of a fan-out in the order of its items",
            workflow("fan", fan, folder, templates=(WRITE, LIST), outputs=text(ListOf(STR))),
            outputs={"r": ["content 5", "content 3", "content 4"]},
        ),
        Run(
            "no files of no items",
            workflow("none", none, folder, templates=(WRITE, LIST), outputs=text(ListOf(STR))),
            outputs={"r": []},
        ),
        Run(
            "files from inside mapped graphs",
            workflow(
                "deep",
                Task("numbers", "numbers"),
                mapped,
                reading("listed", TaskArtifact("m", "deep"), True),
                templates=(WRITE, LIST, nested, numbers),
                outputs=text(ListOf(STR)),
            ),
            outputs={"r": ["content 8", "content 9"]},
        ),
        Run(
            "file of the last iteration",
            workflow(
                "loop",
                Task("l", "loop", given(x=Literal(1))),
                reading("read", TaskArtifact("l", "f")),
                templates=(step, loop, READ),
                outputs=[("n", INT, TaskOutput("l", "n")), *text()],
            ),
            tasks={"l#1": "Succeeded", "l#2": "Succeeded"},
            outputs={"n": 3, "r": "2"},
        ),
        Run(
            "folder between containers",
            workflow(
                "folder", Task("a", "leave"), reading("show", TaskArtifact("a", "f")), templates=folders, outputs=text()
            ),
            outputs={"r": "hi"},
        ),
    ]


STEP = """def step(x):
    from pathlib import Path
    p = Path('/tmp/f')
    p.write_text(str(x))
    return {'n': x + 1, 'f': p}"""


@pytest.mark.usefixtures("s3")
@together
def test_artifacts_reach_their_readers(namespace: Namespace) -> list[Run]:
    return runs()


@pytest.mark.usefixtures("s3")
@together
def test_items_of_a_fan_out_match_its_outputs_where_one_failed(namespace: Namespace) -> list[Run]:
    ten = python(
        "ten",
        "def ten(x):\n    assert x != 2\n    return x * 10",
        Parameter("x", INT),
        returns=OutputParameter("result", INT),
    )
    pair = python(
        "pair",
        "def pair(a, b):\n    return [a, b]",
        Parameter("a", ListOf(INT)),
        Parameter("b", ListOf(INT)),
        returns=OutputParameter("result", ListOf(ANY)),
    )
    run = Run(
        "items",
        workflow(
            "items",
            Task("m", "ten", given(x=Item()), each=Each(Literal([1, 2, 3]), tolerate=1)),
            Task("z", "pair", given(a=TaskOutput("m", "result"), b=TaskItems("m"))),
            templates=(ten, pair),
            outputs=[("r", ListOf(ANY), TaskOutput("z", "result"))],
        ),
        tasks={"m": "Succeeded", "m[0]": "Succeeded", "m[1]": "Failed"},
        outputs={"r": [[10, 30], [1, 3]]},
    )
    return [run]
