"""`run_container`: peers' row of Couler's API, and what its code did."""

from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.problems import RecordingError
from couler_py.ir import expr as ir
from couler_py.ir.model import Cache, Parameter, RetryPolicy
from couler_py.ir.pod import ConfigMapRef, Container, EnvFrom, EnvVar, Resources, VolumeMount
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import BOOL, FLOAT, INT, STR
from tests.unit.dsl.verbs.programs import arguments, built, leave, message_of, order, say, tasks, template_of, write


def body_of(name: str) -> Container:
    body = template_of(built(), name).body
    assert isinstance(body, Container)
    return body


def test_one_call_is_a_template_and_a_task_of_the_enclosing_function() -> None:
    def greet() -> None:
        couler.run_container(image="alpine:3.20", command=["echo"], args=["hello"])

    greet()
    workflow = built()
    assert [template.name for template in workflow.templates] == [workflow.entrypoint, "greet"]
    assert template_of(workflow, "greet").body == Container(
        image="alpine:3.20", command=("echo",), args=(ir.Text((ir.Input("para-0"),)),)
    )
    assert arguments(tasks(workflow)["greet"]) == {"para-0": ir.Literal("hello")}


def test_a_second_call_of_one_function_with_another_image_is_a_second_template() -> None:
    def greet(image: str) -> None:
        couler.run_container(image=image, command=["echo"])

    greet("one")
    greet("two")
    workflow = built()
    bodies = [template.body for template in workflow.templates[1:]]
    assert [body.image for body in bodies if isinstance(body, Container)] == ["one", "two"]
    assert {task.name: task.call for task in tasks(workflow).values()} == {"greet": "greet", "greet-2": "greet-2"}


def test_two_calls_on_one_line_are_two_steps_in_order() -> None:
    _ = say("a"), say("b"), say("c")
    assert order() == {"say": [], "say-2": ["say"], "say-3": ["say-2"]}


def test_a_call_in_a_comprehension_is_named_like_one_beside_it() -> None:
    def both() -> None:
        _ = [couler.run_container(image="a") for _ in range(2)]

    both()
    assert list(tasks()) == ["both", "both-2"]


def test_args_are_arguments_of_the_task_and_calls_share_one_template() -> None:
    say("a")
    say("b")
    workflow = built()
    assert len(workflow.templates) == 2
    assert [arguments(task) for task in tasks(workflow).values()] == [
        {"para-0": ir.Literal("a")},
        {"para-0": ir.Literal("b")},
    ]


def test_args_keep_their_types() -> None:
    couler.run_container(image="a", args=[1, True, 1.5, "x"], step_name="typed")
    inputs = template_of(built(), "typed").inputs.parameters
    assert inputs == tuple(Parameter(f"para-{number}", type_) for number, type_ in enumerate([INT, BOOL, FLOAT, STR]))


def test_one_text_is_one_argument() -> None:
    couler.run_container(image="a", command="echo", args="hello world", step_name="one")
    body = body_of("one")
    assert (body.command, len(body.args)) == (("echo",), 1)


def test_hostile_text_stays_text() -> None:
    hostile = "{{workflow.name}} $(x) `y` \" ' \\ \n"
    couler.run_container(image="a", command=[hostile], args=[hostile], env={"X": hostile}, step_name="h")
    workflow = built()
    body = template_of(workflow, "h").body
    assert isinstance(body, Container)
    assert (body.command, body.env) == ((hostile,), (EnvVar("X", hostile),))
    assert body.args == (hostile,)
    assert arguments(tasks(workflow)["h"]) == {}


def test_text_with_quotes_and_dollars_is_an_argument() -> None:
    say('it\'s $(x) `y` "z"', name="h")
    assert arguments(tasks()["h"]) == {"para-0": ir.Literal('it\'s $(x) `y` "z"')}


def test_an_output_is_read_by_a_later_step() -> None:
    produced = write(name="producer")
    couler.run_container(image="a", command=["cat"], args=produced, step_name="consumer")
    workflow = built()
    assert arguments(tasks(workflow)["consumer"]) == {"para-0": ir.TaskOutput("producer", "t1-txt")}
    assert template_of(workflow, "consumer").inputs.parameters == (Parameter("para-0", STR),)


def test_a_list_of_outputs_among_the_args_is_taken_apart() -> None:
    one, two = write(name="one"), write(name="two")
    couler.run_container(image="a", args=[one, two], step_name="use")
    assert list(arguments(tasks()["use"])) == ["para-0", "para-1"]


def test_an_output_file_lies_at_its_path_in_the_step_that_reads_it() -> None:
    produced = leave("/mnt/data.csv", name="producer")
    couler.run_container(image="a", command=["cat", produced[0].path], args=produced, step_name="consumer")
    workflow = built()
    (artifact,) = template_of(workflow, "consumer").inputs.artifacts
    (given,) = tasks(workflow)["consumer"].artifacts
    assert (artifact.name, artifact.path) == ("data-csv", "/mnt/data.csv")
    assert given.value == ir.TaskArtifact("producer", "data-csv")
    assert body_of("consumer").args == ()


def test_input_reads_a_file_of_a_storage() -> None:
    raw = couler.create_raw_artifact("/mnt/config.json", '{"a": "{{x}}"}')
    couler.run_container(image="a", input=raw, step_name="reader")
    (given,) = tasks()["reader"].artifacts
    assert given.storage is not None
    assert given.storage.data == '{"a": "{{x}}"}'  # type: ignore[union-attr]


def test_two_files_at_one_path_are_refused() -> None:
    with pytest.raises(RecordingError, match=r"two files would lie at /mnt/data\.csv"):
        couler.run_container(image="a", input=[leave(name="one")[0], leave(name="two")[0]])


def test_a_step_without_output_orders_but_has_no_value() -> None:
    nothing = say(name="first")
    assert isinstance(nothing[0], couler.OutputEmpty)
    couler.run_container(image="a", args=nothing, step_name="second")
    workflow = built()
    assert order(workflow) == {"first": [], "second": ["first"]}
    assert arguments(tasks(workflow)["second"]) == {}


def test_an_empty_output_can_not_be_compared() -> None:
    with pytest.raises(RecordingError) as error:
        couler.when(couler.equal(say(name="quiet"), "x"), lambda: say())
    assert "quiet has no output that equal could look at" in message_of(error)
    assert "create_parameter_artifact" in message_of(error)


def test_values_and_files_stand_mixed_in_one_list_of_outputs() -> None:
    outputs = couler.run_container(
        image="a",
        output=[couler.create_parameter_artifact("/o/v"), couler.create_local_artifact("/o/f")],
        step_name="both",
    )
    assert [type(output) for output in outputs] == [couler.OutputParameter, couler.OutputArtifact]
    found = template_of(built(), "both").outputs
    assert [(item.name, item.path) for item in found.parameters] == [("v", "/o/v")]
    assert [(item.name, item.path) for item in found.artifacts] == [("f", "/o/f")]


def test_no_volume_is_made_for_outputs() -> None:
    write("/mnt/t1.txt", name="producer")
    workflow = built()
    assert workflow.volumes == ()
    assert body_of("producer").mounts == ()


def test_env_holds_texts_numbers_booleans_secrets_and_outputs() -> None:
    secret = couler.create_secret({"password": "p"}, name="db")
    value = write(name="producer")
    env = {
        "TEXT": "x",
        "NUMBER": 3,
        "FLAG": True,
        "PASSWORD": secret["password"],
        "MAP": ConfigMapRef("c", "k"),
        "OUTPUT": value,
    }
    couler.run_container(image="a", env=env, step_name="use")
    assert body_of("use").env == (
        EnvVar("TEXT", "x"),
        EnvVar("NUMBER", "3"),
        EnvVar("FLAG", "true"),
        EnvVar("PASSWORD", SecretRef("db", "password")),
        EnvVar("MAP", ConfigMapRef("c", "k")),
        EnvVar("OUTPUT", ir.Text((ir.Input("env-OUTPUT"),))),
    )


def test_the_secrets_of_env_are_entries_in_the_words_of_kubernetes() -> None:
    entry = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    couler.run_container(image="a", env={"secrets": [entry]}, step_name="use")
    assert body_of("use").env == (EnvVar("KEY", SecretRef("s", "k")),)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"secretKeyRef": {"name": "s", "key": "k", "optional": True}}, SecretRef("s", "k", True)),
        ({"configMapKeyRef": {"name": "c", "key": "k", "optional": True}}, ConfigMapRef("c", "k", True)),
    ],
    ids=["secret", "config map"],
)
def test_an_entry_in_the_words_of_kubernetes_keeps_that_it_is_optional(source: Any, value: Any) -> None:
    entry = {"name": "KEY", "valueFrom": source}
    couler.run_container(image="a", env={"secrets": [entry]}, step_name="use")
    assert body_of("use").env == (EnvVar("KEY", value),)


def test_a_secret_is_an_environment_variable_for_each_key_beside_env() -> None:
    secret = couler.obtain_secret(["a", "b"], name="known")
    couler.run_container(image="a", secret=secret, env={"X": "y"}, step_name="use")
    assert body_of("use").env == (
        EnvVar("X", "y"),
        EnvVar("a", SecretRef("known", "a")),
        EnvVar("b", SecretRef("known", "b")),
    )


def test_a_secret_known_by_its_name_alone_is_read_whole() -> None:
    couler.run_container(image="a", secret="known", step_name="use")
    assert body_of("use").env_from == (EnvFrom("known", "secret"),)


def test_env_from_is_in_the_words_of_kubernetes() -> None:
    couler.run_container(
        image="a",
        env_from=[{"configMapRef": {"name": "c"}}, {"prefix": "P_", "secretRef": {"name": "s"}}],
        step_name="use",
    )
    assert body_of("use").env_from == (EnvFrom("c", "config_map"), EnvFrom("s", "secret", "P_"))


def test_resources_are_cpu_memory_gpu_and_others() -> None:
    couler.run_container(
        image="a",
        resources={"cpu": 0.5, "memory": "2Gi", "nvidia.com/gpu": 2, "ephemeral-storage": "1Gi", "example.com/fpga": 1},
        step_name="big",
    )
    assert body_of("big").resources == Resources(
        cpu="500m",
        memory="2Gi",
        gpu=2,
        gpu_type="nvidia.com/gpu",
        ephemeral_storage="1Gi",
        extra=(("example.com/fpga", "1"),),
    )


@pytest.mark.parametrize("given", [{"cpu": "a lot"}, {"nvidia.com/gpu": "half"}, {"gpu": 1, "amd.com/gpu": 1}, "2Gi"])
def test_resources_that_are_none_are_refused(given: object) -> None:
    with pytest.raises(RecordingError):
        couler.run_container(image="a", resources=given)


def test_policies_and_placement_reach_the_template() -> None:
    couler.add_volume(couler.Volume("work", "claim"))
    couler.run_container(
        image="a",
        timeout=60,
        retry=3,
        image_pull_policy=couler.ImagePullPolicy.Always,
        daemon=True,
        volume_mounts=[couler.VolumeMount("work", "/mnt/work")],
        working_dir="/mnt/work",
        node_selector={"arch": "arm64"},
        cache=couler.Cache(name="results", key="k", max_age="1h"),
        enable_ulogfs=False,
        step_name="all",
    )
    found = template_of(built(), "all")
    body = body_of("all")
    assert (found.timeout, found.retry, found.daemon) == (60.0, RetryPolicy(3), True)
    assert found.cache == Cache(max_age=3600.0, key="k", store="results")
    assert found.pod.node_selector == (("arch", "arm64"),)
    assert (body.pull_policy, body.working_dir, body.mounts) == (
        "Always",
        "/mnt/work",
        (VolumeMount("work", "/mnt/work"),),
    )


def test_parallelism_on_a_step_is_refused_with_the_way_out() -> None:
    with pytest.raises(RecordingError) as error:
        couler.run_container(image="a", parallelism=2)
    assert "config_workflow(parallelism=...)" in message_of(error)


def test_pool_is_refused_with_the_way_out() -> None:
    with pytest.raises(RecordingError, match="node_selector"):
        couler.run_container(image="a", pool="gpu")


def test_a_mistake_names_the_line_that_makes_it() -> None:
    with pytest.raises(RecordingError) as error:
        couler.run_container(image="")
    assert "test_run_container.py:" in message_of(error)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"retry": -1}, "retry=-1"),
        ({"retry": True}, "retry=True"),
        ({"timeout": "soon"}, "timeout"),
        ({"image_pull_policy": "Sometimes"}, "no image pull policy"),
        ({"env": ["A=1"]}, "env is a dict"),
        ({"env": {"A": None}}, "is None"),
        ({"env": {"A B": "x"}}, "not the name of an environment variable"),
        ({"cache": "name"}, "no Cache"),
        ({"output": "/mnt/x"}, "is no artifact"),
        ({"input": "/mnt/x"}, "as a file"),
        ({"args": [None]}, "None is no argument"),
        ({"step_name": 3}, "not a name"),
    ],
)
def test_what_cannot_be_honoured_raises(settings: dict[str, object], message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        couler.run_container(image="a", **settings)  # type: ignore[arg-type]
