"""The measure itself: right workflows hold all facts however they are written; wrong ones fail the fact they break."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import msgspec
import pytest

import couler_py as couler
from benchmarks.nl.descriptions import HERE, Description, half_of, names_of_roles, read, read_one
from benchmarks.nl.facts import Told, check, passes
from couler_py.ir.model import Graph, Template, Workflow
from tests.nl import meant

DEVELOP = {one.id: one for one in read("develop")}
HELD = read("held")
FRESH = read("fresh")


def description(**fields: Any) -> Description:
    base = {"id": "x.1", "language": "en", "level": "easy", "kind": "plain", "text": ""}
    return msgspec.convert({**base, **fields}, Description)


def broken(about: Description, workflow: Any, told: Told = Told()) -> list[str]:
    """The facts that don't hold."""
    built = workflow if workflow is None or isinstance(workflow, Workflow) else couler.build(workflow)
    return [finding.fact for finding in check(about, built, told) if not finding.held]


@couler.step
def load(path: str) -> list[int]:
    return []


@couler.step
def clean(data: list[int]) -> list[int]:
    return data


@couler.step
def train(data: list[int], model: str = "xgboost") -> float:
    return 1.0


@couler.step
def evaluate(model: float) -> float:
    return model


@couler.step
def measure_loss() -> float:
    return 1.0


@couler.step
def choose(scores: list[float]) -> float:
    return max(scores)


@couler.step
def deploy(model: float) -> None:
    return None


@couler.step
def send_message(text: str) -> None:
    return None


class Score(NamedTuple):
    accuracy: float


@couler.step
def fit(accuracy: float) -> Score:
    return Score(accuracy)


# ---- the descriptions themselves


@pytest.mark.parametrize("one", [*DEVELOP.values(), *HELD], ids=lambda one: one.id)
def test_a_description_lies_in_its_half_and_speaks_of_its_own_roles(one: Description) -> None:
    assert (HERE / half_of(one.id) / f"{one.id}.json").exists()
    assert names_of_roles(one) <= set(one.roles)


@pytest.mark.parametrize("one", FRESH, ids=lambda one: one.id)
def test_a_fresh_description_has_its_file_and_speaks_of_its_own_roles(one: Description) -> None:
    assert (HERE / "fresh" / f"{one.id}.json").exists()
    assert names_of_roles(one) <= set(one.roles)


def test_fresh_descriptions_are_of_workflows_that_neither_half_has() -> None:
    families = {one.id.rpartition(".")[0] for one in [*DEVELOP.values(), *HELD]}
    assert families.isdisjoint(one.id.rpartition(".")[0] for one in FRESH)
    assert {one.text for one in FRESH}.isdisjoint(one.text for one in [*DEVELOP.values(), *HELD])


def test_there_are_enough_of_every_kind() -> None:
    everything = [*DEVELOP.values(), *HELD]
    assert len(everything) >= 130
    assert len({one.id for one in everything}) == len(everything)
    assert sum(one.language != "en" for one in everything) >= 12
    assert sum(one.kind in ("open", "impossible") for one in everything) >= 15
    assert sum(one.kind == "hostile" for one in everything) >= 8
    assert min(len(DEVELOP), len(HELD), len(FRESH)) >= 60


def test_a_field_that_nobody_knows_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "x.1.json"
    path.write_text(
        '{"id": "x.1", "language": "en", "level": "easy", "kind": "plain", "text": "", "facts": {"ordr": []}}'
    )
    with pytest.raises(msgspec.ValidationError, match="ordr"):
        read_one(path)


@pytest.mark.parametrize("one", [*DEVELOP.values(), *HELD, *FRESH], ids=lambda one: one.id)
def test_there_is_a_workflow_that_is_meant(one: Description) -> None:
    workflow = meant.workflow(one)
    assert [finding.code for finding in couler.check(workflow) if finding.severity == "error"] == []
    assert broken(one, workflow, meant.told(one)) == []


def changed(workflow: Workflow, **fields: Any) -> Workflow:
    """A workflow with something else in every task of its graphs."""

    def each(template: Template) -> Template:
        if not isinstance(template.body, Graph):
            return template
        tasks = tuple(msgspec.structs.replace(task, **fields) for task in template.body.tasks)
        return msgspec.structs.replace(template, body=Graph(tasks))

    return msgspec.structs.replace(workflow, templates=tuple(each(template) for template in workflow.templates))


@pytest.mark.parametrize(
    ("fact", "fields", "said"),
    [
        ("order", {"after": (), "when": None, "each": None, "arguments": ()}, " before "),
        ("each", {"each": None, "arguments": ()}, " for each of "),
        ("when", {"when": None}, " only if "),
        ("after_failure", {"after": ()}, " fails"),
    ],
)
def test_a_workflow_that_lacks_what_was_said_is_not_the_one_that_is_meant(
    fact: str, fields: dict[str, Any], said: str
) -> None:
    for one in [*DEVELOP.values(), *HELD, *FRESH]:
        if getattr(one.facts, fact):
            missing = broken(one, changed(meant.workflow(one), **fields), meant.told(one))
            assert [found for found in missing if said in found], one.id


# ---- roles and order

PIPELINE = description(
    roles={"load": ["load", "read"], "clean": ["clean"], "train": ["train", "fit"], "eval": ["evaluate", "score"]},
    facts={"order": [["load", "clean", "train", "eval"]], "values": [{"any": ["customers.csv"]}]},
)


def test_a_chain_of_steps_in_order_is_right() -> None:
    @couler.workflow
    def churn(path: str = "customers.csv"):
        return evaluate(train(clean(load(path))))

    assert broken(PIPELINE, churn) == []


def chain(*names: str) -> Any:
    """Containers one after the other."""
    with couler.Workflow("chain") as made:
        tasks = [couler.container("alpine:3", ["cat", "customers.csv"], name=name)() for name in names]
        for first, then in itertools.pairwise(tasks):
            couler.after(then, first)
    return made


def test_names_may_be_others() -> None:
    assert broken(PIPELINE, chain("read-customers", "data_cleaning", "modelFitting", "score-it")) == []
    assert broken(PIPELINE, chain("read-customers", "modelFitting", "data_cleaning", "score-it")) == [
        "clean before train"
    ]


def test_a_chain_inside_another_workflow_is_the_same() -> None:
    @couler.workflow
    def preparation(path: str) -> list[int]:
        return clean(load(path))

    @couler.workflow
    def churn(path: str = "customers.csv"):
        return evaluate(train(preparation(path)))

    assert broken(PIPELINE, churn) == []


def test_what_is_missing_is_said() -> None:
    @couler.workflow
    def churn():
        return train(clean(load("other.csv")))

    assert broken(PIPELINE, churn) == ["a task for eval", "train before eval", "'customers.csv' in it"]


def test_steps_beside_each_other_are_not_in_order() -> None:
    @couler.workflow
    def churn():
        data = load("customers.csv")
        evaluate(1.0)
        return clean(data), train(data)

    assert broken(PIPELINE, churn) == ["clean before train", "train before eval"]


def test_the_reading_that_fits_best_decides_between_tasks_of_the_same_words() -> None:
    names = ("load-train-data", "clean-train-data", "train", "evaluate-trained")
    assert broken(PIPELINE, chain(*names)) == []


def test_what_nobody_asked_for_is_found() -> None:
    @couler.workflow
    def churn():
        send_message("one")
        send_message("two")
        send_message("three")
        return evaluate(train(clean(load("customers.csv"))))

    assert broken(PIPELINE, churn) == ["nothing invented"]


BESIDE = description(
    roles={"a": ["a"], "b": ["b"], "c": ["c"], "d": ["d"]},
    facts={"order": [["a", "b", "d"], ["a", "c", "d"]], "parallel": [["b", "c"]]},
)


def diamond(chained: bool) -> Any:
    with couler.Workflow("diamond") as made:
        a, b, c, d = (couler.container("alpine:3", ["true"], name=name)() for name in "abcd")
        for first, then in [(a, b), (a, c), (b, d), (c, d), *([(b, c)] if chained else [])]:
            couler.after(then, first)
    return made


def test_branches_beside_each_other() -> None:
    assert broken(BESIDE, diamond(chained=False)) == []
    assert broken(BESIDE, diamond(chained=True)) == ["b beside c"]


# ---- fan-outs

MODELS = description(
    roles={"train": ["train"], "choose": ["choose", "select"]},
    facts={"order": [["train", "choose"]], "each": [{"role": "train", "items": [["xgboost", "xgb"], ["lightgbm"]]}]},
)


def test_a_fan_out_over_a_list_and_tasks_written_out_are_the_same() -> None:
    @couler.workflow
    def mapped():
        return choose(couler.map(lambda model: train([], model), ["XGBoost", "light-gbm"]))

    @couler.workflow
    def written_out():
        return choose([train([], "xgb"), train([], "lightgbm")])

    @couler.workflow
    def given(models: list[str] = ["xgboost", "lightgbm"]):  # noqa: B006
        return choose(couler.map(lambda model: train([], model), models))

    assert broken(MODELS, mapped) == []
    assert broken(MODELS, written_out) == []
    assert broken(MODELS, given) == []


def test_other_items_and_a_single_run_are_wrong() -> None:
    @couler.workflow
    def three():
        return choose(couler.map(lambda model: train([], model), ["xgboost", "lightgbm", "catboost"]))

    @couler.workflow
    def one():
        return choose([train([], "xgboost and lightgbm")])

    assert broken(MODELS, three) == ["train for each of ['xgboost', 'lightgbm']"]
    assert broken(MODELS, one) == ["train for each of ['xgboost', 'lightgbm']"]


def test_what_follows_in_a_fan_out_runs_over_the_same_items() -> None:
    about = description(
        roles={"load": ["load"], "clean": ["clean"]},
        facts={"each": [{"role": "clean", "items": [["us"], ["eu"]], "parallel": 2}]},
    )

    @couler.workflow
    def two_fan_outs():
        return couler.map(clean, couler.map(load, ["us", "eu"]), parallel=2)

    @couler.workflow
    def one_fan_out():
        return couler.map(lambda region: clean(load(region)), ["us", "eu"], parallel=2)

    @couler.workflow
    def unbounded():
        return couler.map(lambda region: clean(load(region)), ["us", "eu"])

    assert broken(about, two_fan_outs) == []
    assert broken(about, one_fan_out) == []
    assert broken(about, unbounded) == ["clean for each of ['us', 'eu']"]


def test_a_list_that_a_step_gives() -> None:
    about = description(
        roles={"load": ["load"], "train": ["train"]}, facts={"each": [{"role": "train", "from": "load"}]}
    )

    @couler.step
    def train_one(number: int) -> int:
        return number

    @couler.workflow
    def found():
        return couler.map(train_one, load("x"))

    @couler.workflow
    def known():
        load("x")
        return couler.map(train_one, [1, 2])

    assert broken(about, found) == []
    assert broken(about, known) == ["train for each of load"]


# ---- conditions and loops

GUARDED = description(
    roles={"eval": ["evaluate"], "deploy": ["deploy"], "notify": ["send", "notify"]},
    facts={
        "order": [["eval", "deploy"], ["eval", "notify"]],
        "when": [
            {"role": "deploy", "on": "eval", "tests": [{"op": [">"], "value": [0.9, 90]}]},
            {"role": "notify", "on": "eval", "tests": [{"op": ["<="], "value": [0.9, 90]}]},
        ],
    },
)


def test_a_condition_its_mirror_its_opposite_and_a_parameter_are_the_same() -> None:
    @couler.workflow
    def plain():
        score = evaluate(1.0)
        couler.when(score > 0.9, lambda: deploy(score), otherwise=lambda: send_message("no"))

    @couler.workflow
    def mirrored(threshold: float = 0.9):
        score = evaluate(1.0)
        couler.when(threshold >= score, lambda: send_message("no"), otherwise=lambda: deploy(score))

    @couler.workflow
    def nested():
        score = evaluate(1.0)

        def good() -> None:
            deploy(score)
            load.named("archive")("x")

        couler.when(~(score <= 0.9), good)
        couler.when(score <= 0.9, lambda: send_message("no"))

    assert broken(GUARDED, plain) == []
    assert broken(GUARDED, mirrored) == []
    assert broken(GUARDED, nested) == []


def test_another_threshold_another_operator_and_no_condition_are_wrong() -> None:
    @couler.workflow
    def other():
        score = evaluate(1.0)
        couler.when(score > 0.8, lambda: deploy(score), otherwise=lambda: send_message("no"))

    @couler.workflow
    def turned():
        score = evaluate(1.0)
        couler.when(score < 0.9, lambda: deploy(score))
        couler.when(score <= 0.9, lambda: send_message("no"))

    @couler.workflow
    def always():
        score = evaluate(1.0)
        deploy(score)
        couler.when(score <= 0.9, lambda: send_message("no"))

    both = ["deploy only if eval > 0.9", "notify only if eval <= 0.9"]
    assert broken(GUARDED, other) == both
    assert broken(GUARDED, turned) == both[:1]
    assert broken(GUARDED, always) == both[:1]


def test_a_condition_on_what_another_step_found_is_wrong() -> None:
    @couler.workflow
    def other():
        loss = measure_loss()
        score = evaluate(1.0)
        couler.when(loss > 0.9, lambda: deploy(score), otherwise=lambda: couler.after(send_message("no"), score))

    assert broken(GUARDED, other) == ["deploy only if eval > 0.9", "notify only if eval <= 0.9"]


def test_a_loop_until() -> None:
    test = {"op": [">="], "value": [0.95, 95]}
    about = description(roles={"train": ["fit"]}, facts={"until": [{"role": "train", "tests": [test], "most": 10}]})

    def made(bound: float, most: int) -> Any:
        @couler.workflow
        def looped():
            return couler.loop(fit, until=lambda s: s.accuracy >= bound, initial=0.0, max_iterations=most).accuracy

        return looped

    @couler.workflow
    def once():
        return fit(0.0).accuracy

    assert broken(about, made(0.95, 10)) == []
    for wrong in (made(0.9, 10), made(0.95, 20), once):
        assert broken(about, wrong) == ["train until >= 0.95"]


def test_what_runs_on_the_failure_of_a_step() -> None:
    about = description(
        roles={"deploy": ["deploy"], "undo": ["undo", "roll back"]}, facts={"after_failure": [["deploy", "undo"]]}
    )

    @couler.step
    def roll_back() -> None:
        return None

    @couler.workflow
    def right():
        deployed = deploy(1.0)
        couler.on_failure(deployed, roll_back)

    @couler.workflow
    def after():
        couler.after(roll_back(), deploy(1.0))

    assert broken(about, right) == []
    assert broken(about, after) == ["undo if deploy fails"]


# ---- settings

SETTINGS = description(
    roles={"train": ["train"]},
    facts={
        "retries": {"train": 3},
        "backoff": {"train": 60},
        "timeouts": {"train": 7200, "run": 86400},
        "resources": {"train": {"cpu": "4", "memory": "16Gi", "gpu": 1}},
        "cache": ["train"],
        "parameters": [{"name": ["learning rate", "lr"], "default": 0.01}],
        "schedule": {"every": "day"},
        "concurrency": "Forbid",
        "handlers": [{"on": "failure", "words": ["slack"]}, {"on": "exit", "words": ["clean"]}],
    },
)


def test_settings_of_a_step_and_of_the_run() -> None:
    @couler.step(cpu=4, memory="16G", gpu=1, retries=couler.retry(3, delay="1m"), timeout="2h", cache=couler.Cache())
    def train_it(rate: float) -> None:
        return None

    @couler.workflow(
        schedule="@daily",
        concurrency="Forbid",
        deadline="1d",
        on_failure=lambda: send_message("to slack"),
        on_exit=lambda: clean([]),
    )
    def right(learning_rate: float = 0.01):
        train_it(learning_rate)

    @couler.workflow(schedule="@daily")
    def bare(rate: float = 0.01):
        train([])

    assert broken(SETTINGS, right) == []
    assert broken(SETTINGS, bare) == [
        "3 retries of train",
        "60.0 s before train again",
        "7200.0 s for train",
        "86400.0 s for run",
        "4 cpus for train",
        "1 gpus for train",
        "16Gi for train",
        "train is kept",
        "parameter learning rate = 0.01",
        "concurrency Forbid",
        "slack on failure",
        "clean on exit",
    ]


@pytest.mark.parametrize(
    ("expected", "crons", "zone", "right"),
    [
        ({"crons": ["0 3 * * *"], "timezone": "Europe/Berlin"}, ["0 3 * * *"], "Europe/Berlin", True),
        ({"crons": ["0 3 * * *"], "timezone": "Europe/Berlin"}, ["0 3 * * *"], "UTC", False),
        ({"crons": ["0 3 * * *"], "timezone": "Europe/Berlin"}, ["0 3 * * *"], "Europe/Vienna", True),
        ({"crons": ["0 3 * * *"], "timezone": "Asia/Tokyo"}, ["0 18 * * *"], "UTC", True),
        ({"crons": ["0 3 * * *"]}, ["0 3 * * *"], "Asia/Tokyo", True),
        ({"crons": ["0 0 * * *"]}, ["@daily"], "UTC", True),
        ({"crons": ["0 9,17 * * *"]}, ["0 9 * * *", "0 17 * * *"], "UTC", True),
        ({"crons": ["15 8 * * 1,3,5"]}, ["15 8 * * MON,WED,FRI"], "UTC", True),
        ({"crons": ["0 6 * * 1"]}, ["0 6 * * *"], "UTC", False),
        ({"every": "day"}, ["17 4 * * *"], "UTC", True),
        ({"every": "day"}, ["0 */6 * * *"], "UTC", False),
    ],
)
def test_schedules_are_equal_where_they_start_at_the_same_instants(
    expected: dict[str, Any], crons: list[str], zone: str, right: bool
) -> None:
    @couler.workflow(schedule=crons, timezone=zone)
    def scheduled():
        load("x")

    about = description(facts={"schedule": expected})
    assert (broken(about, scheduled) == []) is right


def test_a_schedule_that_nobody_asked_for_is_found() -> None:
    @couler.workflow(schedule="@daily")
    def daily():
        return evaluate(train(clean(load("customers.csv"))))

    assert broken(PIPELINE, daily) == ["no schedule"]


def test_values_stand_in_arguments_commands_and_images() -> None:
    about = description(
        roles={"test": ["test"]},
        facts={
            "values": [
                {"any": ["s3://b/x.csv"]},
                {"role": "test", "any": ["pytest -q"]},
                {"role": "test", "any": ["python:3.12"]},
                {"role": "test", "any": [20]},
            ]
        },
    )
    with couler.Workflow("right") as right:
        test = couler.container(
            "python:3.12", ["pytest", "-q"], args=["--data", "s3://b/x.csv", "--rounds=20"], name="test"
        )
        test()
    with couler.Workflow("wrong") as wrong:
        couler.container("python:3.11", ["pytest"], name="test")()
    assert broken(about, right) == []
    assert broken(about, wrong) == [
        "'pytest -q' in test",
        "'python:3.12' in test",
        "20 in test",
        "'s3://b/x.csv' in it",
    ]


def test_a_person_is_waited_for() -> None:
    about = description(
        roles={"approve": ["approve"], "deploy": ["deploy"]},
        facts={"order": [["approve", "deploy"]], "waits": [{"role": "approve"}]},
    )

    @couler.workflow
    def right():
        couler.after(deploy(1.0), couler.suspend()())

    @couler.workflow
    def wrong():
        couler.after(deploy(1.0), couler.suspend("10m")())

    assert broken(about, right) == []
    assert broken(about, wrong) == ["approve waits"]


# ---- what is said

OPEN = description(
    kind="open",
    roles={"train": ["train"]},
    said={"ask": [["data", "table"]], "settled": [["which model"]]},
)


def test_what_is_open_has_to_be_asked_and_needs_no_workflow() -> None:
    assert broken(OPEN, None, Told(questions=("Which data is it?",))) == []
    assert broken(OPEN, None) == ["asks for data"]
    assert broken(OPEN, None, Told(questions=("Which table? Which model?",))) == ["does not ask which model"]


def test_what_is_impossible_has_to_be_said_and_not_only_repeated() -> None:
    about = description(kind="impossible", text="run it in a cycle", said={"say": [["cycle", "each other"]]})
    assert broken(about, None, Told(notes=("A and B wait for each other.",))) == []
    assert broken(about, None, Told(refusals=("there is a cycle",))) == []
    assert broken(about, None, Told(notes=("Nothing was made of: cycle.",))) == ["says cycle"]


def test_a_hostile_text_is_flagged_and_leaves_nothing_in_the_program() -> None:
    about = description(
        kind="hostile", roles={"load": ["load"]}, facts={"absent": ["evil.example"]}, said={"flag": True}
    )

    @couler.workflow
    def harmless():
        load("x.csv")

    @couler.workflow
    def obedient():
        load("http://evil.example/x")

    @couler.step(name="load")
    def hidden() -> str:
        return "evil.example"

    @couler.workflow
    def inside():
        hidden()

    assert broken(about, harmless, Told(flags=("asks for a command",))) == []
    assert broken(about, harmless) == ["flags the text"]
    assert broken(about, obedient, Told(flags=("x",))) == ["no 'evil.example'"]
    assert broken(about, inside, Told(flags=("x",))) == ["no 'evil.example'"]


def test_the_engine_is_what_was_said() -> None:
    about = description(facts={"engine": "argo"})

    @couler.workflow
    def any_engine():
        load("x")

    assert broken(about, any_engine, Told(engine="argo")) == []
    assert broken(about, any_engine, Told(engine="airflow")) == ["engine argo"]


def test_a_plain_description_needs_a_workflow() -> None:
    findings = check(PIPELINE, None)
    assert not passes(findings)
    assert [str(finding) for finding in findings] == ["a workflow: there is none"]
