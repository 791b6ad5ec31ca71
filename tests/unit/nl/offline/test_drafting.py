"""A text becomes the workflow that it describes, or says why not."""

from __future__ import annotations

import pytest

from couler_py.ir import expr as x
from couler_py.ir.meaning import graph_edges
from couler_py.ir.model import Graph, Loop, Schedule, Script, Task, Template, Workflow
from couler_py.nl import Draft, ask


def drafted(text: str) -> Workflow:
    workflow = ask(text).workflow
    assert workflow is not None
    return workflow


def order(workflow: Workflow) -> dict[str, set[str]]:
    """What each task waits for, in whatever graph it stands."""
    found: dict[str, set[str]] = {}
    for template in workflow.templates:
        if isinstance(template.body, Graph):
            for task, edges in graph_edges(template.body).items():
                found[task] = {name for edge in edges for name in edge.tasks}
    return found


def task(workflow: Workflow, name: str) -> Task:
    graphs = [each.body for each in workflow.templates if isinstance(each.body, Graph)]
    return next(each for graph in graphs for each in graph.tasks if each.name == name)


def template(workflow: Workflow, name: str) -> Template:
    return next(each for each in workflow.templates if each.name == name)


@pytest.mark.parametrize(
    "text",
    [
        "Load customers.csv, clean it, train a model and evaluate it.",
        "read in customers.csv -> clean -> train model -> evaluate",
        "Steps:\n- load customers.csv\n- clean\n- train\n- evaluate",
        "lod customers.csv, claen the data, trian a classifer and evalute",
        "Carga customers.csv, limpia los datos, entrena un modelo y evalúalo",
        "读取 customers.csv，清洗数据，训练模型，然后评估。",
    ],
)
def test_the_same_said_in_other_ways_has_the_same_order(text: str) -> None:
    names = [set(before) for before in order(drafted(text)).values()]

    assert [len(before) for before in names[:3]] == [0, 1, 1]
    assert len(names) == 4


def test_a_list_of_models_is_a_fan_out_and_each_keeps_to_it() -> None:
    found = drafted(
        "Load a.csv, train xgboost, lightgbm and catboost in parallel, evaluate each, then pick the best by AUC"
    )

    each = task(found, "each_model").each
    assert each is not None
    assert each.items == x.Literal(["xgboost", "lightgbm", "catboost"])
    assert order(found)["evaluate"] == {"train"}
    assert order(found)["pick_best"] == {"each_model"}


def test_two_branches_exclude_each_other() -> None:
    found = drafted("Train on a.csv, evaluate; if the accuracy is above 0.9 deploy the model, otherwise open a ticket.")

    score = x.TaskOutput("evaluate", "result")
    assert task(found, "deploy_model").when == x.Compare(">", score, x.Literal(0.9))
    assert task(found, "open_ticket").when == x.Compare("<=", score, x.Literal(0.9))


def test_verbs_alone_in_a_list_are_steps_beside_each_other() -> None:
    found = drafted("lint, test and build in parallel, then publish the package")

    assert order(found) == {"lint": set(), "test": set(), "build": set(), "publish_package": {"lint", "test", "build"}}


def test_a_condition_that_is_said_before_its_steps_waits_for_them() -> None:
    found = drafted("Deploy the model if the accuracy is above 0.8. Train on x.csv and evaluate.")

    assert task(found, "deploy_model").when == x.Compare(">", x.TaskOutput("evaluate", "result"), x.Literal(0.8))


def test_what_is_said_to_come_before_does() -> None:
    found = drafted(
        "After the model has been trained it is to be evaluated. The data is loaded from a.csv and cleaned before."
    )

    assert [len(before) for before in order(found).values()] == [0, 1, 1, 2]


def test_until_makes_a_loop_with_the_limit_that_is_said() -> None:
    found = drafted("Keep training on data.parquet until the accuracy is at least 0.95, but at most 10 rounds.")

    [loop] = [each.body for each in found.templates if isinstance(each.body, Loop)]
    assert loop.max_iterations == 10
    assert loop.until == x.Compare(">=", x.Own("accuracy"), x.Literal(0.95))


def test_policies_stand_where_they_are_said() -> None:
    found = drafted(
        "Every night at 3 Berlin time download https://x.org/a.zip, retry 5 times with 30 seconds between attempts, "
        "then train with 2 GPUs and 16 GB of memory. Email ops@x.org if anything fails."
    )

    assert found.schedule == Schedule(("0 3 * * *",), "Europe/Berlin")
    retry = template(found, "download").retry
    assert retry is not None
    assert (retry.limit, retry.backoff.duration if retry.backoff else None) == (5, 30.0)
    assert "nvidia.com/gpu" in str(template(found, "train").body)
    assert [handler.on for handler in found.handlers] == ["failure"]


def test_a_command_is_run_only_where_it_is_quoted() -> None:
    draft = ask("Build the docs with `mkdocs build`, then run pytest")

    assert draft.commands == ("mkdocs build",)
    assert draft.workflow is not None
    assert [each.body.source for each in draft.workflow.templates if isinstance(each.body, Script)] == ["mkdocs build"]


def test_numbers_with_a_name_are_arguments_and_parameters_have_defaults() -> None:
    found = drafted("Train on a.csv for 20 epochs. Make the learning rate a parameter with default 0.01.")

    assert [(each.name, each.default) for each in found.parameters] == [("learning_rate", 0.01)]
    given = {each.name: each.value for each in task(found, "train").arguments}
    assert given["epochs"] == x.Literal(20)
    assert given["learning_rate"] == x.WorkflowParameter("learning_rate")


def test_what_is_not_wanted_is_left_out() -> None:
    draft = ask("Load data.csv and clean it, but don't train anything yet; just write it to clean.parquet.")

    assert draft.workflow is not None
    assert not any("train" in name for name in order(draft.workflow))
    assert draft.assumptions == ("left out, as the text says: train anything yet",)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("I want to predict churn.", "data"),
        ("Train on a.csv, evaluate, deploy if it is good enough.", "threshold"),
        ("Train three models in parallel on train.csv and choose the best.", "items"),
        ("Train svm and forest on train.csv and choose the best.", "metric"),
        ("Load a.csv and train. Email me if it fails.", "notify"),
    ],
)
def test_what_matters_and_is_not_said_is_asked(text: str, about: str) -> None:
    assert about in [question.about for question in ask(text).questions]


@pytest.mark.parametrize("text", ["What's the weather like today?", "pipeline", "", "????", "Ön yargı böyle şeydir"])
def test_where_nothing_is_understood_there_is_a_question_and_no_workflow(text: str) -> None:
    draft = ask(text)

    assert draft.workflow is None
    assert draft.questions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A must run after B and B must run after A.", "wait for each other"),
        ("Make A and B run in parallel, and B strictly after A.", "contradicts"),
        ("Load a.csv and train, on Jenkins", "there is no engine 'jenkins'"),
    ],
)
def test_what_can_not_be_is_said(text: str, said: str) -> None:
    draft = ask(text)

    assert draft.workflow is None
    assert said in draft.impossible[0]


def test_words_that_nothing_was_made_of_are_said() -> None:
    draft = ask("Load data.csv, train, and hopefully everything sparkles.")

    assert draft.unused == ("hopefully", "everything", "sparkles")


def test_the_same_text_gives_the_same_bytes() -> None:
    text = "For each region in us, eu: load s3://b/sales, clean it. Then merge everything."
    first, second = ask(text), ask(text)

    assert isinstance(first, Draft)
    assert (first.source, first.explanation, first.unused) == (second.source, second.explanation, second.unused)
