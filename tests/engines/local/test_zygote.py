"""Python steps that are forked: no step can tell, and none sees what another was given."""

from __future__ import annotations

import os
import re
import signal
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.backends.local import execute, logs
from couler_py.ir import Workflow
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.expr import Literal, TaskOutput
from couler_py.ir.model import After, Argument, Function, OutputParameter, Outputs, Piece, Task, Template
from couler_py.ir.pod import EnvVar, Resources
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import ANY, INT, STR
from couler_py.store.home import open_home
from couler_py.store.records import RunRecord
from couler_py.store.secrets import write_secret
from tests.engines.local.conftest import Drivers, processes_of
from tests.engines.local.flows import flow, graph, python

BEHAVIOUR = {
    "error": "raise ValueError('no')",
    "cause": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('so') from error",
    "exit_text": "import sys\nsys.exit('enough')",
    "exit_number": "import sys\nsys.exit(3)",
    "exit_nothing": "import sys\nprint('said', end='')\nsys.exit()",
    "exit_at_once": "import os\nprint('said')\nos._exit(4)",
    "exit_large": "import sys\nsys.exit(256 + 7)",
    "interrupted": "raise KeyboardInterrupt",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "base_exception": "class Odd(BaseException): pass\nraise Odd('odd')",
    "syntax": "exec('a b')",
    "recursion": "def deep(n): return deep(n + 1)\ntry: deep(0)\nexcept RecursionError as error: print(error)",
    "names": """
        import sys, __main__
        print(__name__, __main__.__name__, __main__.__spec__, sys.modules['__main__'] is __main__, type(__main__))
        print(len(sys.argv), sys.argv == [__main__.__file__], sys.orig_argv[1:-1], sys.orig_argv[-1] == sys.argv[0])
        print(sorted(vars(__main__)), __main__.__loader__.name, __main__.__builtins__)
        print(sys.path, sys.flags, sys.executable, sys.warnoptions)
    """,
    "modules": "import sys\nprint(sorted(sys.modules))",
    "environment": """
        import os
        hidden = ("COULER_RUN_", "COULER_OUTPUTS", "COULER_INPUTS", "COULER_ATTEMPT")
        print(sorted((name, value) for name, value in os.environ.items() if not name.startswith(hidden)))
        print(sorted(name for name in os.environ))
    """,
    "process": """
        import os, resource, signal, sys
        print([(number, signal.getsignal(number)) for number in sorted(signal.valid_signals())])
        print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.getpriority(os.PRIO_PROCESS, 0), os.umask(0o22))
        print([resource.getrlimit(number) for number in range(16)])
        print(os.getsid(0) == os.getpgid(0) == os.getpid(), os.path.basename(os.getcwd()), sys.stdin.read())
        print(sorted(int(name) for name in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + name)))
        print(sys.stdout, sys.stderr, sys.stdin, sys.stdout.write_through, sys.stdout.line_buffering)
        print(sys.getswitchinterval(), sys.getrecursionlimit(), sys.gettrace(), sys.getprofile())
        import threading, gc
        print(threading.enumerate() == [threading.main_thread()], gc.isenabled(), gc.get_threshold())
    """,
    "pickled": """
        import pickle
        class Point:
            def __init__(self, x): self.x = x
        globals()['Point'] = Point
        Point.__qualname__ = 'Point'
        print(pickle.loads(pickle.dumps(Point(3))).x, Point.__module__, pickle.dumps(step))
    """,
    "source": "import inspect\nprint(inspect.getfile(step))\ntry:\n    print(inspect.getsource(step))\n"
    "except OSError as error:\n    print(error)",
    "at_exit": "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')\nprint('work')",
    "at_exit_fails": "import atexit\natexit.register(lambda: 1 / 0)\nprint('work')",
    "threads": """
        import threading, time
        def later():
            while threading.main_thread().is_alive(): time.sleep(0.001)
            print('later')
        threading.Thread(target=later).start()
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        print('now')
    """,
    "unflushed": """
        global kept
        kept = open('kept.txt', 'w')
        kept.write('all of it')
        import atexit, os
        print('open')
        class Last:
            def __del__(self, read=open, say=print):
                kept = read('kept.txt')
                say('last word')
        global last
        last = Last()
    """,
    "cycle": """
        class Node:
            def __del__(self, say=print): say('gone')
        node = Node()
        node.itself = node
        print('made')
    """,
    "children": """
        import subprocess, sys
        print(subprocess.run([sys.executable, '-c', 'print(1 + 1)'], capture_output=True, text=True).stdout)
        subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 3'])
    """,
    "forked_pool": """
        import multiprocessing
        with multiprocessing.get_context('fork').Pool(2) as pool:
            print(pool.map(abs, [-1, -2, 3]))
    """,
    "spawned_pool": """
        import concurrent.futures, multiprocessing
        context = multiprocessing.get_context('spawn')
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            print(list(pool.map(abs, [-1, -2, 3])))
    """,
    "fork": """
        import os, sys
        pid = os.fork()
        if pid == 0:
            print('child')
            return
        print(os.waitpid(pid, 0)[1])
    """,
    "async": "import asyncio\nasync def work():\n    await asyncio.sleep(0)\n    return 5\nprint(asyncio.run(work()))",
    "bytes": "import sys\nsys.stdout.buffer.write(b'\\xff raw\\n')\nprint('a', flush=False)\nsys.stderr.write('b')",
    "closed_stdout": "import sys\nsys.stdout.close()",
    "warned": "import warnings\nwarnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "hook": "import sys\nsys.excepthook = lambda *what: print('hooked', what[0].__name__)\nraise SystemError",
    "random": "import random, uuid\nassert random.random() != uuid.uuid4()\nprint(random.getstate()[0])",
    "log": "import logging\nlogging.basicConfig()\nlogging.getLogger('x').warning('hm')\nprint(1)",
}


def behaviours() -> Workflow:
    """A step for each behaviour, of no more than a tenth of a processor, so that many run at once."""
    steps = []
    for name, text in BEHAVIOUR.items():
        body = textwrap.indent(textwrap.dedent(text).strip("\n"), "    ")
        source = Piece(f"def step():\n{body}", "/elsewhere/step.py", 10)
        steps.append(Template(name, Function("step", (source,), resources=Resources(cpu="100m"))))
    return flow(*steps, graph(*(Task(name, name) for name in BEHAVIOUR)))


def told(record: RunRecord, home: Path) -> dict[str, str]:
    """What each step said and how it ended, without what differs from run to run."""
    found = {}
    for name in BEHAVIOUR:
        lines = "\n".join(line.text for line in logs(record.id, name, home=home))
        text = f"{record.tasks[name].state} {record.tasks[name].message.splitlines()[:1]}\n{lines}"
        found[name] = re.sub("0x[0-9a-f]+", "0x", text.replace(record.id, "RUN").replace(str(home), "HOME"))
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """What the steps do as interpreters of their own, and forked."""
    found = []
    for switch in ("0", "1"):
        home = tmp_path_factory.mktemp("zygote") / "home"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COULER_ZYGOTE", switch)
            found.append(told(execute(behaviours(), home=home), home))
    return found[0], found[1]


@pytest.mark.parametrize("name", BEHAVIOUR)
def test_a_forked_step_does_what_a_fresh_interpreter_does(
    name: str, both: tuple[dict[str, str], dict[str, str]]
) -> None:
    fresh, forked = both
    assert forked[name] == fresh[name]


PARALLEL = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

BASE = 10


def work(n):
    return BASE + n


def nested(n):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(work, [n])[0]


def parallel(kind: str) -> list[int]:
    context = multiprocessing.get_context(kind)
    with context.Pool(2) as pool:
        found = pool.map(work, [1, 2, 3])
    with ProcessPoolExecutor(2, mp_context=context) as processes:
        found += processes.map(work, [4, 5])
    with ThreadPoolExecutor(2) as threads:
        found += threads.map(work, [6])
    queue = context.Queue()
    child = context.Process(target=lambda_of(queue), args=(7,))
    child.start()
    found.append(queue.get())
    child.join()
    outer = context.Process(target=into, args=(queue, 8))
    outer.start()
    found.append(queue.get())
    outer.join()
    return found


def lambda_of(queue):
    return queue.put


def into(queue, n):
    queue.put(nested(n))
"""


@pytest.mark.parametrize("switch", ["0", "1"])
@pytest.mark.parametrize("kind", ["fork", "spawn", "forkserver"])
def test_functions_of_a_step_run_in_processes_of_its_own(
    kind: str, switch: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are started; a process of theirs may start some itself."""
    monkeypatch.setenv("COULER_ZYGOTE", switch)
    monkeypatch.setenv("TEST_ENGINE_HOME", str(home))
    step = python("parallel", PARALLEL, inputs={"kind": STR}, output=ANY, timeout=120)
    task = Task("it", "parallel", (Argument("kind", Literal(kind)),))
    record = execute(flow(step, graph(task)), home=home)
    assert record.status == "Succeeded", record.tasks["it"].message
    result = record.tasks["it"].result
    assert result is not None
    assert result.parameters["result"] == [11, 12, 13, 14, 15, 16, 7, 18]
    assert processes_of(home) == {}


LOOK = """
    import os, re
    found = []
    own = str(os.getpid()) + '-is-here'  # what is there is found
    control = (str(os.getpid()), '-is-here')
    def look_for(data):
        for first, second in [*PARTS, control]:
            first, second = first.encode(), second.encode()
            places = [match.end() for match in re.finditer(first, data)]
            found.extend((first, second) for place in places if data[place:place + len(second)] == second)
    for line in open('/proc/self/maps'):
        begin, end, mode, name = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\\S+)\\s+\\S+ \\S+ \\S+\\s*(.*)', line).groups()
        if 'r' not in mode or name.startswith('[v'):
            continue
        with open('/proc/self/mem', 'rb') as memory:
            memory.seek(int(begin, 16))
            try:
                data = memory.read(int(end, 16) - int(begin, 16))
            except OSError:
                continue
        look_for(data)
    for place in ['/proc/self/environ', '/proc/self/cmdline', f'/proc/{os.getppid()}/environ']:
        look_for(open(place, 'rb').read())
    for name in os.listdir('/proc/self/fd'):
        assert int(name) < 3 or not os.path.exists(f'/proc/self/fd/{name}'), os.readlink(f'/proc/self/fd/{name}')
    assert {first + second for first, second in found} == {own.encode()}, found
"""


def test_no_step_finds_what_another_was_given_or_gave(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are put together where they are looked for, so that the step that looks doesn't hold them itself."""
    monkeypatch.setenv("COULER_SECRET_SOME_KEY", "".join(["in-the-", "engines-environment"]))
    write_secret(open_home(home), "api", {"token": "".join(["secret-", "of-a-store"])})
    give = python("give", "def give(text: str) -> str:\n    return text[::-1]", inputs={"text": STR}, output=STR)
    keep = "def keep():\n    import os\n    assert len(os.environ['TOKEN']) == 17"
    secret = Template("keep", Function("keep", (Piece(keep),), env=(EnvVar("TOKEN", SecretRef("api", "token")),)))
    own = Template("own", Function("own", (Piece("def own():\n    pass"),), env=(EnvVar("OWN", "declared-here"),)))
    parts = [("given-to-", "another"), ("rehtona-", "ot-nevig"), ("in-the-", "engines-environment")]
    parts += [("secret-", "of-a-store"), ("declared-", "here")]
    look = f"def look():\n    PARTS = {parts}{LOOK}"
    given = Argument("text", Literal("given-to-another"))
    tasks = [Task(f"give{n}", "give", (given,)) for n in range(4)]
    tasks += [Task("keep", "keep"), Task("own", "own")]
    before = tuple(After(task.name) for task in tasks)
    tasks += [Task("look", "look", after=before)]
    record = execute(flow(give, secret, own, python("look", look), graph(*tasks)), home=home)
    assert record.status == "Succeeded", record.message


def test_a_step_with_secrets_has_an_interpreter_of_its_own(home: Path) -> None:
    write_secret(open_home(home), "api", {"token": "some-secret"})
    parent = "def parent() -> str:\n    import os\n    return open(f'/proc/{os.getppid()}/cmdline').read()"
    env = (EnvVar("TOKEN", SecretRef("api", "token")),)
    outputs = Outputs((OutputParameter("result", STR),))
    guarded = Template("guarded", Function("parent", (Piece(parent),), "one", env=env), outputs=outputs)
    started = (EnvVar("PYTHONHASHSEED", "0"),)
    seeded = Template("seeded", Function("parent", (Piece(parent),), "one", env=started), outputs=outputs)
    plain = python("parent", parent, output=STR)
    main = graph(Task("guarded", "guarded"), Task("seeded", "seeded"), Task("plain", "parent"))
    record = execute(flow(guarded, seeded, plain, main), home=home)
    parents = {}
    for path in ("guarded", "seeded", "plain"):
        result = record.tasks[path].result
        assert result is not None
        parents[path] = result.parameters["result"]
    assert {path: " zygote " in text.replace("\0", " ") for path, text in parents.items()} == {
        "guarded": False,
        "seeded": False,
        "plain": True,
    }


def test_modules_that_a_workflow_preloads_are_there_before_the_step(home: Path) -> None:
    source = "def asks() -> bool:\n    import sys\n    return 'sqlite3' in sys.modules"
    preloaded = flow(python("asks", source, output=ANY), graph(Task("it", "asks")))
    results = []
    for engines in ({}, {"local": {"preload": ["sqlite3"]}}):
        record = execute(msgspec.structs.replace(preloaded, engines=engines), home=home)
        result = record.tasks["it"].result
        assert result is not None
        results.append(result.parameters["result"])
    assert results == [False, True]


def test_a_module_that_cant_be_preloaded_fails_the_steps_and_says_so(home: Path) -> None:
    broken = flow(
        python("a", "def a():\n    pass"), graph(Task("it", "a")), engines={"local": {"preload": ["no_such"]}}
    )
    record = execute(broken, home=home)
    assert record.tasks["it"].message.splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such'"


@pytest.mark.parametrize("given", ["json", ["json", 3], ["os; import sys"], ["../x"], [""], {"json": 1}])
def test_what_is_no_list_of_modules_to_preload_is_refused(given: Any, home: Path) -> None:
    """The DSL says so where it is written; a workflow may come from elsewhere, too."""
    odd = flow(python("a", "def a():\n    pass"), graph(Task("it", "a")), engines={"local": {"preload": given}})
    with pytest.raises(DiagnosticError, match="preload is a list of modules, not"):
        execute(odd, home=home)


def test_a_preloaded_module_may_print_and_start_a_process_that_ends_with_the_run(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import os, time\nprint('loaded', flush=True)\nif os.fork() == 0:\n    time.sleep(1000)\n"
    (tmp_path / "speaks.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TEST_ENGINE_HOME", str(home))
    step = python("a", "def a():\n    import os, sys\n    assert 'speaks' in sys.modules")
    record = execute(flow(step, graph(Task("it", "a")), engines={"local": {"preload": ["speaks"]}}), home=home)
    assert record.status == "Succeeded", record.message
    assert list(logs(record.id, home=home)) == []
    assert processes_of(home) == {}


def test_steps_that_share_preloaded_numpy_get_other_random_numbers(home: Path) -> None:
    pytest.importorskip("numpy")
    source = "def draw() -> float:\n    import numpy\n    return numpy.random.rand()"
    drawing = flow(
        python("draw", source, output=ANY),
        graph(Task("a", "draw"), Task("b", "draw")),
        engines={"local": {"preload": ["numpy"]}},
    )
    record = execute(drawing, home=home)
    first, second = (record.tasks[path].result for path in "ab")
    assert first is not None
    assert second is not None
    assert first.parameters != second.parameters


def test_a_killed_zygote_is_started_again_and_its_steps_go_on(drivers: Drivers, tmp_path: Path) -> None:
    ready, go = tmp_path / "ready", tmp_path / "go"
    os.mkfifo(ready)
    os.mkfifo(go)
    first = python(
        "first",
        f"def first():\n    import os\n    open('{ready}', 'w').write(str(os.getppid()))\n    open('{go}').read()",
    )
    second = python("second", "def second():\n    pass")
    third = python("third", "def third():\n    raise SystemExit(7)")
    tasks = (Task("first", "first"), Task("second", "second", after=(After("first"),)))
    driver = drivers.run(flow(first, second, third, graph(*tasks, Task("third", "third", after=(After("second"),)))))
    os.kill(int(ready.read_text()), signal.SIGKILL)
    go.write_text("")
    states = {path: task["status"] for path, task in driver.finish()["tasks"].items()}
    assert states == {"first": "Succeeded", "second": "Succeeded", "third": "Failed"}
    assert processes_of(drivers.home) == {}


def test_a_forked_step_that_lost_its_warden_is_ended(drivers: Drivers, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    source = "def wait():\n    import os, time\n    zygote = os.getppid()\n"
    source += "    warden = open(f'/proc/{zygote}/stat').read().rpartition(')')[2].split()[1]\n"
    source += f"    open('{ready}', 'w').write(warden)\n    time.sleep(1000)"
    driver = drivers.run(flow(python("wait", source), graph(Task("wait", "wait"))))
    os.kill(int(ready.read_text()), signal.SIGKILL)
    summary = driver.finish()
    assert summary["tasks"]["wait"]["status"] == "Failed"
    assert processes_of(drivers.home) == {}


def test_a_forked_step_outlives_its_engine(drivers: Drivers, tmp_path: Path) -> None:
    ready, go, witness = tmp_path / "ready", tmp_path / "go", tmp_path / "witness"
    os.mkfifo(ready)
    os.mkfifo(go)
    source = f"def wait() -> int:\n    open('{ready}', 'w').close()\n    open('{go}').read()\n"
    source += f"    open('{witness}', 'a').write('x')\n    return 5"
    main = graph(Task("wait", "wait"), outputs={"n": TaskOutput("wait", "result")})
    driver = drivers.run(flow(python("wait", source, output=INT), main))
    driver.until(kind="id")
    ready.read_text()
    driver.kill()
    go.write_text("")
    summary = drivers.resume(driver.run).finish()
    assert summary["outputs"] == {"n": 5}
    assert witness.read_text() == "x"
    assert processes_of(drivers.home) == {}


def test_what_a_forked_step_leaves_running_ends_with_it(home: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    away = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    away += f"        open('{pids}', 'w').write(str(os.getpid()))\n        time.sleep(1000)\n    os._exit(0)\n"
    away += f"while not os.path.exists('{pids}') or not open('{pids}').read(): time.sleep(0.001)"
    record = execute(
        flow(python("away", "def away():\n" + textwrap.indent(away, "    ")), graph(Task("a", "away"))), home=home
    )
    assert record.status == "Succeeded", record.message
    assert not Path(f"/proc/{pids.read_text()}").exists()


def test_a_forked_step_is_ended_by_its_time_out(home: Path) -> None:
    slow = python("slow", "def slow():\n    import time\n    time.sleep(1000)", timeout=0.2)
    record = execute(flow(slow, graph(Task("it", "slow"))), home=home, grace=0.1)
    assert record.tasks["it"].message.splitlines()[0] == "timed out after 0.2 seconds"
