"""Steps as processes: time-outs, Ctrl-C, what is left behind, what a step sees, and what it may leave."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from couler_py.backends.local import execute, logs
from couler_py.backends.local.api import load
from couler_py.backends.local.lifecycle import prepare
from couler_py.ir import DiagnosticError, Workflow
from couler_py.ir.expr import Literal, TaskArtifact, TaskOutput
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Piece,
    Task,
    Template,
)
from couler_py.ir.pod import Container, EnvFrom, EnvVar, Resources, Templated, Volume, VolumeMount
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import INT, STR
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.records import RunRecord
from couler_py.store.secrets import write_secret
from tests.engines.local.conftest import Drivers, processes_of
from tests.engines.local.flows import flow, graph, python, shell

WAIT = "while true; do sleep 0.05; done"


def log_of(record: RunRecord, home: Path, task: str) -> str:
    return "\n".join(line.text for line in logs(record.id, task, home=home))


def one(template: Template, **options: object) -> Workflow:
    return flow(template, graph(Task("it", template.name)), **options)


def test_a_time_out_ends_all_descendants(home: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"setsid sh -c '{WAIT}' & echo $! > {pids}; trap '' TERM; {WAIT}"
    record = execute(one(shell("slow", script, timeout=5)), home=home, grace=0.2)
    assert record.status == "Failed"
    assert record.tasks["it"].message.splitlines()[0] == "timed out after 5 seconds"
    assert not Path(f"/proc/{pids.read_text().strip()}").exists()


def test_what_a_step_leaves_running_ends_with_it(home: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    record = execute(one(shell("leave", f"setsid sh -c '{WAIT}' & echo $! > {pids}")), home=home)
    assert record.status == "Succeeded"
    assert not Path(f"/proc/{pids.read_text().strip()}").exists()


def test_ctrl_c_ends_steps_and_resume_goes_on(drivers: Drivers, tmp_path: Path) -> None:
    marker, ready = tmp_path / "go", tmp_path / "ready"
    os.mkfifo(ready)
    wait = f"[ -e {marker} ] || {{ : > {ready}; {WAIT}; }}"
    driver = drivers.run(flow(shell("wait", wait), shell("after", "true"), graph(Task("first", "wait"))))
    ready.read_text()  # the step has come to where it waits
    driver.send(signal.SIGINT)
    summary = driver.finish()
    assert summary["status"] == "Stopped"
    assert summary["tasks"]["first"]["status"] == "Stopped"
    assert processes_of(drivers.home) == {}
    marker.touch()
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"


def test_a_second_ctrl_c_kills(drivers: Drivers, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    driver = drivers.run(one(shell("stubborn", f"trap 'echo asked' TERM; : > {ready}; {WAIT}")))
    ready.read_text()
    driver.send(signal.SIGINT)
    driver.send(signal.SIGTERM)
    assert driver.finish()["status"] == "Stopped"
    assert processes_of(drivers.home) == {}


def test_a_failed_step_says_why(home: Path) -> None:
    record = execute(one(shell("bad", "echo one; echo two >&2; exit 3")), home=home)
    assert record.tasks["it"].message == "exit code 3\none\ntwo"
    assert record.message == "it failed: exit code 3: two"


def test_a_killed_step_names_the_signal(home: Path) -> None:
    record = execute(one(shell("bad", "kill -9 $$")), home=home)
    assert record.tasks["it"].message == "ended by signal SIGKILL"


def test_a_signal_without_a_name_is_told_by_its_number(home: Path) -> None:
    record = execute(one(shell("bad", "kill -36 $$")), home=home)
    assert record.tasks["it"].message == "ended by signal 36"


def test_a_program_that_is_not_here_is_named(home: Path) -> None:
    record = execute(one(Template("bad", Container("x", ("no-such-program",)))), home=home)
    assert record.tasks["it"].message.startswith("'no-such-program' is not here")


def test_a_python_error_shows_the_users_line(home: Path) -> None:
    record = execute(one(python("bad", "def bad():\n    raise ValueError('no')")), home=home)
    assert record.tasks["it"].message.splitlines()[-1] == "ValueError: no"
    assert 'File "step.py", line 2, in bad' in record.tasks["it"].message


def test_a_log_without_lines_comes_in_pieces(home: Path) -> None:
    record = execute(one(shell("long", "echo; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")), home=home)
    sizes = [len(line.text) for line in logs(record.id, "it", home=home)]
    assert sizes == [0, 1 << 20, 1 << 20, 3_000_000 - (2 << 20), 3]


def test_stdout_and_stderr_stand_in_the_log_in_order(home: Path) -> None:
    record = execute(one(shell("talk", "echo 1; echo 2 >&2; echo 3; printf 4")), home=home)
    assert log_of(record, home, "it") == "1\n2\n3\n4"


HOSTILE = [
    "",
    "'\"",
    "a\nb\n",
    "{{x}}",
    "${HOME}",
    "$(id)",
    "`id`",
    "\u2028é😀",
    '{"a": [1]}',
    "couler:json:1",
    "-n",
    "\\",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_reaches_a_command_and_comes_back(text: str, home: Path) -> None:
    echo = shell("echo", 'printf "%s\\n" "$1"', inputs=["text"], output=STR)
    back = python("back", "def back(text: str) -> str:\n    return text", inputs={"text": STR}, output=STR)
    main = graph(
        Task("echo", "echo", (Argument("text", Literal(text)),)),
        Task("back", "back", (Argument("text", TaskOutput("echo", "result")),)),
    )
    record = execute(flow(echo, back, main), home=home)
    result = record.tasks["back"].result
    assert result is not None
    assert result.parameters == {"result": text}


def test_a_secret_is_given_and_never_shown(home: Path) -> None:
    write_secret(open_home(home), "api", {"token": "s3cr3t-value", "other": "second-secret"})
    env = (EnvVar("TOKEN", SecretRef("api", "token")),)
    script = 'echo "<$TOKEN> $A_other"; [ ${#TOKEN} = 12 ]'
    body = Container("x", ("sh",), ("-c", script), env=env, env_from=(EnvFrom("api", "secret", "A_"),))
    record = execute(one(Template("use", body)), home=home)
    assert record.status == "Succeeded"
    assert log_of(record, home, "it") == "<***> ***"
    for file in home.rglob("*"):
        if file.is_file() and "secrets" not in file.parts:
            assert b"s3cr3t-value" not in file.read_bytes(), file


def test_no_line_of_a_secret_file_shows(home: Path, tmp_path: Path) -> None:
    write_secret(open_home(home), "key", {"pem": "first line\nsecond line\n"})
    place = tmp_path / "secret"
    body = Container("x", ("sort",), ("-r", f"{place}/pem"), mounts=(VolumeMount("key", str(place)),))
    volume = Volume("key", Templated({"secret": {"secretName": "key"}}))
    record = execute(one(Template("use", body), volumes=(volume,)), home=home)
    assert record.status == "Succeeded"
    assert log_of(record, home, "it") == "***\n***"


@pytest.mark.parametrize(
    ("source", "sub_path", "message"),
    [
        ({"persistentVolumeClaim": {"claimName": "../../x"}}, "", "is no name of a file"),
        ({"secret": {"secretName": "key"}}, "", "is no name of a file"),
        ({"emptyDir": {}}, "a/../../x", "leads out of the volume"),
    ],
)
def test_no_volume_leads_out_of_its_folder(
    source: dict[str, object], sub_path: str, message: str, home: Path, tmp_path: Path
) -> None:
    write_secret(open_home(home), "key", {"../x": "text"})
    body = Container("x", ("true",), mounts=(VolumeMount("v", str(tmp_path / "v"), sub_path=sub_path),))
    record = execute(one(Template("use", body), volumes=(Volume("v", Templated(source)),)), home=home)
    assert message in record.tasks["it"].message


@pytest.mark.parametrize("what", ["output", "step", "volume"])
def test_names_in_ir_that_nobody_checked_are_no_paths(what: str, home: Path) -> None:
    outputs = Outputs((OutputParameter("../x" if what == "output" else "x", STR, stdout=True),))
    template = Template("use", Container("x", ("true",)), outputs=outputs)
    volumes = (Volume("../x", Templated({"emptyDir": {}})),) if what == "volume" else ()
    with pytest.raises(DiagnosticError, match="can't be the name of"):
        prepare(flow(template, graph(Task("../x" if what == "step" else "x", "use")), volumes=volumes), home=home)


def test_a_missing_secret_is_said_before_anything_starts(home: Path) -> None:
    body = Container("x", ("true",), env=(EnvVar("TOKEN", SecretRef("none", "token")),))
    with pytest.raises(DiagnosticError) as caught:
        prepare(one(Template("use", body)), home=home)
    assert [each.code for each in caught.value.diagnostics if each.severity == "error"] == ["CLR604"]


def test_a_declared_path_is_cleared_before_and_gone_after(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    place.write_text("old")
    body = Container("x", ("sh",), ("-c", f"cat {place} 2>/dev/null; printf new > {place}"))
    template = Template("write", body, outputs=Outputs((OutputParameter("text", STR, path=str(place)),)))
    record = execute(one(template), home=home)
    result = record.tasks["it"].result
    assert result is not None
    assert result.parameters == {"text": "new"}
    assert log_of(record, home, "it") == ""
    assert not place.exists()


def test_steps_that_declare_one_path_never_share_it(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "shared" / "out"
    script = f"[ ! -e {place} ] && mkdir {place}.dir && printf $$ > {place} && cat {place} && rmdir {place}.dir"
    body = Container("x", ("sh",), ("-c", script), resources=Resources(cpu="10m"))
    template = Template("write", body, outputs=Outputs((OutputParameter("text", INT, path=str(place)),)))
    record = execute(flow(template, graph(*(Task(f"t{n}", "write") for n in range(6)))), home=home)
    assert record.status == "Succeeded"


def test_an_existing_file_elsewhere_is_never_replaced(home: Path) -> None:
    body = Container("x", ("true",))
    template = Template("write", body, outputs=Outputs(artifacts=(OutputArtifact("out", path="/etc/hostname"),)))
    record = execute(one(template), home=home)
    assert record.tasks["it"].message.startswith("/etc/hostname exists on this machine")
    assert Path("/etc/hostname").exists()


def test_files_and_folders_travel_and_copies_are_read_only(home: Path, tmp_path: Path) -> None:
    given = tmp_path / "in"
    source = (
        "def make():\n    from pathlib import Path\n    folder = Path('d')\n    (folder / 'sub').mkdir(parents=True)\n"
        "    (folder / 'sub' / 'a.txt').write_text('hi')\n    return folder"
    )
    body = Function("make", (Piece(source),), "one")
    make = Template("make", body, outputs=Outputs(artifacts=(OutputArtifact("result"),)))
    read = Template(
        "read",
        Container("x", ("sh",), ("-c", f"cat {given}/sub/a.txt; stat -c %a {given}/sub/a.txt")),
        Inputs(artifacts=(InputArtifact("data", str(given)),)),
        Outputs((OutputParameter("result", STR, stdout=True),)),
    )
    main = graph(
        Task("make", "make"),
        Task("read", "read", artifacts=(ArtifactArgument("data", TaskArtifact("make", "result")),)),
    )
    record = execute(flow(make, read, main), home=home)
    assert record.status == "Succeeded", record.message
    result = record.tasks["read"].result
    assert result is not None
    assert result.parameters == {"result": "hi444"}
    assert not given.exists()


def test_a_value_that_is_too_long_names_the_way_out(home: Path) -> None:
    record = execute(one(python("big", "def big() -> str:\n    return 'x' * 96001", output=STR)), home=home)
    assert "couler.spill" in record.tasks["it"].message


def test_a_value_at_the_limit_travels(home: Path) -> None:
    big = python("big", "def big() -> str:\n    return 'x' * 96000", output=STR)
    size = python("size", "def size(text: str) -> int:\n    return len(text)", inputs={"text": STR}, output=INT)
    main = graph(
        Task("big", "big"),
        Task("size", "size", (Argument("text", TaskOutput("big", "result")),)),
        outputs={"n": TaskOutput("size", "result")},
    )
    assert execute(flow(big, size, main), home=home).outputs == {"n": 96000}


def test_more_gpus_than_there_are_is_an_error_before_anything_starts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    body = Container("x", ("true",), resources=Resources(gpu=2))
    with pytest.raises(DiagnosticError, match="asks for 2 GPUs, and this machine has 1"):
        execute(one(Template("use", body)), home=home)


def test_a_step_sees_the_gpus_that_are_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    body = Container("x", ("sh",), ("-c", "echo $CUDA_VISIBLE_DEVICES"), resources=Resources(gpu=1))
    template = Template("use", body, outputs=Outputs((OutputParameter("result", STR, stdout=True),)))
    record = execute(one(template), home=home)
    result = record.tasks["it"].result
    assert result is not None
    assert result.parameters == {"result": "3"}


def test_what_a_step_puts_in_the_place_of_its_metrics_harms_nobody(home: Path) -> None:
    lines = r"""garbage\n[]\n{"name": 1}\n{"name": "n", "value": []}\n{"name": "loss", "value": 2.5, "step": 1}\n"""
    record = execute(one(shell("junk", f"mkdir ../outputs; printf '{lines}' > ../outputs/metrics.jsonl")), home=home)
    assert record.status == "Succeeded"
    connection = connect(open_home(home))
    assert runs.metrics(connection, record.id) == {"it": {"loss": ((1.0, 2.5),)}}
    connection.close()
    assert (
        execute(one(shell("pipe", "mkdir ../outputs; mkfifo ../outputs/metrics.jsonl")), home=home).status
        == "Succeeded"
    )


def test_an_output_that_is_a_pipe_is_not_waited_for(home: Path) -> None:
    outputs = Outputs((OutputParameter("x", STR, path="out/x"),))
    body = Container("x", ("sh",), ("-c", "mkdir -p out && mkfifo out/x"))
    record = execute(one(Template("pipe", body, outputs=outputs)), home=home)
    assert "the output 'x' is no file" in record.tasks["it"].message


@pytest.mark.parametrize("name", ["../../evil", "..", "a/b", "", "a\0b", "x" * 101])
def test_the_name_of_a_run_never_leads_out_of_the_home(home: Path, name: str) -> None:
    with pytest.raises(ValueError, match="can't be the name of a run"):
        prepare(one(shell("a", "true")), home=home, name=name)


def test_options_of_a_run_that_make_no_sense_are_refused(home: Path) -> None:
    flow_ = one(shell("a", "true"))
    assert execute(flow_, home=home, name="mine").id == "mine"
    with pytest.raises(ValueError, match="there is a run 'mine' already"):
        prepare(flow_, home=home, name="mine")
    with pytest.raises(ValueError, match="durability is one of process, power, not 'disk'"):
        prepare(flow_, home=home, durability="disk")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="grace is a number of seconds, not 'long'"):
        prepare(flow_, home=home, grace="long")  # type: ignore[arg-type]


def test_inputs_that_no_process_can_be_given_are_said(home: Path) -> None:
    names = [f"x{number}" for number in range(60)]
    arguments = tuple(Argument(name, Literal("x" * 90_000)) for name in names)
    template = shell("much", "true", inputs=names)
    record = execute(flow(template, graph(Task("it", "much", arguments=arguments))), home=home)
    assert "let it take large ones as files (Path)" in record.tasks["it"].message


@pytest.mark.parametrize("place", ["..", "../../../..", "{home}", "{home}/artifacts/x", "{cwd}"])
def test_no_output_path_replaces_the_folder_of_runs_or_the_working_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "flow.py").touch()
    monkeypatch.chdir(tmp_path / "project")
    kept = execute(one(shell("a", "true")), home=home).id
    path = place.format(home=home, cwd=tmp_path / "project")
    artifact = OutputArtifact("o", path, optional=True)
    record = execute(one(Template("w", Container("x", ("true",)), outputs=Outputs((), (artifact,)))), home=home)
    assert "would be replaced" in record.tasks["it"].message
    assert load(kept, home=home).status == "Succeeded"
    assert (tmp_path / "project" / "flow.py").exists()


def test_a_time_out_may_be_longer_than_any_wait(home: Path) -> None:
    assert execute(one(shell("a", "true", timeout=1e300)), home=home).status == "Succeeded"


def test_more_paths_than_can_be_held_are_said(home: Path) -> None:
    outputs = Outputs(tuple(OutputParameter(f"o{n}", STR, path=f"/tmp/couler-test/o{n}") for n in range(300)))
    record = execute(one(Template("many", Container("x", ("true",)), outputs=outputs)), home=home)
    assert "give it paths relative to its working folder" in record.tasks["it"].message


def test_an_attempt_says_what_it_used(home: Path) -> None:
    source = "def work():\n    kept = bytearray(50_000_000)\n    return sum(i * i for i in range(300_000)) and None"
    record = execute(one(python("work", source)), home=home)
    connection = connect(open_home(home))
    ((_, attempt),) = runs.load_attempts(connection, record.id)
    connection.close()
    assert attempt.cpu is not None
    assert attempt.memory is not None
    assert 0.001 < attempt.cpu < 60
    assert 50_000_000 < attempt.memory < 1_000_000_000


def test_what_runs_can_say_more_of_its_end_than_an_exit_code(home: Path) -> None:
    said = '{"reason": "error", "message": "the image is not there", "exit": 125}'
    record = execute(one(shell("it", f"echo '{said}' > ../verdict; exit 7")), home=home)
    assert record.tasks["it"].message == "the image is not there"
    connection = connect(open_home(home))
    ((_, attempt),) = runs.load_attempts(connection, record.id)
    connection.close()
    assert attempt.exit_code == 125


@pytest.mark.parametrize("said", ["[]", "nonsense", '{"reason": "stopped"}', '{"exit": "7", "message": 1}'])
def test_a_verdict_that_is_none_changes_nothing(said: str, home: Path) -> None:
    record = execute(one(shell("it", f"echo '{said}' > ../verdict; exit 7")), home=home)
    assert record.tasks["it"].message == "exit code 7"


@pytest.mark.skipif(sys.platform != "linux", reason="what the kernel ends first is said in /proc")
@pytest.mark.parametrize("kind", ["command", "python"])
def test_out_of_memory_a_step_is_ended_before_what_looks_after_it(kind: str, home: Path) -> None:
    # Who starts a step lends it its own score for the moment of the start: until then both are equal.
    lent = 'while [ "$(cat /proc/self/oom_score_adj)" = "$(cat /proc/$PPID/oom_score_adj)" ]; do :; done; '
    command = shell("it", lent + 'cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj | tr "\\n" " "', output=STR)
    source = "def it() -> str:\n    import os\n    read = lambda pid: open(f'/proc/{pid}/oom_score_adj').read()\n"
    source += "    while read(os.getpid()) == read(os.getppid()): pass\n"
    source += "    return f'{read(os.getpid())}{read(os.getppid())}'.replace('\\n', ' ')"
    record = execute(one(command if kind == "command" else python("it", source, output=STR)), home=home)
    result = record.tasks["it"].result
    assert result is not None
    step, warden = result.parameters["result"].split()
    assert int(step) > int(warden)


def test_a_step_that_ends_while_others_run_takes_only_its_own_with_it(home: Path, tmp_path: Path) -> None:
    """One step leaves a process in a session of its own, and ends; that of another, which waits, lives on."""
    kept, went = tmp_path / "kept", tmp_path / "went"
    os.mkfifo(went)
    away = "setsid sh -c 'while true; do sleep 0.05; done' & echo $! >"
    first = shell("first", f"{away} {kept}; cat {went} > /dev/null; kill -0 $(cat {kept})")
    second = shell("second", f"while [ ! -s {kept} ]; do sleep 0.01; done; ({away} {tmp_path}/gone)")
    third = shell("third", f"! kill -0 $(cat {tmp_path}/gone) 2> /dev/null && echo > {went}")
    tasks = (Task("first", "first"), Task("second", "second"), Task("third", "third", after=(After("second"),)))
    record = execute(flow(first, second, third, graph(*tasks)), home=home)
    assert record.status == "Succeeded", record.message
    assert not Path(f"/proc/{kept.read_text().strip()}").exists()


@pytest.mark.parametrize(("script", "left"), [("true", True), ("mkdir a; echo b > a/b", False), ("rmdir $PWD", False)])
def test_what_a_step_leaves_in_its_working_folder_goes_with_it(script: str, left: bool, home: Path) -> None:
    """An empty folder stays, so that nothing has to be deleted."""
    record = execute(one(shell("it", script)), home=home)
    assert record.status == "Succeeded", record.message
    (folder,) = (home / "runs" / record.id / "attempts").iterdir()
    assert (folder / "work").is_dir() == left
    assert (folder / "record").is_file()
