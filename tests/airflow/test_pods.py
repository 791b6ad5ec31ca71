"""The form for Kubernetes without a cluster: each pod is built by Airflow as it would be sent, and its command is run.

What a kubelet does is done by hand here: `$$` becomes `$`, the container's own folders are some below the test's, and
the containers of the runner are its program.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import couler_py as couler
from tests.airflow import harness
from tests.conformance.case import Case
from tests.conformance.harness import check
from tests.conformance.suite import WRITTEN

if TYPE_CHECKING:
    from airflow.sdk import DAG

NAMES = (
    "value-plain-types",
    "value-a-result-of-the-wrong-type",
    "text-from-literal-to-function-to-function",
    "text-from-text-of-a-container-to-the-program",
    "text-from-literal-to-environment",
    "container-values-in-files",
    "container-exit-code-that-is-not-zero",
    "container-dollars-and-braces-reach-the-shell",
    "container-file-through-a-container",
    "container-file-in-and-out-by-one-name",
    "container-fan-out-of-containers",
    "artifact-folder-from-step-to-step",
    "artifact-files-of-a-tolerant-fan-out",
    "map-with-members",
    "retry-while-a-condition-holds",
    "loop-with-carried-values",
)
CASES = [case for case in WRITTEN if case.name in NAMES]
assert len(CASES) == len(NAMES)
FILES = [case for case in CASES if case.name.startswith(("artifact-", "container-file-"))]
"""Cases that hand on files: these go through a store too."""
RUNNER = Path(__file__).parents[2] / "images" / "runner" / "files.py"
FOLDER = re.compile(r"(?<![\w.])/(airflow/xcom|couler|tmp)(?=/|\b)")
"""The folders of a container."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def dags(airflow_home: Path, store: str, request: pytest.FixtureRequest) -> Mapping[str, DAG | Exception]:
    chosen = [item.callspec.params["case"] for item in request.session.items if item.path == Path(__file__)]
    texts = {}
    for case in chosen:
        workflow = msgspec.structs.replace(case.build(), name=case.name)
        texts[case.name] = couler.compile(workflow, to="airflow", claim="files", artifacts=store).text
        if case in FILES:
            workflow = msgspec.structs.replace(workflow, name=f"{case.name}-in-a-store")
            texts[workflow.name] = couler.compile(workflow, to="airflow", artifacts=f"file://{store}").text
    return harness.load(texts, airflow_home)


@pytest.fixture(autouse=True)
def kubelet(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs the base container of a pod as a process."""
    from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
    from airflow.sdk.exceptions import AirflowException
    from kubernetes.client import ApiClient

    monkeypatch.setattr(time, "sleep", lambda seconds: None)

    def execute(operator: Any, context: Any) -> Any:
        pod = ApiClient().sanitize_for_serialization(operator.build_pod_request_obj(context, dry_run=True))
        base = next(each for each in pod["spec"]["containers"] if each["name"] == "base")
        root = tmp_path / f"pod-{len(list(tmp_path.iterdir()))}"
        (root / "airflow" / "xcom").mkdir(parents=True)
        (root / "tmp").mkdir()

        def inside(text: str) -> str:
            # The volume of the claim is the same folder everywhere.
            parts = text.replace("$$", "$").split(store)
            return store.join(FOLDER.sub(rf"{root}/\1", part) for part in parts)

        def moved(kind: str, name: str) -> None:
            for each in pod["spec"].get(kind, []):
                if each["name"] == name:
                    words = [inside(word) for word in each["args"]]
                    subprocess.run([sys.executable, str(RUNNER), *words], cwd=root, check=True)

        moved("initContainers", "couler-bring")
        variables = {each["name"]: inside(each["value"]) for each in base.get("env", []) if "value" in each}
        variables["COULER_OUTPUTS"] = f"{root}/tmp/couler/outputs"
        variables["COULER_INPUTS"] = f"{root}/tmp/couler/inputs"
        words = [inside(each) for each in (*base.get("command", []), *base.get("args", []))]
        done = subprocess.run(words, env={**os.environ, **variables}, cwd=root, check=False)
        operator.remote_pod = ended(done.returncode)
        if done.returncode:
            raise AirflowException(f"Pod {operator.name} returned a failure.")
        moved("containers", "couler-keep")
        written = root / "airflow" / "xcom" / "return.json"
        return json.loads(written.read_text()) if operator.do_xcom_push else None

    monkeypatch.setattr(KubernetesPodOperator, "execute", execute)
    return


def ended(code: int) -> Any:
    from kubernetes.client import V1ContainerState, V1ContainerStateTerminated, V1ContainerStatus, V1Pod, V1PodStatus

    state = V1ContainerState(terminated=V1ContainerStateTerminated(exit_code=code))
    base = V1ContainerStatus(image="i", image_id="i", name="base", ready=False, restart_count=0, state=state)
    return V1Pod(status=V1PodStatus(container_statuses=[base]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, dags: Mapping[str, DAG | Exception]) -> None:
    found = dags[case.name]
    if isinstance(found, Exception):
        raise found
    check(case, harness.run(found, case.build(), case.parameters))


@pytest.mark.parametrize("case", FILES, ids=str)
def test_files_through_a_store(case: Case, dags: Mapping[str, DAG | Exception]) -> None:
    found = dags[f"{case.name}-in-a-store"]
    if isinstance(found, Exception):
        raise found
    check(case, harness.run(found, case.build(), case.parameters))
