"""Files in stores, as text: where a DAG says that they are, and what pods get to move them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.ir import DiagnosticError
from couler_py.ir.storage import GCS, OSS, S3, Azure, Git, HTTPLocation, SecretRef, Storage
from couler_py.settings.model import Settings


def compiled(storage: Storage | None = None, **options: Any) -> str:
    """A workflow whose one step reads a file of a store and leaves another."""
    workflow = couler.Workflow("flow")
    with workflow:
        read = couler.container(
            "alpine:3",
            ["cp", couler.argument("data"), "/tmp/out"],
            inputs={"data": Path},
            outputs={"made": couler.file_at("/tmp/out")},
        )
        read.named("read")(data=storage or S3("raw", bucket="lake"))
    text = couler.compile(workflow, to="airflow", **{"artifacts": "s3://runs/here"} | options).text
    ast.parse(text)
    return text


@pytest.mark.parametrize(
    ("storage", "place"),
    [
        (S3("a/b", bucket="lake"), '{"@uri": "s3://lake/a/b"}'),
        (S3("a/b"), '{"@uri": "s3://runs/here/a/b"}'),
        (GCS("a/b", bucket="lake"), '{"@uri": "gs://lake/a/b"}'),
        (OSS("a/b", bucket="lake", endpoint="oss.example"), '"@uri": "oss://lake/a/b"'),
        (Azure("a", container="c", endpoint="https://acc.blob.core.windows.net"), '"account_name": "acc"'),
        (HTTPLocation("https://example.com/x"), '{"@uri": "https://example.com/x"}'),
        (S3("a", bucket="b", endpoint="minio:9000", insecure=True), '"endpoint_url": "http://minio:9000"'),
        (
            S3("a", bucket="b", secret_key=SecretRef("keys", "secret")),
            '"@secrets": {"secret": {"name": "keys", "key": "secret"}}',
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Storage) else "",
)
def test_a_file_in_a_store_is_a_uri(storage: Storage, place: str) -> None:
    assert place in " ".join(compiled(storage).split()).replace("{ ", "{").replace(", }", "}")


def test_what_has_no_uri_is_said() -> None:
    with pytest.raises(DiagnosticError) as refused:
        compiled(Git("https://example.com/r.git"))
    assert [each.code for each in refused.value.diagnostics] == ["CLR514"]


def test_processes_of_the_worker_have_no_secrets_of_the_cluster() -> None:
    with pytest.raises(DiagnosticError) as refused:
        compiled(S3("a", bucket="b", access_key=SecretRef("keys", "id")), operators="local")
    assert [each.code for each in refused.value.diagnostics] == ["CLR514"]


def test_settings_name_the_image_and_the_store() -> None:
    from couler_py.backends.airflow import BACKEND

    settings = Settings(artifacts="gs://b/runs", images={"couler-runner:*": "mirror/runner:*"}, namespace="team")
    found = BACKEND.chosen(settings)
    assert found["artifacts"] == "gs://b/runs"
    assert found["namespace"] == "team"
    assert found["runner"].startswith("mirror/runner:")
    text = compiled(**found)
    assert f'RUNNER_IMAGE = "{found["runner"]}"' in text
    assert 'STORE = "gs://b/runs"' in text


def test_the_secret_of_the_store_is_the_environment_of_the_runner() -> None:
    assert 'STORE_SECRET = "keys"' in compiled(store_secret="keys")


def test_the_worker_looks_into_the_files_of_a_cached_step_and_has_no_secrets_of_the_cluster() -> None:
    def refusals(secret: SecretRef | None, key: str | None = None) -> list[str]:
        read = couler.container(
            "alpine:3", ["wc", couler.argument("data")], inputs={"data": Path}, cache=couler.cache(key=key)
        )
        workflow = couler.Workflow("flow")
        with workflow:
            read.named("read")(data=S3("raw", bucket="lake", secret_key=secret))
        try:
            couler.compile(workflow, to="airflow", artifacts="s3://runs/here")
        except DiagnosticError as refused:
            return [each.message for each in refused.diagnostics]
        return []

    keys = SecretRef("keys", "secret")
    assert refusals(None) == refusals(keys, "a key") == []
    assert refusals(keys) == [
        "'alpine' is cached, and the worker, which looks into its files, can't have the keys of their store"
    ]
