"""Forms of Argo's that our own words don't use and imported documents have, each run on the real controller."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from couler_py.backends.argo import dump, load
from couler_py.ir.expr import Literal, TaskOutput
from couler_py.ir.model import (
    Data,
    Graph,
    Http,
    OutputParameter,
    Outputs,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Templated
from couler_py.ir.types import STR
from tests.cluster.argo import Namespace, outputs
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.conformance.podless import ACT, NEVER, NOTHING
from tests.engines.argo.controller import Run, differences, given, workflow

pytestmark = pytest.mark.cluster

LIBRARY = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "WorkflowTemplate",
    "metadata": {"name": "forms-library"},
    "spec": {
        "templates": [
            {
                "name": "say",
                "inputs": {"parameters": [{"name": "text"}]},
                "outputs": {"parameters": [{"name": "out", "valueFrom": {"expression": "inputs.parameters.text"}}]},
                "dag": {"tasks": [{"name": "wait", "inline": {"suspend": {"duration": "0"}}}]},
            }
        ]
    },
}
"""A library of one template that gives back what it is given, without a pod."""


def in_steps(name: str, *groups: tuple[Task, ...], templates: tuple[Template, ...]) -> Workflow:
    tasks = tuple(task for group in groups for task in group)
    names = tuple(tuple(task.name for task in group) for group in groups)
    return Workflow(name, "main", (Template("main", Graph(tasks, "steps", names)), *templates))


def act(name: str, does: str, **more: object) -> Task:
    return Task(name, "act", given(does=Literal(does), says=Literal(name)), **more)  # type: ignore[arg-type]


def test_groups_of_steps_wait_for_each_other_and_stop_at_a_failure(namespace: Namespace) -> None:
    helpers = (ACT, NEVER, NOTHING)
    both = (act("a", "S"), act("b", "S"))
    runs = [
        Run("good", in_steps("good", both, (act("c", "S"),), templates=helpers), tasks={"c": "Succeeded"}),
        Run("bad", in_steps("bad", (act("a", "F"), act("b", "S")), (act("c", "S"),), templates=helpers), "Failed"),
        Run(
            "goes on",
            in_steps("goes-on", (act("a", "F", continue_on=("failed", "error")),), (act("c", "S"),), templates=helpers),
            tasks={"a": "Failed", "c": "Succeeded"},
        ),
    ]
    assert differences(namespace, runs) == {}


IMPORTED = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: forms-}
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      tasks:
      - name: inline
        inline:
          script: {image: "debian:12", command: [sh], source: "printf inside"}
      - name: installed
        templateRef: {name: forms-library, template: say}
        arguments: {parameters: [{name: text, value: "{{tasks.inline.outputs.result}}"}]}
        depends: inline
    outputs:
      parameters:
      - {name: r, valueFrom: {parameter: "{{tasks.installed.outputs.parameters.out}}"}}
"""


def test_a_template_in_a_task_and_one_that_is_installed(namespace: Namespace) -> None:
    namespace.submit(LIBRARY)
    ended = namespace.run(dump(load(IMPORTED)))
    assert ended["status"]["phase"] == "Succeeded"
    assert outputs(ended["status"]["nodes"][ended["metadata"]["name"]]) == {"r": "inside"}


@pytest.fixture
def answering(cluster: Cluster) -> Iterator[str]:
    """The address of a server on this machine, as pods see it, that answers with what it was sent."""
    if cluster.machine is None:
        pytest.skip("COULER_TEST_KUBECONFIG names a cluster that doesn't reach this machine")

    class Echo(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200 if self.headers["X-Test"] == "yes" else 400)
            self.end_headers()
            self.wfile.write(b"got " + body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer((cluster.machine, 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{cluster.machine}:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_request_and_a_list_of_files(namespace: Namespace, s3: ObjectStore, answering: str) -> None:
    store = s3.client()
    for key in ("forms/one.txt", "forms/two.txt", "forms/three.log"):
        store.put_object(Bucket=s3.bucket, Key=key, Body=b"x")
    place = {
        "bucket": s3.bucket,
        "endpoint": s3.endpoint,
        "insecure": True,
        "accessKeySecret": {"name": "couler-test-s3", "key": "access"},
        "secretKeySecret": {"name": "couler-test-s3", "key": "secret"},
    }
    listing = Template(
        "listing",
        Data(
            Templated({"artifactPaths": {"name": "files", "s3": {**place, "key": "forms"}}}),
            ("filter(data, {# endsWith '.txt'})", "map(data, {# + '!'})"),
        ),
        outputs=Outputs((OutputParameter("result", stdout=True),)),
    )

    def asking(header: str) -> Template:
        body = Http(answering, "POST", (("X-Test", header),), "hello")
        return Template("ask", body, outputs=Outputs((OutputParameter("result", stdout=True),)))

    result = [("r", STR, TaskOutput("a", "result"))]
    runs = [
        Run(
            "good",
            workflow("ask", Task("a", "ask"), templates=(asking("yes"),), outputs=result),
            outputs={"r": "got hello"},
        ),
        Run("refused", workflow("ask", Task("a", "ask"), templates=(asking("no"),)), "Failed", {"a": "Failed"}),
        Run(
            "files",
            workflow("files", Task("a", "listing"), templates=(listing,), outputs=result),
            outputs={"r": '["forms/one.txt!","forms/two.txt!"]'},
        ),
    ]
    assert differences(namespace, runs) == {}
