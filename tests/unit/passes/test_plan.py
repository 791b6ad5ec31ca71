"""What is known of a run before it starts, and which features a workflow uses."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from couler_py.backends.features import FEATURES
from couler_py.ir import expr as e
from couler_py.ir.model import (
    After,
    Argument,
    Cache,
    DistributedJob,
    Each,
    External,
    Graph,
    Handler,
    Inputs,
    Loop,
    Mutex,
    OutputParameter,
    Outputs,
    Parameter,
    RetryPolicy,
    Schedule,
    Sequence,
    Source,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, Resources
from couler_py.passes.features import used
from couler_py.passes.plan import Count, plan

WORK = Template("work", Container("alpine", resources=Resources(cpu="1")), Inputs((Parameter("x", default=""),)))


def workflow(*tasks: Task, templates: tuple[Template, ...] = (), handlers: tuple[Handler, ...] = ()) -> Workflow:
    return Workflow("flow", "main", (Template("main", Graph(tasks)), WORK, *templates), handlers=handlers)


def pods(*tasks: Task, templates: tuple[Template, ...] = (), handlers: tuple[Handler, ...] = ()) -> Count:
    return plan(workflow(*tasks, templates=templates, handlers=handlers)).pods


def test_levels_are_what_can_run_at_once() -> None:
    made = plan(workflow(Task("a", "work"), Task("b", "work"), Task("c", "work", after=(After("a"), After("b")))))
    assert made.levels == (("a", "b"), ("c",))
    assert made.width == 2


def test_what_runs_at_once_counts_items_and_nested_graphs_within_what_is_bounded() -> None:
    three, bounded = e.Literal([1, 2, 3]), Each(e.Literal([1, 2, 3, 4]), parallel=2)
    inner = Template("inner", Graph((Task("x", "work", each=Each(three)), Task("y", "work", after=(After("x"),)))))
    flow = workflow(Task("a", "inner"), Task("b", "work", each=bounded), Task("c", "work"), templates=(inner,))
    assert plan(flow).width == 3 + 2 + 1
    assert plan(replace(flow, parallelism=4)).width == 4
    listed = Task("a", "work", each=Each(e.TaskOutput("b", "v"), max_items=40))
    assert plan(workflow(Task("b", "work"), listed)).width == 40
    assert plan(workflow(Task("a", "main"))).width is None


def test_the_critical_path_goes_through_nested_graphs() -> None:
    inner = Template("inner", Graph((Task("x", "work"), Task("y", "work", after=(After("x"),)))))
    made = plan(workflow(Task("a", "inner"), Task("b", "work"), Task("c", "work", after=(After("a"), After("b"))),
                         templates=(inner,)))  # fmt: skip
    assert made.critical_path == ("a/x", "a/y", "c")


def test_what_reads_a_value_that_may_be_skipped_may_be_no_pod() -> None:
    template = Template("made", Container("alpine"), outputs=Outputs((OutputParameter("v", path="/v"),)))
    a = Task("a", "made", when=e.WorkflowParameter("on"))
    reads = Task("b", "work", (Argument("x", e.TaskOutput("a", "v")),))
    waits = Task("b", "work", after=(After("a"),))
    assert pods(a, reads, templates=(template,)) == Count(0, 2)
    assert pods(a, waits, templates=(template,)) == Count(1, 2)


def test_every_task_of_a_program_is_a_pod() -> None:
    assert pods(Task("a", "work"), Task("b", "work")) == Count(2, 2)


def test_a_fan_out_multiplies() -> None:
    assert pods(Task("a", "work", each=Each(e.Literal([1, 2, 3])))) == Count(3, 3)
    assert pods(Task("a", "work", each=Each(Sequence(count=e.Literal(5))))) == Count(5, 5)


def test_of_a_fan_out_over_an_output_only_the_most_is_known() -> None:
    each = Each(e.TaskOutput("a", "result"), max_items=40)
    assert pods(Task("a", "work"), Task("b", "work", each=each)) == Count(1, 41)


def test_what_may_be_skipped_counts_from_zero() -> None:
    when = e.Compare("==", e.Literal(1), e.Literal(2))
    assert pods(Task("a", "work", when=when)) == Count(0, 1)
    assert pods(Task("a", "work"), Task("b", "work", after=(After("a", "on_failure"),))) == Count(1, 2)


def test_a_loop_counts_from_one_iteration_to_the_most() -> None:
    loop = Template("loop", Loop("work", e.Literal(True), max_iterations=9))
    assert pods(Task("a", "loop"), templates=(loop,)) == Count(1, 9)


def test_recursion_and_external_templates_have_no_greatest_number() -> None:
    assert pods(Task("a", "main")).most is None
    assert pods(Task("a", External("shared", "t"))) == Count(0, None)


def test_waiting_costs_no_pod_and_a_distributed_job_one_each_node() -> None:
    wait = Template("wait", Suspend())
    job = Template("job", DistributedJob("torch", Container("torch"), nodes=4))
    assert pods(Task("a", "wait"), Task("b", "job"), templates=(wait, job)) == Count(4, 4)


def test_handlers_count_and_those_of_one_outcome_may_not_run() -> None:
    handlers = (Handler("always", "work"), Handler("tell", "work", "failure"))
    assert pods(Task("a", "work"), handlers=handlers) == Count(2, 3)


def test_steps_show_what_they_ask_for() -> None:
    cached = Template("cached", Container("busybox"), retry=RetryPolicy(3), timeout=60.0, cache=Cache())
    made = plan(workflow(Task("a", "work"), Task("b", "cached"), templates=(cached,)))
    assert [(step.name, step.image, step.retries, step.timeout) for step in made.steps] == [
        ("work", "alpine", 0, None),
        ("cached", "busybox", 3, 60.0),
    ]
    assert made.cached == ("cached",)
    assert made.images == {"alpine": 1, "busybox": 1}


def test_a_count_reads_as_words() -> None:
    assert [str(Count(3, 3)), str(Count(1, 1000)), str(Count(2, None))] == ["3", "1 to 1,000", "2 or more"]


# ---- features


def test_features_have_the_names_of_the_support_tables() -> None:
    made = Workflow(
        "flow",
        "main",
        (
            Template(
                "main",
                Graph(
                    (
                        Task("a", "work", each=Each(e.Literal([1]), parallel=1, tolerate=1)),
                        Task("b", "work", (Argument("x", e.OrElse(e.TaskOutput("a", "result"), e.Literal(1))),)),
                        Task("c", External("x", "y"), after=(After("b", "always"),)),
                    ),
                    fail_fast=True,
                ),
            ),
            Template("locked", Suspend(), locks=(Mutex("m"),), retry=RetryPolicy(1, other_node=True)),
            WORK,
        ),
        schedule=Schedule(("0 3 * * *",)),
        handlers=(Handler("h", "work"),),
        deadline=5.0,
        parallelism=2,
    )
    found = set(used(made))
    assert found == {
        "graph", "container", "suspend", "resources", "each_literal", "each_parallel", "each_tolerate", "or_else",
        "fan_in", "edge_order", "edge_always", "external", "fail_fast", "mutex", "retry", "retry_other_node",
        "schedule", "handler", "deadline", "parallelism",
    }  # fmt: skip
    assert found <= set(FEATURES)


def test_a_feature_names_each_place_that_uses_it() -> None:
    when = e.Compare("==", e.Literal(1), e.Literal(1))
    tasks = [Task(f"t{line}", "work", when=when, source=Source("flow.py", line)) for line in (4, 7)]
    assert used(workflow(*tasks))["when"] == (Source("flow.py", 4), Source("flow.py", 7))


@pytest.mark.parametrize(
    ("items", "feature"),
    [
        (e.Literal([1, 2]), "each_literal"),
        (e.Record((), (e.Literal(1), e.NonFinite("NaN")), "list"), "each_literal"),
        (e.TaskOutput("a", "result"), "each_dynamic"),
        (e.TaskItems("a"), "each_dynamic"),
        (e.WorkflowParameter("names"), "each_dynamic"),
        (e.Input("names"), "each_dynamic"),
        (e.Record((), (e.Input("x"),), "list"), "each_dynamic"),
        (Sequence(count=e.Literal(3)), "each_sequence"),
    ],
)
def test_a_list_is_literal_only_where_no_run_is_needed_to_know_it(items: Any, feature: str) -> None:
    made = workflow(Task("a", "work", each=Each(e.Literal([1]))), Task("b", "work", each=Each(items)))
    assert {name for name in used(made) if name.startswith("each_")} == {"each_literal", feature}


def test_the_items_of_a_fan_out_are_a_fan_in() -> None:
    made = workflow(Task("a", "work", each=Each(e.Literal([1]))), Task("b", "work", (Argument("x", e.TaskItems("a")),)))
    assert "fan_in" in used(made)
