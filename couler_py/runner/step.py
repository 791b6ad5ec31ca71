"""What runs inside the process of a Python step: values in, the user's function, values out.

Standard library only, Python 3.8 or later, and self-contained together with `ir/wire.py` and
`ir/evaluate.py`: the image of a step needs nothing of ours. The text of these files must stay ASCII
and free of double braces, so that every engine carries it as it is (a test holds this).

The engine speaks through the environment:

COULER_INPUT_<name>  base64 of the encoded value of an input parameter (see `variable_of`)
COULER_INPUTS        the folder of input artifacts (default /tmp/couler/inputs)
COULER_OUTPUTS       the folder to write outputs to (default /tmp/couler/outputs)
COULER_FORM          "item": outputs are written as a JSON string that holds their JSON text
COULER_PLAIN         names of outputs, joined by commas, that a container reads as plain text
COULER_EXACT         names of outputs, joined by commas, that an engine takes apart, with numbers as doubles
COULER_LIMIT         the greatest size of an encoded value in bytes (default 96000)
COULER_INCLUDE       archives (.tar.gz) or folders with the user's own modules, joined by os.pathsep
COULER_INSTALL       "1": install the step's packages with pip first
COULER_RUN_<FIELD>   facts about the run: ID, NAME, NAMESPACE, SCHEDULED_TIME, START, ATTEMPT
"""

from __future__ import annotations

import base64
import importlib
import importlib.machinery
import json
import os
import sys
import types
import typing
from typing import Any

from couler_py.ir import evaluate as evaluator
from couler_py.ir import wire
from couler_py.ir.scalars import write_scalar
from couler_py.runner.values import StepError, build, hints_of, is_list, misfit, parse_time, plain

if typing.TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# A step that does nothing spends most of its time on imports: what only some steps need is imported there.

# What a process that steps are forked from knows of them before: their pieces as code, whether couler_py is installed.
CODES: list[Any] = []
INSTALLED = False

LINES: list[str] = []  # of the script, once they are needed

# What the script starts in a process that multiprocessing spawns, which looks for functions in the module of the step.
SPAWNED = (
    "import base64, importlib.machinery, os, sys, types\n"
    "if importlib.machinery.PathFinder.find_spec('couler_py') is None:\n"
    "    sys.modules['couler_py'] = types.ModuleType('couler_py')\n"
    "os.environ['COULER_RUNNER'] = 'SPAWNED = ' + repr(SPAWNED) + '; exec(SPAWNED)'\n"
    "step = sys.modules['__couler_step__'] = types.ModuleType('__couler_step__')\n"
    "flags = 0\n"
    "for feature in SPEC['future']:\n"
    "    flags |= getattr(importlib.import_module('__future__'), feature).compiler_flag\n"
    "with open(__file__, encoding='utf-8') as script:\n"
    "    lines = script.read().split(chr(10))\n"
    "for piece in SPEC['pieces']:\n"
    "    if 'text' in piece:\n"
    "        text = base64.b64decode(piece['text']).decode('utf-8')\n"
    "    else:\n"
    "        text = chr(10).join(lines[piece['start']:piece['start'] + piece['count']])\n"
    "    text = chr(10) * (piece['line'] - 1) + text + chr(10)\n"
    "    exec(compile(text, piece['file'], 'exec', flags, True), step.__dict__)\n"
)


def main(spec: dict[str, Any]) -> int:
    """Run the step that `spec` describes; the script that this is part of has its source. Gives the exit code."""
    try:
        install(spec["packages"])
        add_includes()
        provide_api()
        namespace = define(spec)
        os.environ["COULER_RUNNER"] = "SPAWNED = " + repr(SPAWNED) + "; exec(SPAWNED)"
        links = spec.get("links") or [spec]
        handed: dict[str, str] = {}
        for number, link in enumerate(links, 1):
            function = namespace[link["function"]]
            if len(links) > 1:
                print("couler: " + link["task"] + " (" + str(number) + " of " + str(len(links)) + ")", flush=True)
            hints = hints_of(function, namespace) if link["inputs"] else {}
            arguments = read_inputs(link["inputs"], hints, handed, spec.get("over", ()))
            try:
                result = function(**arguments) if "over" not in spec else for_each(spec, function, arguments)
            except Exception:
                show_traceback(spec)
                return 1
            if "over" in spec and result is None:
                return 1
            if number < len(links):
                handed = hand_over(link, result)
        write_outputs(spec, result)
    except StepError as error:
        print(f"couler: {error}", file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()
    return 0


# ---- before the function


def install(packages: list[str]) -> None:
    if not packages or os.environ.get("COULER_INSTALL") != "1":
        return
    import subprocess

    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    environment = dict(os.environ, PIP_BREAK_SYSTEM_PACKAGES="1", PIP_ROOT_USER_ACTION="ignore")
    done = subprocess.run([*command, "--", *packages], env=environment, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise StepError(f"the packages {', '.join(packages)} could not be installed")
    importlib.invalidate_caches()


def add_includes() -> None:
    folders: list[str] = []
    for place in filter(None, os.environ.get("COULER_INCLUDE", "").split(os.pathsep)):
        folder = place
        if not os.path.isdir(place):
            import tarfile
            import tempfile

            folder = tempfile.mkdtemp(prefix="couler-include-")
            with tarfile.open(place) as archive:
                if hasattr(tarfile, "data_filter"):
                    archive.extractall(folder, filter="data")
                else:
                    archive.extractall(folder)  # noqa: S202 - our own archive, by its digest; Python before 3.11.4
        sys.path.insert(0, folder)
        folders.insert(0, folder)
    if folders:
        os.environ["COULER_INCLUDE_ROOT"] = os.pathsep.join(folders)


def provide_api() -> None:
    """Where couler_py is not installed, a module of that name with what steps call while they run."""
    if INSTALLED or importlib.machinery.PathFinder.find_spec("couler_py") is not None:
        return
    module = types.ModuleType("couler_py")
    for name in ("log_metric", "spill", "unspill", "included"):
        setattr(module, name, globals()[name])
    module.run_info = RunInfo()  # type: ignore[attr-defined]
    sys.modules["couler_py"] = module


class RunInfo:
    """Facts about the run, as a step reads them while it runs."""

    @property
    def id(self) -> str:
        return os.environ.get("COULER_RUN_ID", "")

    @property
    def name(self) -> str:
        return os.environ.get("COULER_RUN_NAME", "")

    @property
    def namespace(self) -> str:
        return os.environ.get("COULER_RUN_NAMESPACE", "")

    @property
    def scheduled_time(self) -> datetime.datetime:
        return parse_time(os.environ["COULER_RUN_SCHEDULED_TIME"])

    @property
    def start(self) -> datetime.datetime:
        return parse_time(os.environ["COULER_RUN_START"])

    @property
    def attempt(self) -> int:
        return int(os.environ.get("COULER_RUN_ATTEMPT", "0"))


def log_metric(name: str, value: float, step: int | None = None) -> None:
    """Append a metric to the step's outputs."""
    record = {"name": name, "value": float(value), "step": step}
    folder = outputs_folder()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "metrics.jsonl"), "a", encoding="utf-8") as file:
        file.write(wire.to_json(record) + "\n")
    write_scalar(name, float(value), step)


def spill(value: Any) -> Path:
    """Write a value that is too large to travel to a file, to be returned as an artifact.

    >>> return couler.spill(rows)  # doctest: +SKIP
    """
    import tempfile
    from pathlib import Path

    handle, name = tempfile.mkstemp(prefix="spilled-", suffix=".json", dir=os.getcwd())
    data = plain(value)
    wire.finite(data)  # refuses what JSON can't say, as keys that aren't text
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file)  # NaN in Python's own way: nothing else says which text was a number
    return Path(name)


def unspill(path: Path) -> Any:
    """Read a value that `spill` wrote.

    >>> rows = couler.unspill(path)  # doctest: +SKIP
    """
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def included(name: str) -> Path:
    """The path of a file that came along by `include=`.

    >>> settings = couler.included("conf/settings.yaml").read_text()  # doctest: +SKIP
    """
    from pathlib import Path

    folders = os.environ.get("COULER_INCLUDE_ROOT", os.getcwd()).split(os.pathsep)
    found = [Path(folder) / name for folder in folders]  # of the step, the workflow and the project
    return next((path for path in found if path.exists()), found[0])


def define(spec: dict[str, Any]) -> dict[str, Any]:
    """Run the user's source, each piece under the file and line where it was written."""
    namespace: dict[str, Any] = {"__name__": "__couler_step__", "__builtins__": __builtins__}
    module = types.ModuleType("__couler_step__")
    module.__dict__.update(namespace)
    sys.modules["__couler_step__"] = module  # dataclasses and pickle look a class up in its module
    namespace = module.__dict__
    for code in CODES or compiled(spec):
        exec(code, namespace)  # noqa: S102 - this is the user's own step
    return namespace


def compiled(spec: dict[str, Any]) -> Iterator[Any]:
    flags = 0
    for feature in spec["future"]:
        flags |= getattr(importlib.import_module("__future__"), feature).compiler_flag
    for piece in spec["pieces"]:
        yield compile(source_of(piece), piece["file"], "exec", flags=flags, dont_inherit=True)


def source_of(piece: dict[str, Any]) -> str:
    """The text of a piece, on the lines where it was written."""
    if "text" in piece:
        text = base64.b64decode(piece["text"]).decode("utf-8")
    else:
        if not LINES:
            with open(__file__, encoding="utf-8") as script:
                LINES.extend(script.read().split("\n"))
        start = piece["start"]
        text = "\n".join(LINES[start : start + piece["count"]])
    before: int = piece["line"] - 1
    return "\n" * before + text + "\n"


def overlaid(below: list[str], above: list[str]) -> str:
    """Two partial texts of one file as one: where the upper has a blank line, the lower shows."""
    length = max(len(below), len(above))
    below, above = below + [""] * (length - len(below)), above + [""] * (length - len(above))
    return "".join((new if new.strip() else old) + "\n" for old, new in zip(below, above))  # noqa: B905


def show_traceback(spec: dict[str, Any]) -> None:
    import linecache
    import traceback

    sources: dict[str, str] = {}
    for piece in spec["pieces"]:
        before = sources.get(piece["file"], "").splitlines()
        sources[piece["file"]] = overlaid(before, source_of(piece).splitlines())
    for file, text in sources.items():
        if not os.path.exists(file):  # else the file itself is shown
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_globals.get("__name__") != "__couler_step__":
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


# ---- into the function


def variable_of(name: str) -> str:
    """The environment variable with an input: Kubernetes takes ASCII names only, and Python's may be in any alphabet.

    No name in Python begins with a digit, so none is taken for another.
    """
    return "COULER_INPUT_" + (name if name.isascii() else "0" + name.encode("utf-8").hex())


def read_inputs(
    inputs: list[dict[str, Any]], hints: dict[str, Any], handed: dict[str, str], over: Iterable[str]
) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for given in inputs:
        name = given["name"]
        if given.get("artifact"):
            path = os.path.join(os.environ.get("COULER_INPUTS", "/tmp/couler/inputs"), name)  # noqa: S108
            if os.path.exists(path):
                arguments[name] = paths_in(path) if is_list(hints.get(name)) else as_path(path)
            elif given.get("optional"):
                arguments[name] = None
            else:
                raise StepError(f"the input artifact {name!r} is not at {path}")
            continue
        try:
            value = wire.decode(given["type"], input_text(given, handed))
        except ValueError as error:
            raise StepError(f"the input {name!r}: {error}") from None
        problem = misfit(given["type"], value)
        if problem:
            raise StepError(f"the input {name!r}: {problem}")
        hint = hints.get(name, Any)
        arguments[name] = [build(hint, item) for item in value] if name in over else build(hint, value)
    return arguments


def input_text(given: dict[str, Any], handed: dict[str, str]) -> str:
    """The text that an input travelled as: from the engine, or from the function before in the same process."""
    if "from" in given:
        return handed[given["from"]]
    text = os.environ.pop(variable_of(given.get("as", given["name"])), None)
    if text is None:
        raise StepError(f"the input {given['name']!r} was not given")
    return base64.b64decode(text).decode("utf-8")


def paths_in(folder: str) -> list[Path]:
    """The entries of a folder by name; of a fan-out, in the order of its items."""
    return [as_path(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def as_path(name: str) -> Path:
    from pathlib import Path

    return Path(name)


def for_each(spec: dict[str, Any], function: Any, arguments: dict[str, Any]) -> list[Any] | None:
    """Call the function for each element of the lists, after a failure too. None where some failed."""
    same = {name: value for name, value in arguments.items() if name not in spec["over"]}
    found, failed = [], 0
    for number, items in enumerate(zip(*(arguments[name] for name in spec["over"]))):  # noqa: B905
        try:
            found.append(function(**same, **dict(zip(spec["over"], items))))  # noqa: B905
        except Exception:
            failed += 1
            print("couler: item " + str(number) + " of this batch failed", file=sys.stderr)
            show_traceback(spec)
    return None if failed else found


# ---- after the function


def outputs_folder() -> str:
    return os.environ.get("COULER_OUTPUTS", "/tmp/couler/outputs")  # noqa: S108


def write_outputs(spec: dict[str, Any], result: Any) -> None:
    values = outputs_of(spec, result) if "over" not in spec else lists_of(spec, result)
    folder = outputs_folder()
    if values:
        os.makedirs(folder, exist_ok=True)
    own: dict[str, Any] = {}
    for output in spec["outputs"]:
        name, value = output["name"], values[output["name"]]
        if output.get("artifact"):
            write_artifact(output, value, os.path.join(folder, name))
            continue
        own[name] = value_of(output, value)
        if name in os.environ.get("COULER_EXACT", "").split(","):
            check_exact(name, own[name])
        write_value(name, output["type"], own[name], folder)
    for decision in spec["decisions"]:
        try:
            value = evaluator.evaluate(decision["expr"], lambda node: own[node["name"]])
        except evaluator.EvaluationError as error:
            raise StepError(f"a condition over the outputs of this step has no value: {error}") from None
        write_value(decision["name"], decision["type"], value, folder)


def value_of(output: dict[str, Any], value: Any) -> Any:
    """What was returned for an output as a JSON value of its type."""
    try:
        made = plain(value)
    except StepError as error:
        raise StepError(f"the output {output['name']!r}: {error}") from None
    problem = misfit(output["type"], made)
    if problem:
        raise StepError(f"the output {output['name']!r}: {problem}")
    return wire.restore(output["type"], made)


def hand_over(link: dict[str, Any], result: Any) -> dict[str, str]:
    """What a function of a chain returned, as the texts that would travel to the next one."""
    values = outputs_of(link, result)
    found = {}
    for each in link["outputs"]:
        name = each["name"]
        found[name] = encoded(name, each["type"], value_of(each, values[name]))
        check_size(name, found[name])
    return found


def outputs_of(spec: dict[str, Any], result: Any) -> dict[str, Any]:
    returns, names = spec["returns"], [output["name"] for output in spec["outputs"]]
    if returns == "none":
        return {}
    if returns == "one":
        return {names[0]: result}
    fields = result if isinstance(result, dict) else None
    values = {}
    for name in names:
        if fields is not None and name in fields:
            values[name] = fields[name]
        elif fields is None and hasattr(result, name):
            values[name] = getattr(result, name)
        else:
            raise StepError(f"the step returned {type(result).__name__}, which has no {name!r}")
    return values


def lists_of(spec: dict[str, Any], results: list[Any]) -> dict[str, list[Any]]:
    """The outputs of a function that was called for each of several elements, each as a list."""
    found = [outputs_of(spec, result) for result in results]
    return {output["name"]: [values[output["name"]] for values in found] for output in spec["outputs"]}


def write_value(name: str, type_: dict[str, Any], value: Any, folder: str) -> None:
    text = encoded(name, type_, value)
    if name in os.environ.get("COULER_PLAIN", "").split(",") and text.startswith(wire.MARKS):
        raise StepError(
            f"the output {name!r} holds text that can't reach the container that reads it as it is "
            "(two opening braces, a final newline, or a control character): return a Path, and let it read the file"
        )
    if os.environ.get("COULER_FORM") == "item":
        text = wire.to_json(wire.to_json(value))
    check_size(name, text)
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def check_size(name: str, text: str) -> None:
    size, limit = len(text.encode("utf-8")), int(os.environ.get("COULER_LIMIT", wire.VALUE_LIMIT))
    if size > limit:
        raise StepError(
            f"the output {name!r} is {size} bytes long, and a value can have {limit}: "
            "return a Path to a file, or couler.spill(value), which writes one for you"
        )


def encoded(name: str, type_: dict[str, Any], value: Any) -> str:
    try:
        return wire.encode(type_, value)
    except ValueError as error:
        raise StepError(f"the output {name!r}: {error}") from None


def check_exact(name: str, value: Any) -> None:
    if isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            check_exact(name, part)
    elif isinstance(value, int) and abs(value) > evaluator.EXACT:
        raise StepError(
            f"the output {name!r} holds {value}, and the engine that takes it apart can't tell integers beyond plus or "
            "minus 2^53 from their neighbours: return them as strings"
        )


def write_artifact(output: dict[str, Any], value: Any, target: str) -> None:
    name = output["name"]
    if value is None and output.get("optional"):
        return
    if not isinstance(value, (str, os.PathLike)):
        raise StepError(f"the output {name!r} should be a Path, not {type(value).__name__}")
    source = os.path.abspath(os.fspath(value))
    if not os.path.exists(source):
        raise StepError(f"the output {name!r} names {source}, which is not there")
    if source == os.path.abspath(target):
        return
    import shutil

    suffix = os.path.splitext(source)[1]
    if suffix:
        with open(target + ".suffix", "w", encoding="utf-8") as file:
            file.write(suffix)
    if os.path.isdir(source):
        if os.path.realpath(target).startswith(os.path.join(os.path.realpath(source), "")):
            raise StepError(
                f"the output {name!r} names {source}, in which the outputs themselves are written: "
                "put what is meant into a folder of its own"
            )
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)
