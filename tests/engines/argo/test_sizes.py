"""The size that is expected of a run is that of the controller's own record of it."""

from __future__ import annotations

import msgspec
import pytest

from couler_py.backends.argo import compile_workflow
from couler_py.backends.argo.size import size_of
from couler_py.ir.expr import Item, Literal
from couler_py.ir.model import Argument, Each, Graph, Inputs, OutputParameter, Outputs, Parameter, Task, Template
from tests.cluster.argo import Namespace
from tests.conformance.podless import NOTHING, workflow

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

SAY = Template(
    "say",
    Graph((Task("nothing", "nothing"),)),
    Inputs((Parameter("text"),)),
    Outputs((OutputParameter("out", value=Literal("said")),)),
)


def test_nodes_and_bytes_of_a_wide_run(namespace: Namespace) -> None:
    each = Each(Literal([f"item {number}" for number in range(300)]))
    wide = Task("m", "say", (Argument("text", Item()),), each=each)
    document = compile_workflow(workflow(wide, templates=(SAY, NOTHING))).documents[-1]
    expected = size_of(document)
    ended = namespace.run(document)
    nodes = ended["status"]["nodes"]
    assert expected.nodes == len(nodes)
    assert expected.status / 1.5 < len(msgspec.json.encode(nodes)) < expected.status * 1.5
