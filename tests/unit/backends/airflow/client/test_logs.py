"""The lines of steps among those of Airflow's own."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.airflow.client.logs import lines, text_of
from tests.unit.backends.airflow.client.test_tree import BLOCK, OK, instance


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"event": "hello", "logger": "task.stdout", "level": "info"}, "hello"),
        ({"event": "", "logger": "task.stderr", "level": "error"}, ""),
        ({"event": "[base] from a pod", "logger": "airflow.providers.x.PodManager", "level": "info"}, "from a pod"),
        ("a log that isn't JSON\n", "a log that isn't JSON"),
        ({"event": "::group::Pre Execute", "logger": "task", "level": "info"}, None),
        ({"event": "Done. Returned value was: 1", "logger": "airflow.task.operators", "level": "info"}, None),
        ({"event": "late", "logger": "task", "level": "warning"}, "late"),
        (
            {
                "event": "Task failed with exception",
                "level": "error",
                "error_detail": [{"exc_type": "StepFailed", "exc_value": "exit code 1"}],
            },
            "Task failed with exception: StepFailed: exit code 1",
        ),
    ],
)
def test_what_the_step_wrote_and_what_went_wrong(entry: Any, text: str | None) -> None:
    assert text_of(entry) == text


class Says:
    """What a server says of a run at each look: the run's state, the state of its task, and the task's log."""

    def __init__(self, *looks: tuple[str, str, list[str]]):
        self.looks = list(looks)

    def run(self, dag: str, run: str) -> dict[str, Any]:
        return {"dag_id": dag, "dag_run_id": run, "state": self.looks[0][0]}

    def instances(self, dag: str, run: str) -> list[dict[str, Any]]:
        return [instance("say", self.looks[0][1]) | {"try_number": 1}]

    def log(self, told: dict[str, Any], attempt: int) -> list[Any]:
        return [{"event": line, "logger": "task.stdout"} for line in self.looks[0][2]]

    def later(self, seconds: float) -> None:
        self.looks.pop(0)


def followed(says: Says) -> list[str]:
    return [line.text for line in lines(says, "d", "r", None, follow=True, sleep=says.later)]  # type: ignore[arg-type]


def test_a_task_that_was_left_out_is_followed_when_it_runs_after_all() -> None:
    says = Says(("queued", BLOCK, []), ("running", "running", []), ("success", OK, ["mended"]))
    assert followed(says) == ["mended"]


def test_lines_that_were_given_are_not_given_again() -> None:
    says = Says(("running", "running", ["one"]), ("running", OK, ["one", "two"]), ("success", OK, ["one", "two"]))
    assert followed(says) == ["one", "two"]
