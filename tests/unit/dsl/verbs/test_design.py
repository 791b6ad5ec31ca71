"""What was wrong in Couler across its whole API (peers, 1.3), each named for what is right here."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.building import build
from couler_py.dsl.verbs.state import implicit
from couler_py.ir import expr as ir
from couler_py.ir import from_json, to_json
from couler_py.ir.names import legal
from tests.unit.dsl.verbs.programs import arguments, built, flip_coin, order, say, tasks, template_of, write

PROGRAM = """
import couler_py.argo as couler
from couler_py.dsl.building import build
from couler_py.ir import to_json

def flip():
    return couler.run_script("python:3.11", source="print('heads')")

couler.config_workflow(name="flow", user_id="me")
{comment}
result = flip()
either = couler.equal(result, "heads") | couler.equal(result, "x")
couler.when(either, lambda: couler.run_container("a", env={{"B": 1, "A": 2}}))
couler.map(lambda x: couler.run_container("a", args=[x, {{"k": 1}}]), [1, 2])
print(to_json(build(None)))
"""


def output_of(program: str, tmp_path: Path, seed: str) -> str:
    file = tmp_path / "flow.py"
    file.write_text(program)
    found = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


# ---- 1. quoting by accident


def test_values_keep_their_types_and_have_no_quotes_of_ours() -> None:
    couler.run_container("a", args=[True, 1, "x"], env={"FLAG": True}, step_name="typed")
    workflow = built()
    assert arguments(tasks(workflow)["typed"]) == {
        "para-0": ir.Literal(True),
        "para-1": ir.Literal(1),
        "para-2": ir.Literal("x"),
    }
    assert template_of(workflow, "typed").body.args[2] == ir.Text((ir.Input("para-2"),))  # type: ignore[union-attr]


# ---- 2. line numbers and frames as identity


def test_a_comment_changes_no_name(tmp_path: Path) -> None:
    def templates(comment: str) -> list[str]:
        text = output_of(PROGRAM.format(comment=comment), tmp_path, "0")
        return [template.name for template in from_json(text).templates]  # type: ignore[union-attr]

    assert templates("") == templates("# one\n# two")


def test_the_same_program_gives_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    program = PROGRAM.format(comment="")
    assert output_of(program, tmp_path, "1") == output_of(program, tmp_path, "2")


# ---- 3. global mutable state


def test_an_exception_leaves_no_state_behind() -> None:
    def broken() -> None:
        say(name="lost")
        raise ValueError("no")

    couler.set_dependencies(lambda: say(name="A"))
    attempts: list[Any] = [
        lambda: couler.when(couler.equal(flip_coin(), "heads"), broken),
        lambda: couler.map(lambda _: broken(), [1]),
        lambda: couler.exec_while(couler.equal("x"), broken),
        lambda: couler.set_exit_handler(couler.WFStatus.Failed, broken),
    ]
    for attempt in attempts:
        with pytest.raises(ValueError, match="no"):
            attempt()
    say(name="after")
    found = tasks()
    assert list(found) == ["A", "flip_coin", "after"]
    assert (found["after"].when, found["after"].each, built().handlers) == (None, None, ())


def test_threads_have_workflows_of_their_own() -> None:
    found: dict[str, list[str]] = {}
    barrier = threading.Barrier(2)

    def record(name: str) -> None:
        say(name=f"{name}1")
        barrier.wait()
        say(name=f"{name}2")
        found[name] = list(tasks(build(None)))

    threads = [threading.Thread(target=record, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"a": ["a1", "a2"], "b": ["b1", "b2"]}


def test_reset_begins_a_new_workflow() -> None:
    say(name="one")
    couler.reset()
    assert implicit() is None
    say(name="two")
    assert list(tasks()) == ["two"]


def test_two_workflows_do_not_share_names() -> None:
    say(name="A")
    couler.config_workflow(name="first")
    couler.reset()
    say(name="A")
    workflow = built()
    assert list(tasks(workflow)) == ["A"]
    assert workflow.name != "first"


# ---- 4. names


@pytest.mark.parametrize("name", ["Hello World!", "a_b.c", "in", "x" * 300, "-", "{{x}}"])
def test_every_name_is_legal_and_none_is_lost(name: str) -> None:
    say(name=name)
    say("other", name=name)
    workflow = built()
    found = tasks(workflow)
    assert len(found) == 2
    assert all(legal("ir", "task", task) for task in found)
    assert all(legal("ir", "template", template.name) for template in workflow.templates)


def test_the_same_step_name_with_another_content_is_another_template() -> None:
    couler.run_container("one", step_name="A")
    couler.run_container("two", step_name="A")
    workflow = built()
    assert {task.name: task.call for task in tasks(workflow).values()} == {"A": "A", "A-2": "A-2"}


# ---- 6. cost


def test_each_step_of_a_long_chain_waits_for_the_one_before_alone() -> None:
    for _ in range(300):
        say("x", name="step")
    found = order()
    assert sum(len(edges) for edges in found.values()) == 299


# ---- the order of programs


def test_steps_run_in_program_order() -> None:
    write(name="a")
    say(name="b")
    couler.run_script("a", source="print(1)", step_name="c")
    couler.run_job({"apiVersion": "v1", "kind": "Pod"}, "", "", step_name="d")
    assert order() == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"]}


def test_the_ir_of_a_whole_program_survives_json() -> None:
    result = flip_coin()
    couler.when(couler.equal(result, "heads"), lambda: say(name="heads"))
    couler.concurrent([lambda: say(name="x"), lambda: say(name="y")])
    text = to_json(built())
    assert textwrap.dedent(text) == text
