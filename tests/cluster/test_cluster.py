from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from kubernetes.client import ApiException

from tests.cluster.argo import Namespace, node, outputs
from tests.cluster.fixtures import SCRIPT, Cluster, ObjectStore, exports

pytestmark = pytest.mark.cluster

HELLO = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      tasks:
      - {name: write, template: write}
      - name: read
        template: read
        dependencies: [write]
        arguments: {artifacts: [{name: text, from: "{{tasks.write.outputs.artifacts.text}}"}]}
  - name: write
    container: {image: "busybox:latest", imagePullPolicy: Never, command: [sh, -c, "echo hello, artifact >/tmp/text"]}
    outputs: {artifacts: [{name: text, path: /tmp/text}]}
  - name: read
    inputs: {artifacts: [{name: text, path: /tmp/given}]}
    container: {image: "busybox:latest", imagePullPolicy: Never, command: [sh, -c, "cat /tmp/given | tee /tmp/copy"]}
    outputs: {parameters: [{name: copy, valueFrom: {path: /tmp/copy}}]}
"""


def without_pods(name: str) -> str:
    return f"""
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {{name: {name}}}
spec:
  entrypoint: main
  templates: [{{name: main, steps: [[{{name: again, template: main, when: "false"}}]]}}]
"""


def test_a_workflow_hands_an_artifact_on_through_the_object_store(namespace: Namespace, s3: ObjectStore) -> None:
    workflow = namespace.run(HELLO)
    assert workflow["status"]["phase"] == "Succeeded", workflow["status"]
    assert outputs(node(workflow, "read")) == {"copy": "hello, artifact"}
    read = next(text for pod, text in namespace.logs(workflow["metadata"]["name"]).items() if "-read-" in pod)
    assert "hello, artifact" in read.splitlines()
    keys = [each["Key"] for each in s3.client().list_objects_v2(Bucket=s3.bucket)["Contents"]]
    assert [key for key in keys if workflow["metadata"]["name"] in key and key.endswith("/text.tgz")] != []


def test_workflows_are_waited_for_together(namespace: Namespace) -> None:
    names = namespace.submit(*(without_pods(f"side-by-side-{i}") for i in range(10)))
    ended = namespace.wait_for(names)
    assert {name: each["status"]["phase"] for name, each in ended.items()} == dict.fromkeys(names, "Succeeded")


def test_what_does_not_end_in_time_is_named_with_its_state(namespace: Namespace) -> None:
    suspended = without_pods("never-ends").split("  templates:")[0] + "  templates: [{name: main, suspend: {}}]\n"
    namespace.submit(suspended)
    with pytest.raises(TimeoutError, match="after 2 s: never-ends: Running"):
        namespace.wait_for(["never-ends"], seconds=2)


def test_a_document_with_an_unknown_type_is_refused(namespace: Namespace) -> None:
    broken = without_pods("refused").replace("entrypoint: main", "entrypoint: [main]")
    with pytest.raises(ApiException, match="must be of type string"):
        namespace.submit(broken)


def test_the_script_tells_where_a_cluster_is_that_is_up_and_leaves_it_as_it_is(cluster: Cluster) -> None:
    if cluster.machine is None:
        pytest.skip("this is not a cluster of the script")
    for command in ("status", "up"):
        printed = subprocess.run([SCRIPT, command], capture_output=True, text=True, check=True).stdout
        assert exports(printed)["COULER_TEST_KUBECONFIG"] == str(cluster.kubeconfig)


def script_at(home: Path, command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COULER_CLUSTER_HOME": str(home)}
    return subprocess.run([SCRIPT, command], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="the script does nothing at all without root")
def test_the_script_refuses_a_folder_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    ended = script_at(tmp_path, "down")
    assert ended.returncode == 1
    assert f"{tmp_path} is not a folder of this script" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_the_script_leaves_the_cluster_of_another_folder_alone(cluster: Cluster, tmp_path: Path) -> None:
    if cluster.machine is None:
        pytest.skip("this is not a cluster of the script")
    ended = script_at(tmp_path, "up")
    assert ended.returncode == 1
    assert "another cluster is up, of another COULER_CLUSTER_HOME" in ended.stderr
    assert script_at(tmp_path, "down").returncode == 0
    assert script_at(cluster.kubeconfig.parent, "status").returncode == 0
