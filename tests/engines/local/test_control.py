"""Runs steered from outside: stop, resume, retry, approvals; several engines on one home; locks across runs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from couler_py.backends.base import Bundle, RunNotFoundError
from couler_py.backends.local import control, execute, execute_async, resume, retry, run_list, stop
from couler_py.backends.local.api import load
from couler_py.backends.local.client import LocalClient, status_of
from couler_py.backends.local.lifecycle import RunBusyError, prepare, run_to_end
from couler_py.backends.local.runs.taking_up import prepare_again
from couler_py.ir import Workflow, to_json
from couler_py.ir.expr import Literal, TaskOutput
from couler_py.ir.model import (
    After,
    Argument,
    Cache,
    Handler,
    Hook,
    Loop,
    Mutex,
    OutputParameter,
    Outputs,
    RetryPolicy,
    Semaphore,
    Suspend,
    Task,
    Template,
)
from couler_py.ir.types import INT, STR
from couler_py.store.database import StoreError
from couler_py.store.home import open_home
from couler_py.store.records import TaskRecord
from tests.engines.local.conftest import Drivers, integrity, processes_of
from tests.engines.local.flows import NOTHING, flow, graph, shell

ASK = Template("ask", Suspend(), outputs=Outputs((OutputParameter("answer", INT, supplied=True),)))


def asking() -> Workflow:
    return flow(ASK, graph(Task("ask", "ask"), outputs={"answer": TaskOutput("ask", "answer")}))


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_an_approval_from_another_process_gives_the_outputs(drivers: Drivers) -> None:
    driver = drivers.run(asking())
    driver.until(kind="run", status="Suspended")
    resume(driver.run, home=drivers.home, task="ask", outputs={"answer": 42})
    assert driver.finish()["outputs"] == {"answer": 42}


def test_an_approval_while_no_engine_runs_is_kept(drivers: Drivers) -> None:
    driver = drivers.run(asking())
    driver.until(kind="run", status="Suspended")
    driver.kill()
    record = resume(driver.run, home=drivers.home, task="ask", outputs={"answer": 7})
    assert (record.status, record.outputs) == ("Succeeded", {"answer": 7})


def test_who_takes_up_a_run_whose_engine_died_has_not_approved_what_it_waits_for(drivers: Drivers) -> None:
    driver = drivers.run(asking())
    driver.until(kind="run", status="Suspended")
    driver.kill()
    client = LocalClient(drivers.home)
    with pytest.raises(ValueError, match="'x' is not int"):
        client.resume(driver.run, outputs={"answer": "x"})
    client.resume(driver.run)
    assert next(each.status for each in client.watch(driver.run) if each.status != "Running") == "Suspended"
    client.resume(driver.run, outputs={"answer": 7})
    *_, last = client.watch(driver.run)
    assert (last.status, last.outputs) == ("Succeeded", {"answer": 7})


def test_a_run_whose_steps_outlive_its_engine_is_not_deleted(drivers: Drivers, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    driver = drivers.run(flow(shell("wait", f"cat {fifo}"), graph(Task("wait", "wait"))))
    driver.until(kind="id")
    client = LocalClient(drivers.home)
    with fifo.open("w"):  # open as soon as the step reads
        driver.kill()
        with pytest.raises(RunBusyError, match="still run without an engine"):
            client.delete(driver.run)
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"
    client.delete(driver.run)
    assert list(client.list()) == []


def test_a_wrong_approval_is_refused_at_once(drivers: Drivers) -> None:
    driver = drivers.run(asking())
    driver.until(kind="run", status="Suspended")
    with pytest.raises(ValueError, match="takes no output 'reply'; it takes answer"):
        resume(driver.run, home=drivers.home, task="ask", outputs={"reply": 1})
    with pytest.raises(ValueError, match="'x' is not int"):
        resume(driver.run, home=drivers.home, task="ask", outputs={"answer": "x"})


def test_stop_lets_running_steps_end_and_runs_exit_handlers(drivers: Drivers, tmp_path: Path) -> None:
    fifo, witness = tmp_path / "fifo", tmp_path / "witness"
    os.mkfifo(fifo)
    first = shell("first", f"cat {fifo}; echo first >> {witness}")
    second = shell("second", f"echo second >> {witness}")
    bye = shell("bye", f"echo bye >> {witness}")
    main = graph(Task("first", "first"), Task("second", "second", after=(After("first"),)))
    workflow = flow(first, second, bye, main, handlers=(Handler("bye", "bye"),))
    driver = drivers.run(workflow)
    driver.until(kind="attempt", path="first", state="Running")
    stop(driver.run, home=drivers.home)
    driver.until(kind="note", text="asked from outside: stop")
    fifo.write_text("go on")
    assert driver.finish()["status"] == "Stopped"
    assert lines(witness) == ["first", "bye"]
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"
    assert lines(witness) == ["first", "bye", "second", "bye"]


def test_who_stops_a_run_while_its_handlers_wait_can_resume_it(drivers: Drivers) -> None:
    ask = Template("ask", Suspend())
    driver = drivers.run(flow(NOTHING, ask, graph(Task("a", "nothing")), handlers=(Handler("ask", "ask"),)))
    driver.until(kind="task", path="!ask", state="Suspended")
    stop(driver.run, home=drivers.home)
    assert driver.finish()["status"] == "Stopped"
    again = drivers.resume(driver.run)
    again.until(kind="task", path="!ask", state="Suspended")
    resume(driver.run, home=drivers.home)
    assert again.finish()["status"] == "Succeeded"


def test_a_hook_that_runs_ends_with_its_task(drivers: Drivers) -> None:
    forever = shell("forever", "while true; do sleep 0.05; done")
    main = graph(Task("a", "forever", hooks=(Hook("beside", "forever", when=Literal(True)),)))
    driver = drivers.run(flow(forever, main))
    driver.until(kind="attempt", path="a!beside", state="Running")
    stop(driver.run, home=drivers.home, terminate=True)
    assert driver.finish()["status"] == "Stopped"
    assert processes_of(drivers.home) == {}


def test_terminate_ends_everything(drivers: Drivers, tmp_path: Path) -> None:
    main = graph(Task("wait", "wait"))
    driver = drivers.run(flow(shell("wait", "while true; do sleep 0.05; done"), main))
    driver.until(kind="attempt", path="wait", state="Running")
    stop(driver.run, home=drivers.home, terminate=True)
    assert driver.finish()["status"] == "Stopped"
    assert processes_of(drivers.home) == {}


def test_retry_runs_what_failed_and_keeps_what_succeeded(home: Path, tmp_path: Path) -> None:
    good, witness = tmp_path / "good", tmp_path / "witness"
    main = graph(
        Task("first", "first"),
        Task("second", "second", (Argument("x", TaskOutput("first", "result")),)),
        Task("third", "third", after=(After("second"),)),
    )
    workflow = flow(
        shell("first", f"echo first >> {witness}; echo 1", output=INT),
        shell("second", f"echo second >> {witness}; [ -e {good} ]", inputs=["x"]),
        shell("third", f"echo third >> {witness}"),
        main,
    )
    record = execute(workflow, home=home)
    assert {name: task.state for name, task in record.tasks.items() if name} == {
        "first": "Succeeded",
        "second": "Failed",
        "third": "Blocked",
    }
    good.touch()
    assert retry(record.id, home=home).status == "Succeeded"
    assert lines(witness) == ["first", "second", "second", "third"]


def test_resume_leaves_a_run_that_has_ended_as_it_is(home: Path) -> None:
    record = execute(flow(NOTHING, graph(Task("a", "nothing"))), home=home)
    assert resume(record.id, home=home).finished == record.finished


def test_a_run_has_one_engine(home: Path) -> None:
    prepared = prepare(flow(NOTHING, graph(Task("a", "nothing"))), home=home)
    with pytest.raises(RunBusyError):
        prepare_again(prepared.run.id, home=home)
    asyncio.run(prepared.drive())


def test_an_unknown_run_is_said(home: Path) -> None:
    with pytest.raises(RunNotFoundError, match="there is no run 'x'"):
        load("x", home=home)


def test_two_engines_work_on_one_home(drivers: Drivers) -> None:
    flows = [flow(shell("a", "echo 1", output=INT), graph(*(Task(f"t{n}", "a") for n in range(10)))) for _ in range(2)]
    started = [drivers.run(each) for each in flows]
    assert [each.finish()["status"] for each in started] == ["Succeeded", "Succeeded"]
    assert integrity(drivers.home) == "ok"
    assert len(run_list(home=drivers.home)) == 2


@pytest.mark.parametrize("locks", [(Mutex("one"),), (Semaphore("few", limit=1),)])
def test_a_lock_is_held_by_one_across_runs(
    locks: tuple[Mutex | Semaphore, ...], drivers: Drivers, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    alone = shell("alone", f"mkdir {place} && echo && rmdir {place}", locks=locks)
    flows = [flow(alone, graph(*(Task(f"t{n}", "alone") for n in range(4)))) for _ in range(2)]
    started = [drivers.run(each) for each in flows]
    assert [each.finish()["status"] for each in started] == ["Succeeded", "Succeeded"]


def test_a_lock_outlives_its_engine_with_the_step(drivers: Drivers, tmp_path: Path) -> None:
    fifo, place = tmp_path / "fifo", tmp_path / "place"
    hold = shell("hold", f"mkdir {place} && cat {fifo} && rmdir {place}", locks=(Mutex("long"),))
    after = shell("after", f"[ ! -e {place} ]", locks=(Mutex("long"),))
    os.mkfifo(fifo)
    driver = drivers.run(flow(hold, graph(Task("hold", "hold"))))
    with fifo.open("w"):  # open as soon as the step reads
        driver.kill()
        other = drivers.run(flow(after, graph(Task("after", "after"))))
        other.until(kind="task", path="after", state="Pending")
    assert other.finish()["status"] == "Succeeded"


def test_a_cached_step_runs_once(home: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    step = shell("step", f'echo "$1" >> {witness}; echo 5', inputs=["x"], output=INT, cache=Cache())
    workflow = flow(step, graph(Task("a", "step", (Argument("x", Literal("k")),))))
    first = execute(workflow, home=home)
    again = execute(workflow, home=home)
    assert lines(witness) == ["k"]
    assert again.tasks["a"].cached == f"{first.id}:a"
    other = flow(step, graph(Task("a", "step", (Argument("x", Literal("other")),))))
    assert execute(other, home=home).tasks["a"].cached == ""


def test_an_old_or_renamed_success_is_not_reused(home: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    for cache in (Cache(version="1"), Cache(version="2"), Cache(version="1", max_age=0.0)):
        step = shell("step", f"echo x >> {witness}", cache=cache)
        execute(flow(step, graph(Task("a", "step"))), home=home)
    assert lines(witness) == ["x", "x", "x"]


def test_it_works_inside_a_running_loop(home: Path) -> None:
    async def main() -> list[str]:
        workflow = flow(shell("a", "true"), graph(Task("a", "a")))
        inside = execute(workflow, home=home)
        own = await execute_async(workflow, home=home)
        return [inside.status, own.status]

    assert asyncio.run(main()) == ["Succeeded", "Succeeded"]


def test_the_client_starts_watches_and_forgets(home: Path) -> None:
    client = LocalClient(home)
    workflow = flow(shell("a", "echo 3", output=INT), graph(Task("a", "a"), outputs={"n": TaskOutput("a", "result")}))
    run = client.submit(Bundle("local", {"flow.json": to_json(workflow)}), runtime="process")
    *_, last = client.watch(run)
    assert (last.status, last.outputs, [task.name for task in last.tasks]) == ("Succeeded", {"n": 3}, ["a"])
    assert [each.run for each in client.list()] == [run]
    client.delete(run)
    assert list(client.list()) == []
    assert not (home / "runs" / run).exists()


def test_runs_are_shown_by_the_paths_of_every_engine(home: Path, tmp_path: Path) -> None:
    twice = shell("twice", f"echo seen >> {tmp_path}/count; wc -l < {tmp_path}/count | grep -qx 2 && echo got it")
    body = graph(Task("x", "twice"), Task("wait", "wait", after=(After("x"),)), name="body")
    loop = Template("loop", Loop("body", Literal(True)), retry=RetryPolicy(1))
    handlers = (Handler("say", "nothing"), Handler("mend", "nothing", on="failure"))
    wait = Template("wait", Suspend())
    main = graph(Task("l", "loop"))
    prepared = prepare(flow(twice, wait, body, loop, NOTHING, main, handlers=handlers), home=home)
    run = prepared.run.id
    control.ask(open_home(home), run, control.Request("approve", "l#1/wait"))
    assert run_to_end(prepared).status == "Succeeded"
    client = LocalClient(home)
    assert {task.name: task.status for task in client.status(run).tasks} == {
        "l": "Succeeded",
        "l#1": "Succeeded",
        "l#1/x": "Succeeded",
        "l#1/wait": "Succeeded",
        "onExit/say": "Succeeded",
        "onExit/mend": "Skipped",
    }
    assert [(line.task, line.text) for line in client.logs(run, "l#1")] == [("l#1/x", "got it")]


def test_the_only_step_of_a_run_has_the_name_of_its_template(home: Path) -> None:
    record = execute(flow(shell("say", "echo hello")), home=home)
    client = LocalClient(home)
    [task] = client.status(record.id).tasks
    assert [(line.task, line.text) for line in client.logs(record.id, task.name)] == [("say", "hello")]


def test_what_waits_for_its_turn_has_made_no_attempt(home: Path) -> None:
    run = prepare(flow(NOTHING, graph(Task("a", "nothing"))), home=home).run
    run.tasks["a"] = TaskRecord("a", "container", "x", "Pending", attempts=1)
    [task] = status_of(run, None).tasks
    assert (task.name, task.status, task.attempts, task.seconds) == ("a", "Pending", 0, None)


def test_a_suspended_run_starts_nothing_until_it_is_resumed(drivers: Drivers, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    main = graph(Task("first", "first"), Task("second", "second", after=(After("first"),)))
    os.mkfifo(fifo)
    driver = drivers.run(flow(shell("first", f"cat {fifo}"), shell("second", "true"), main))
    driver.until(kind="attempt", path="first", state="Running")
    LocalClient(drivers.home).suspend(driver.run)
    driver.until(kind="note", text="asked from outside: suspend")
    fifo.write_text("go on")
    driver.until(kind="run", status="Suspended")
    assert load(driver.run, home=drivers.home).seconds > 0  # known to who goes on, should this engine be killed
    resume(driver.run, home=drivers.home)
    assert driver.finish()["status"] == "Succeeded"


def test_text_stays_text(home: Path) -> None:
    echo = shell("echo", 'printf %s "$1"', inputs=["x"], output=STR)
    record = execute(flow(echo, graph(Task("a", "echo", (Argument("x", Literal("12")),)))), home=home)
    result = record.tasks["a"].result
    assert result is not None
    assert result.parameters == {"result": "12"}


def test_who_stops_a_waiting_run_twice_stops_it(drivers: Drivers) -> None:
    driver = drivers.run(asking())
    driver.until(kind="run", status="Suspended")
    stop(driver.run, home=drivers.home)
    control.ask(open_home(drivers.home), driver.run, control.Request("stop"))
    assert driver.finish()["status"] == "Stopped"


def test_a_request_that_is_none_ends_the_engine_and_not_its_run(home: Path) -> None:
    prepared = prepare(flow(NOTHING, graph(Task("a", "nothing"))), home=home)
    folder = open_home(home).run(prepared.run.id) / "requests"
    folder.mkdir()
    (folder / "x.json").write_text("garbage")
    with pytest.raises(StoreError, match=r"x\.json was no request to an engine"):
        run_to_end(prepared)
    assert resume(prepared.run.id, home=home).status == "Succeeded"
