"""What a description says of order: what waits for what, what stands side by side, what runs in any case."""

from __future__ import annotations

import pytest

from couler_py.ir.meaning import graph_edges
from couler_py.ir.model import Graph
from couler_py.nl import ask


def waits(text: str) -> dict[str, set[str]]:
    """The tasks of a description, and for each what it waits for."""
    workflow = ask(text).workflow
    assert workflow is not None
    graph = next(each.body for each in workflow.templates if each.name == workflow.entrypoint)
    assert isinstance(graph, Graph)
    edges = graph_edges(graph)
    return {name: {one for edge in found for one in edge.tasks} for name, found in edges.items()}


def kinds(text: str, name: str) -> set[tuple[str, str]]:
    """The edges of one task: their kind, and from where."""
    workflow = ask(text).workflow
    assert workflow is not None
    graph = next(each.body for each in workflow.templates if each.name == workflow.entrypoint)
    assert isinstance(graph, Graph)
    return {(edge.kind, one) for edge in graph_edges(graph)[name] for one in edge.tasks}


def test_branches_of_several_steps_stand_side_by_side() -> None:
    found = waits(
        "In parallel: fetch https://a.org/w and parse it; fetch https://b.org/t and decode it. Then join both."
    )

    assert found["fetch"] == set()
    assert found["fetch_2"] == set()
    assert found["parse"] == {"fetch"}
    assert found["decode"] == {"fetch_2"}
    assert found["join"] == {"parse", "decode"}


def test_one_branch_and_the_other() -> None:
    found = waits(
        "One branch cleans a.csv and trains a classifier, the other resizes the images in s3://i and trains a "
        "network. Afterwards the predictions are blended."
    )

    assert found["resize_images"] == set()
    assert found["blend_predictions"] == {"train_classifier", "train_network"}


def test_meanwhile_speaks_of_the_whole_sentence_before() -> None:
    found = waits("Load a.csv and clean it. Meanwhile, load b.csv and parse it. Then join the two.")

    assert found["load_2"] == set()
    assert found["join_two"] == {"clean", "parse"}


def test_while_something_is_done_something_else_is() -> None:
    found = waits("While the model is being trained on a.csv, build the docker image. When both are done, deploy.")

    assert found["build_docker_image"] == set()
    assert found["deploy"] == {"train_model", "build_docker_image"}


@pytest.mark.parametrize(
    "text",
    [
        "A, then B and C in parallel, then D.",
        "Run A first. B and C run after A. D runs after B and C.",
        "D depends on B and C, which both depend on A.",
        "A -> (B, C) -> D",
    ],
)
def test_steps_that_are_letters(text: str) -> None:
    assert waits(text) == {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}}


@pytest.mark.parametrize(
    "text",
    [
        "Load a.csv, clean it, train a model and, once trained, evaluate it.",
        "Load a.csv. After cleaning it, train a model. Evaluate it after training.",
        "The data are loaded from a.csv, cleaned and then a model is trained and evaluated.",
        "Load a.csv, then clean, train after cleaning, and evaluate.",
        "It loads a.csv, cleans it, trains a model, evaluates it.",
        "Loading of a.csv, cleaning, training of a model, evaluation.",
    ],
)
def test_a_step_that_is_spoken_of_again_is_no_second_one(text: str) -> None:
    workflow = ask(text).workflow

    assert workflow is not None
    graph = next(each.body for each in workflow.templates if each.name == workflow.entrypoint)
    assert isinstance(graph, Graph)
    assert [task.name.split("_")[0] for task in graph.tasks] == ["load", "clean", "train", "evaluate"]


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests on a.csv, delete the database even if the tests fail.",
        "Run the tests on a.csv and always delete the database.",
        "Run the tests on a.csv. No matter what happens, delete the database.",
        "Run the tests on a.csv and in any case delete the database.",
        "Run the tests on a.csv; delete the database regardless of the outcome.",
    ],
)
def test_what_is_done_in_any_case(text: str) -> None:
    assert kinds(text, "delete_database") == {("always", "run_tests")}


def test_what_a_failure_names_is_the_step_that_fails() -> None:
    text = "Validate a.csv, train a model on it, deploy it to prod. If the validation fails, mail a@b.org."

    assert kinds(text, "email") == {("on_failure", "validate")}


def test_a_setting_in_a_sentence_of_its_own_makes_no_step() -> None:
    draft = ask(
        "Training needs 4 GPUs. Load a.csv, train a model, evaluate it. The evaluation should be retried twice."
    )

    assert draft.workflow is not None
    templates = {each.name: each for each in draft.workflow.templates}
    assert set(templates) & {"load", "train_model", "evaluate"} == {"load", "train_model", "evaluate"}
    assert templates["train_model"].body.resources.gpu is not None  # type: ignore[union-attr]
    assert templates["evaluate"].retry is not None
    assert templates["evaluate"].retry.limit == 2


def test_commands_in_a_row_are_steps() -> None:
    found = waits("Run `make lint`, `make test` and then `make release`.")

    assert len(found) == 3
