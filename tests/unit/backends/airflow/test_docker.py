"""Steps as containers of a Docker daemon, read as text."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.ir import DiagnosticError


def compiled(step: Any, **options: Any) -> str:
    workflow = couler.Workflow("flow")
    with workflow:
        step.named("say")()
    text = couler.compile(workflow, to="airflow", operators="docker", **options).text
    ast.parse(text)
    return text


def test_a_container_without_inputs_is_the_operator_that_a_person_would_write() -> None:
    found = compiled(couler.container("alpine:3", ["echo"], ["it's"], cpu="500m", memory="1Gi", env={"A": "$(B)"}))
    assert found[found.index("    say =") : found.index("\n\n\nflow()")] == (
        "    say = DockerOperator(\n"
        '        task_id="say",\n'
        '        image="alpine:3",\n'
        '        entrypoint=["echo"],\n'
        '        command=["it\'s"],\n'
        '        environment={"A": "$(B)"},\n'
        "        cpus=0.5,\n"
        "        mem_limit=1073741824,\n"
        '        auto_remove="force",\n'
        "        mount_tmp_dir=False,\n"
        "        do_xcom_push=False,\n"
        "    )"
    )


@pytest.mark.parametrize("hostile", ["{{ macros }}", "run.sh", "a.env"])
def test_what_jinja_would_read_is_handed_over_when_the_container_starts(hostile: str) -> None:
    found = compiled(couler.container("alpine:3", ["echo", hostile]))
    assert "DockerOperator(\n" not in found
    assert "    template_fields = ()" in found


def test_graphics_processors() -> None:
    assert '"container": {"gpus": 2}' in compiled(couler.container("alpine:3", ["true"], gpu=2))


def test_files_need_a_folder_or_a_volume() -> None:
    step = couler.container("alpine:3", ["true"], outputs={"f": couler.file_at("/tmp/f")})
    with pytest.raises(DiagnosticError, match="-O artifacts=PATH names a folder"):
        compiled(step)
    assert 'STORE = "/shared"' in compiled(step, artifacts="/shared")
    assert 'CLAIM = "runs"' in compiled(step, artifacts="/shared", claim="runs")


def test_what_only_a_cluster_has_is_refused() -> None:
    with pytest.raises(DiagnosticError) as refused:
        compiled(couler.container("alpine:3", ["true"], node_selector={"disk": "ssd"}, pod_patch="{}"))
    assert {each.code for each in refused.value.diagnostics if each.severity == "error"} == {"CLR501"}
    assert len(refused.value.diagnostics) == 2


def test_the_worker_brings_files_of_named_stores() -> None:
    data = couler.S3("raw", bucket="lake", endpoint="minio:9000")
    step = couler.container("alpine:3", ["wc", couler.argument("data")], inputs={"data": Path})

    def text(**options: Any) -> str:
        workflow = couler.Workflow("flow")
        with workflow:
            step.named("say")(data=data)
        return couler.compile(workflow, to="airflow", operators="docker", **options).text

    assert '"@uri": "s3://lake/raw"' in text(artifacts="/shared")
    with pytest.raises(DiagnosticError, match="what it shares with the worker, and 's3://lake/runs' is no folder"):
        text(artifacts="s3://lake/runs")
