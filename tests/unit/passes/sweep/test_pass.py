"""What is said of sweeps before they run."""

import couler_py as couler
from couler_py.passes.situation import Situation
from couler_py.passes.sweep import apply
from couler_py.passes.sweep.finding import sweeps


@couler.step
def learn(x: float) -> float:
    couler.log_metric("loss", x, 1)
    return x


X = {"x": couler.space.real(0, 1, points=5)}


@couler.workflow
def two():
    grid = couler.sweep(learn, X, "loss", "minimize", algorithm="grid", name="wide")
    found = couler.sweep(learn, X, "loss", "minimize", 20, 4, "asha", max_step=9)
    return grid.value, found.value


def test_each_sweep_is_told_and_none_is_changed():
    workflow = couler.build(two)
    outcome = apply(workflow, Situation())
    assert outcome.workflow is workflow
    assert [(note.place, note.what) for note in outcome.notes] == [
        ("two/wide-gather", "5 trials by grid, all known beforehand"),
        ("two/sweep-start", "20 trials by asha, in 5 rounds of up to 4; some end early, at 1, 3 steps"),
    ]
    assert {note.why for note in outcome.notes} == {"for the best loss (minimize)"}


def test_nothing_is_said_where_nobody_reads_it():
    assert apply(couler.build(two), Situation(explain=False)).notes == ()


def test_plans_are_read_back_from_a_workflow():
    grid, asha = (each.plan for each in sweeps(couler.build(two)))
    assert [point["x"] for point in grid.points] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert (asha.trials, asha.batch, asha.rungs, asha.space) == (20, 4, (1, 3), X)


def test_a_step_of_the_same_name_is_no_sweep():
    @couler.step
    def start(plan: dict[str, int]) -> int:
        return plan["a"]

    @couler.workflow
    def other():
        return start({"a": 1})

    assert list(sweeps(couler.build(other))) == []
