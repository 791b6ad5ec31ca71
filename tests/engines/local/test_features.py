"""What graphs can say beside edges: retries, hooks, handlers, daemons, bounds, loops, recursion, volumes, includes."""

from __future__ import annotations

import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from couler_py.backends.base import Support
from couler_py.backends.features import FEATURES
from couler_py.backends.local import BACKEND, control, execute, resume, retry
from couler_py.backends.local.journal import Event
from couler_py.backends.local.lifecycle import prepare, run_to_end
from couler_py.dsl.include import pack
from couler_py.ir import DiagnosticError
from couler_py.ir.expr import (
    Compare,
    Compute,
    Input,
    Item,
    LastRetry,
    Literal,
    OrElse,
    Own,
    Published,
    Run,
    TaskOutput,
    TaskStatus,
    Text,
)
from couler_py.ir.model import (
    After,
    Argument,
    Backoff,
    Data,
    DistributedJob,
    Each,
    External,
    Function,
    Graph,
    Handler,
    Hook,
    Http,
    IncludeArchive,
    Inputs,
    Loop,
    Mutex,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Plugin,
    Resource,
    RetryPolicy,
    Suspend,
    Task,
    Template,
)
from couler_py.ir.pod import Container, Resources, Templated, Volume, VolumeClaim, VolumeMount
from couler_py.ir.types import INT, STR
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import open_home
from tests.engines.local.flows import NOTHING, flow, graph, python, shell


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_a_step_is_retried_until_it_succeeds(home: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f'echo x >> {count}; [ "$COULER_RUN_ATTEMPT" = 2 ]'
    step = shell("step", script, retry=RetryPolicy(3, Backoff(0.01, 2.0)))
    record = execute(flow(step, graph(Task("a", "step"))), home=home)
    assert (record.status, record.tasks["a"].attempts, len(lines(count))) == ("Succeeded", 3, 3)


def test_a_retry_asks_its_condition(home: Path) -> None:
    retry = RetryPolicy(5, when=Compare("==", LastRetry("exit_code"), Literal(3)))
    record = execute(flow(shell("step", "exit 4", retry=retry), graph(Task("a", "step"))), home=home)
    assert record.tasks["a"].attempts == 1


def test_a_time_out_is_retried_and_a_deadline_is_not(home: Path) -> None:
    wait = "while true; do sleep 0.05; done"
    record = execute(
        flow(shell("s", wait, timeout=0.1, retry=RetryPolicy(1)), graph(Task("a", "s"))), home=home, grace=0
    )
    assert (record.tasks["a"].attempts, record.tasks["a"].message.splitlines()[0]) == (2, "timed out after 0.1 seconds")
    record = execute(
        flow(shell("s", wait, deadline=0.3, retry=RetryPolicy(9)), graph(Task("a", "s"))), home=home, grace=0
    )
    assert record.tasks["a"].message == "not done within its deadline of 0.3 seconds"


def test_the_deadline_of_a_run_holds_while_it_waits(home: Path) -> None:
    record = execute(flow(Template("wait", Suspend()), graph(Task("a", "wait")), deadline=0.1), home=home)
    assert (record.status, record.message) == ("Failed", "not done within the run's deadline of 0.1 seconds")


def test_the_deadline_of_a_run_goes_on_where_it_stood_and_starts_anew_for_a_retry(home: Path) -> None:
    workflow = flow(Template("wait", Suspend()), NOTHING, graph(Task("n", "nothing"), Task("a", "wait")), deadline=60)
    prepared = prepare(workflow, home=home)
    prepared.engine.interrupt()
    assert run_to_end(prepared).status == "Stopped"
    with closing(connect(open_home(home))) as connection:
        connection.execute("UPDATE runs SET seconds=60")
    record = resume(prepared.run.id, home=home)
    assert (record.status, record.message) == ("Failed", "not done within the run's deadline of 60 seconds")
    control.ask(open_home(home), record.id, control.Request("approve"))
    assert retry(record.id, home=home).status == "Succeeded"


def test_a_graph_is_retried_as_a_whole(home: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    inner = graph(Task("x", "x"), Task("y", "y", after=(After("x"),)), name="inner", retry=RetryPolicy(1))
    fails_once = f"n=$(wc -l < {count}); [ $n -gt 1 ]"
    record = execute(
        flow(shell("x", f"echo x >> {count}"), shell("y", fails_once), inner, graph(Task("g", "inner"))), home=home
    )
    assert record.status == "Succeeded"
    assert {path: task.state for path, task in record.tasks.items() if "/" in path} == {
        "g/x": "Succeeded",
        "g/y": "Failed",
        "g~1/x": "Succeeded",
        "g~1/y": "Succeeded",
    }


def test_handlers_see_status_failures_and_published_values(home: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    bad = shell("bad", "exit 1")
    score = shell("score", "echo 7", output=INT)
    out = OutputParameter("result", INT, stdout=True, global_name="score")
    score = Template("score", score.body, outputs=Outputs((out,)))
    tell = shell("tell", f'echo "$1 $2 $3" >> {told}', inputs=["status", "score", "failures"])
    never = shell("never", f"echo never >> {told}")
    arguments = (
        Argument("status", Run("status")),
        Argument("score", OrElse(Published("score"), Literal(0))),
        Argument("failures", Run("failures")),
    )
    handlers = (Handler("tell", "tell", arguments=arguments), Handler("won", "never", "success"))
    record = execute(
        flow(bad, score, tell, never, graph(Task("bad", "bad"), Task("score", "score")), handlers=handlers), home=home
    )
    assert record.status == "Failed"
    words = told.read_text()
    assert words.startswith("Failed 7 [")
    assert '"displayName":"bad"' in words
    assert "never" not in words


def test_a_handler_that_fails_makes_the_run_failed(home: Path) -> None:
    main = graph(Task("a", "nothing"))
    record = execute(flow(NOTHING, shell("bad", "exit 1"), main, handlers=(Handler("x", "bad"),)), home=home)
    assert (record.status, record.tasks["a"].state) == ("Failed", "Succeeded")


def test_hooks_run_when_their_expression_turns_true_and_at_the_end(home: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    note = shell("note", f'echo "$1" >> {seen}', inputs=["what"])

    def hook(name: str, when: str | None) -> Hook:
        condition = None if when is None else Compare("==", TaskStatus("a"), Literal(when))
        return Hook(name, "note", condition, (Argument("what", Literal(name)),))

    hooks = (hook("running", "Running"), hook("failed", "Failed"), hook("exit", None))
    record = execute(flow(note, shell("ok", "true"), graph(Task("a", "ok", hooks=hooks))), home=home)
    assert record.status == "Succeeded"
    assert sorted(lines(seen)) == ["exit", "running"]
    assert record.tasks["a!exit"].state == "Succeeded"


def test_a_daemon_serves_while_its_graph_runs(home: Path, tmp_path: Path) -> None:
    fifo, pid = tmp_path / "fifo", tmp_path / "pid"
    serve = f"echo $$ > {pid}; while true; do echo served > {fifo}; done"
    os.mkfifo(fifo)
    ask = f"cat {fifo} | head -1"
    small = Resources(cpu="10m")
    server = shell("server", serve, daemon=True)
    server = Template("server", Container("x", server.body.command, server.body.args, resources=small), daemon=True)  # type: ignore[union-attr]
    client = shell("client", ask, output=STR)
    main = graph(Task("server", "server"), Task("client", "client", after=(After("server"),)))
    record = execute(flow(server, client, main), home=home)
    assert record.status == "Succeeded", record.message
    result = record.tasks["client"].result
    assert result is not None
    assert result.parameters == {"result": "served"}
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


@pytest.mark.parametrize("bound", ["workflow", "template", "each"])
def test_a_bound_on_parallelism_holds(bound: str, home: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    script = f"mkdir {place} && rmdir {place}"
    body = Container("x", ("sh",), ("-c", script, "sh", Text((Input("x"),))), resources=Resources(cpu="10m"))
    alone = Template("alone", body, Inputs((Parameter("x", INT),)))
    each = Each(Literal(list(range(6))), parallel=1 if bound == "each" else None)
    task = Task("m", "alone", (Argument("x", Item()),), each=each)
    main = graph(task, parallelism=1 if bound == "template" else None)
    record = execute(flow(alone, main, parallelism=1 if bound == "workflow" else None), home=home)
    assert record.status == "Succeeded", record.message


@pytest.mark.parametrize("bound", ["cpu", "memory", "lock", "parallelism"])
def test_a_step_that_waits_for_its_turn_is_pending_and_its_time_is_without_the_wait(bound: str, home: Path) -> None:
    resources = {"cpu": Resources(cpu="4000"), "memory": Resources(cpu="1m", memory="4000Ti")}
    body = Container("x", ("true",), resources=resources.get(bound, Resources(cpu="1m")))
    alone = Template("alone", body, locks=(Mutex(f"turn-{home}"),) if bound == "lock" else ())
    seen: list[tuple[str, str]] = []

    def note(event: Event) -> None:
        if event.task is not None and event.path:
            seen.append((event.path, event.task.state))

    main = graph(Task("a", "alone"), Task("b", "alone"), parallelism=1 if bound == "parallelism" else None)
    record = run_to_end(prepare(flow(alone, main), home=home, observers=[note]))
    first, second = sorted(("a", "b"), key=lambda path: seen.index((path, "Running")))
    assert [state for path, state in seen if path == second] == ["Pending", "Running", "Succeeded"]
    assert seen.index((first, "Succeeded")) < seen.index((second, "Running")) > seen.index((second, "Pending"))
    with closing(connect(open_home(home))) as connection:
        [(_, before)] = runs.load_attempts(connection, record.id, first)
    started = record.tasks[second].started
    assert started is not None
    assert before.finished is not None
    assert started >= before.finished


def test_iterations_of_a_loop_are_numbered_from_one(home: Path) -> None:
    body = shell("body", "echo 1", output=INT)
    loop = Template("loop", Loop("body", Compare("==", Own("result"), Literal(2)), max_iterations=2))
    record = execute(flow(body, loop, graph(Task("l", "loop"))), home=home)
    assert [path for path in record.tasks if "#" in path] == ["l#1", "l#2"]


def test_endless_recursion_is_named(home: Path) -> None:
    record = execute(flow(graph(Task("again", "main"))), home=home)
    assert record.status == "Failed"
    deepest = max(record.tasks.values(), key=lambda task: len(task.path))
    assert "calls itself without an end" in deepest.message


def test_recursion_ends_by_its_condition(home: Path) -> None:
    count = Template(
        "count",
        Graph(
            (
                Task(
                    "again",
                    "count",
                    (Argument("n", Compute("-", Input("n"), Literal(1))),),
                    when=Compare(">", Input("n"), Literal(0)),
                ),
            )
        ),
        Inputs((Parameter("n", INT),)),
    )
    record = execute(flow(count, graph(Task("a", "count", (Argument("n", Literal(5)),)))), home=home)
    assert record.status == "Succeeded"
    assert record.tasks["a/again/again/again/again/again/again"].state == "Skipped"


def test_claims_are_folders_that_steps_of_a_run_share(home: Path, tmp_path: Path) -> None:
    mounts = (VolumeMount("work", str(tmp_path / "mnt")),)
    write = Template("write", Container("x", ("sh",), ("-c", f"echo hi > {tmp_path}/mnt/a"), mounts=mounts))
    read = Template("read", Container("x", ("sh",), ("-c", f"grep hi {tmp_path}/mnt/a"), mounts=mounts))
    main = graph(Task("write", "write"), Task("read", "read", after=(After("write"),)))
    record = execute(flow(write, read, main, volume_claims=(VolumeClaim("work", "1Gi"),)), home=home)
    assert record.status == "Succeeded", record.message
    assert not (tmp_path / "mnt").exists()


def test_a_link_of_the_users_own_is_never_replaced(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mnt").symlink_to(tmp_path / "mine")
    mounts = (VolumeMount("work", str(tmp_path / "mnt")),)
    write = Template("write", Container("x", ("true",), mounts=mounts))
    record = execute(flow(write, graph(Task("a", "write")), volume_claims=(VolumeClaim("work", "1Gi"),)), home=home)
    assert "exists on this machine, so a volume can't stand there" in record.tasks["a"].message
    assert (tmp_path / "mnt").readlink() == tmp_path / "mine"


def test_a_config_map_comes_from_the_configuration(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('[local.config_maps.settings]\nregion = "eu"\n')
    source = Volume("cfg", Templated({"configMap": {"name": "settings"}}))
    folder = home.parent / "cfg"
    body = Container("x", ("sh",), ("-c", f"cat {folder}/region"), mounts=(VolumeMount("cfg", str(folder)),))
    read = Template("read", body, outputs=Outputs((OutputParameter("result", STR, stdout=True),)))
    record = execute(flow(read, graph(Task("a", "read")), volumes=(source,)), home=home)
    result = record.tasks["a"].result
    assert result is not None, record.message
    assert result.parameters == {"result": "eu"}


def test_a_step_imports_the_users_own_modules(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("VALUE = 11\n")
    digest = hashlib.sha256(pack(str(tmp_path), ("mine.py",))).hexdigest()
    body = Function(
        "use", (Piece("def use() -> int:\n    import mine\n    return mine.VALUE"),), "one", include=(digest,)
    )
    use = Template("use", body, outputs=Outputs((OutputParameter("result", INT),)))
    archive = IncludeArchive(digest, ("mine.py",), str(tmp_path))
    main = graph(Task("a", "use"), outputs={"n": TaskOutput("a", "result")})
    assert execute(flow(use, main, includes=(archive,)), home=home).outputs == {"n": 11}


def test_metrics_are_told_and_remembered(home: Path) -> None:
    seen = []
    source = "def m():\n    import couler_py\n    couler_py.log_metric('loss', 0.5, step=1)"
    workflow = flow(python("m", source), graph(Task("a", "m")))
    prepared = prepare(workflow, home=home, observers=[seen.append])
    assert run_to_end(prepared).status == "Succeeded"
    assert [event.data for event in seen if event.kind == "metric"] == [{"name": "loss", "value": 0.5, "step": 1}]


def test_who_sees_that_a_task_has_ended_sees_what_it_measured(home: Path) -> None:
    source = "def m():\n    import couler_py\n    couler_py.log_metric('loss', 0.5, step=1)"
    workflow = flow(python("m", source), graph(Task("a", "m")))
    seen = []

    def look(event: Event) -> None:
        if event.kind == "task" and event.task is not None and event.task.state == "Succeeded" and event.path:
            connection = connect(open_home(home))
            seen.append(runs.metrics(connection, prepared.run.id))
            connection.close()

    prepared = prepare(workflow, home=home, observers=[look])
    assert run_to_end(prepared).status == "Succeeded"
    assert seen == [{"a": {"loss": ((1.0, 0.5),)}}]


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200 if self.path == "/ok" else 500)
        self.end_headers()
        self.wfile.write(b"got " + body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    thread.join()
    found.server_close()


def test_a_request_gives_the_answer(server: str, home: Path) -> None:
    call = Template(
        "call",
        Http(Text((server, "/", Input("path"))), "POST", body="x"),
        Inputs((Parameter("path", STR),)),
        Outputs((OutputParameter("result", STR),)),
    )
    good = Task("good", "call", (Argument("path", Literal("ok")),))
    bad = Task("bad", "call", (Argument("path", Literal("no")),))
    record = execute(flow(call, graph(good, bad)), home=home)
    result = record.tasks["good"].result
    assert result is not None
    assert result.parameters == {"result": "got x"}
    assert record.tasks["bad"].message == f"{server}/no answered 500: got x"


@pytest.mark.parametrize(
    "body",
    [
        Resource("create", Templated({})),
        DistributedJob("torch", Container("x")),
        Data(Templated({})),
        Plugin(Templated({})),
    ],
)
def test_what_needs_a_cluster_is_said_before_anything_starts(body: object, home: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        prepare(flow(Template("x", body), graph(Task("a", "x"))), home=home)  # type: ignore[arg-type]
    assert [each.code for each in caught.value.diagnostics] == ["CLR600"]
    assert not (home / "couler.sqlite").exists()


def test_all_that_stands_in_the_way_is_said_at_once(home: Path) -> None:
    main = graph(Task("a", External("t", "u")), Task("b", "no-command"))
    with pytest.raises(DiagnosticError) as caught:
        prepare(flow(Template("no-command", Container("busybox")), main), home=home)
    errors = [each.code for each in caught.value.diagnostics if each.severity == "error"]
    assert sorted(errors) == ["CLR600", "CLR602"]


def test_the_images_that_are_not_used_are_named(home: Path) -> None:
    prepared = prepare(flow(shell("a", "true"), graph(Task("a", "a"))), home=home)
    assert [(each.code, each.severity) for each in prepared.diagnostics] == [("CLR608", "note")]
    assert "busybox" in prepared.diagnostics[0].message
    run_to_end(prepared)


def test_every_feature_has_a_row_in_the_support_table() -> None:
    table: tuple[Support, ...] = BACKEND.support()
    assert [row.feature for row in table] == list(FEATURES)
    assert all(row.by for row in table if row.level != "native")


def test_wrong_parameters_are_refused(home: Path) -> None:
    workflow = flow(NOTHING, graph(Task("a", "nothing")), parameters=(Parameter("n", INT),))
    with pytest.raises(ValueError, match="has no parameter 'm'; it has n"):
        prepare(workflow, {"m": 1}, home=home)
    with pytest.raises(ValueError, match="the parameter 'n' of flow was not given"):
        prepare(workflow, home=home)
    with pytest.raises(ValueError, match="the parameter 'n': 'x' is not int"):
        prepare(workflow, {"n": "x"}, home=home)


def test_text_that_no_engine_can_give_a_container_fails_the_step_that_returns_it(home: Path) -> None:
    give = python("give", "def give(): return '{{x}}'", output=STR)
    say = Template(
        "say",
        Container("busybox", ("sh",), ("-c", "true", Text((Input("text"),)))),
        Inputs((Parameter("text", STR),)),
    )
    tasks = (Task("give", "give"), Task("say", "say", (Argument("text", TaskOutput("give", "result")),)))
    record = execute(flow(give, say, graph(*tasks)), home=home)
    assert {path: task.state for path, task in record.tasks.items() if path} == {"give": "Failed", "say": "Blocked"}
    assert "return a Path" in record.tasks["give"].message
