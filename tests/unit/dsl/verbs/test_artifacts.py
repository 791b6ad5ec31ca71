"""The artifact makers: peers' row of Couler's API."""

from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.problems import RecordingError
from couler_py.dsl.verbs.secrets import pending
from couler_py.ir import expr as ir
from couler_py.ir import to_json
from couler_py.ir.storage import GCS, HDFS, OSS, S3, Azure, Git, HTTPLocation, LocalPath, RawData, SecretRef
from tests.unit.dsl.verbs.programs import arguments, built, say, template_of, write

KEY = SecretRef("keys", "key")


@pytest.mark.parametrize(
    ("artifact", "storage"),
    [
        (couler.create_gcs_artifact("/d", "b", "k", KEY), GCS("k", "b", KEY)),
        (couler.create_hdfs_artifact("/d", "/data", ["nn:8020"], "me", True), HDFS("/data", ("nn:8020",), "me", True)),
        (couler.create_git_artifact("/d", "https://git/x", "main", 1), Git("https://git/x", "main", 1)),
        (couler.create_http_artifact("/d", "https://x", {"A": "b"}), HTTPLocation("https://x", (("A", "b"),))),
        (couler.create_azure_artifact("/d", "c", "b", "https://x", KEY), Azure("b", "c", "https://x", KEY)),
        (couler.create_raw_artifact("/d", "text"), RawData("text")),
        (couler.create_path_artifact("/d", "/here"), LocalPath("/here")),
        (
            couler.create_s3_artifact("/d", "b", KEY, KEY, "k", insecure=True),
            S3("k", "b", "s3.amazonaws.com", "", True, KEY, KEY),
        ),
        (couler.create_oss_artifact("/d", "b", KEY, KEY, "k", "oss"), OSS("k", "b", "oss", KEY, KEY)),
        (couler.create_local_artifact("/d"), None),
    ],
    ids=["gcs", "hdfs", "git", "http", "azure", "raw", "path", "s3", "oss", "local"],
)
def test_each_kind_names_its_storage(artifact: Any, storage: Any) -> None:
    assert (artifact.path, artifact.storage, artifact.is_parameter) == ("/d", storage, False)


def test_without_a_key_the_key_is_the_path() -> None:
    assert couler.create_s3_artifact("/mnt/data.csv", "b").storage == S3("/mnt/data.csv", "b", "s3.amazonaws.com")


def test_keys_given_as_text_are_in_no_workflow() -> None:
    artifact = couler.create_s3_artifact("/d", "b", "AKIA-HIDDEN", "S3CRET-HIDDEN")
    couler.run_container("a", output=artifact, step_name="x")
    workflow = built()
    storage = template_of(workflow, "x").outputs.artifacts[0].storage
    assert isinstance(storage, S3)
    assert storage.access_key is not None
    assert storage.secret_key == SecretRef(storage.access_key.name, "secretKey")
    assert b"HIDDEN" not in to_json(workflow).encode()
    (kept,) = pending([storage.access_key.name])
    assert kept.data == {"accessKey": "AKIA-HIDDEN", "secretKey": "S3CRET-HIDDEN"}
    assert "HIDDEN" not in repr(kept)


def test_one_key_without_the_other_is_refused() -> None:
    with pytest.raises(RecordingError, match="accesskey_secret is missing"):
        couler.create_oss_artifact("/d", "b", "id")


def test_two_outputs_of_one_file_name_have_two_names() -> None:
    couler.run_container(
        "a",
        output=[couler.create_parameter_artifact("/a/x.txt"), couler.create_parameter_artifact("/b/x.txt")],
        step_name="two",
    )
    assert [item.name for item in template_of(built(), "two").outputs.parameters] == ["x-txt", "x-txt-2"]


def test_the_name_of_an_output_does_not_hang_on_its_line() -> None:
    first = write(name="one")
    second = write(name="two")
    assert [first[0].value, second[0].value] == ["one.t1-txt", "two.t1-txt"]


def test_two_outputs_at_one_path_are_refused() -> None:
    outputs = [couler.create_parameter_artifact("/a/x"), couler.create_local_artifact("/a/x")]
    with pytest.raises(RecordingError, match="two outputs lie at /a/x"):
        couler.run_container("a", output=outputs)


@pytest.mark.parametrize(
    "artifact", [couler.create_git_artifact("/d", "x"), couler.create_raw_artifact("/d", "x")], ids=["git", "raw"]
)
def test_what_can_only_be_read_is_no_output(artifact: Any) -> None:
    with pytest.raises(RecordingError, match="nothing can be written"):
        couler.run_container("a", output=artifact)


def test_a_relative_path_is_refused() -> None:
    with pytest.raises(RecordingError, match="not absolute"):
        couler.create_parameter_artifact("x.txt")


def test_a_local_artifact_as_input_names_no_place() -> None:
    with pytest.raises(RecordingError, match="names no place"):
        couler.run_container("a", input=couler.create_local_artifact("/d"))


def test_a_global_output_is_read_by_a_handler_under_a_name_of_its_own() -> None:
    def produce(name: str) -> Any:
        output = couler.create_parameter_artifact("/o/score", is_global=True)
        return couler.run_container("a", output=output, step_name=name)

    one, two = produce("one"), produce("two")
    couler.set_exit_handler(couler.WFStatus.Succeeded, lambda: say(one[0], name="report"))
    workflow = built()
    found = {
        output.global_name
        for template in workflow.templates
        for output in template.outputs.parameters
        if output.global_name
    }
    assert found == {"one-score", "two-score"}
    assert workflow.handlers[0].arguments[0].value == ir.Published("one-score")
    assert two[0].is_global


def test_a_global_output_is_an_output_like_others_for_later_steps() -> None:
    output = couler.create_parameter_artifact("/o/score", is_global=True)
    made = couler.run_container("a", output=output, step_name="make")
    say(made[0], name="use")
    from tests.unit.dsl.verbs.programs import tasks

    assert arguments(tasks()["use"]) == {"para-0": ir.TaskOutput("make", "score")}
