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
from couler_py.runner.values import StepError, build, hints_of, is_list, misfit, parse_time, plain

if typing.TYPE_CHECKING:
    import datetime
    from pathlib import Path

# A step that does nothing spends most of its time on imports: what only some steps need is imported there.

SOURCES: dict[str, str] = {}


def main(spec: dict[str, Any], script: str) -> int:
    """Run the step that `spec` describes; `script` is the text that it is part of. Gives the exit code."""
    try:
        install(spec["packages"])
        add_includes()
        provide_api()
        namespace = define(spec, script)
        function = namespace[spec["function"]]
        arguments = read_inputs(spec["inputs"], hints_of(function, namespace))
        try:
            result = function(**arguments)
        except Exception:
            show_traceback()
            return 1
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
    if importlib.machinery.PathFinder.find_spec("couler_py") is not None:
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


def define(spec: dict[str, Any], script: str) -> dict[str, Any]:
    """Run the user's source, each piece under the file and line where it was written."""
    lines = script.split("\n")
    flags = 0
    for feature in spec["future"]:
        flags |= getattr(importlib.import_module("__future__"), feature).compiler_flag
    namespace: dict[str, Any] = {"__name__": "__couler_step__", "__builtins__": __builtins__}
    module = types.ModuleType("__couler_step__")
    module.__dict__.update(namespace)
    sys.modules["__couler_step__"] = module  # dataclasses and pickle look a class up in its module
    namespace = module.__dict__
    for piece in spec["pieces"]:
        if "text" in piece:
            text = base64.b64decode(piece["text"]).decode("utf-8")
        else:
            start = piece["start"]
            text = "\n".join(lines[start : start + piece["count"]])
        padded = "\n" * (piece["line"] - 1) + text + "\n"
        lines_before = SOURCES.get(piece["file"], "").splitlines()
        SOURCES[piece["file"]] = overlaid(lines_before, padded.splitlines())
        code = compile(padded, piece["file"], "exec", flags=flags, dont_inherit=True)
        exec(code, namespace)  # noqa: S102 - this is the user's own step
    return namespace


def overlaid(below: list[str], above: list[str]) -> str:
    """Two partial texts of one file as one: where the upper has a blank line, the lower shows."""
    length = max(len(below), len(above))
    below, above = below + [""] * (length - len(below)), above + [""] * (length - len(above))
    return "".join((new if new.strip() else old) + "\n" for old, new in zip(below, above))  # noqa: B905


def show_traceback() -> None:
    import linecache
    import traceback

    for file, text in SOURCES.items():
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


def read_inputs(inputs: list[dict[str, Any]], hints: dict[str, Any]) -> dict[str, Any]:
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
        text = os.environ.pop(variable_of(name), None)
        if text is None:
            raise StepError(f"the input {name!r} was not given")
        try:
            value = wire.decode(given["type"], base64.b64decode(text).decode("utf-8"))
        except ValueError as error:
            raise StepError(f"the input {name!r}: {error}") from None
        problem = misfit(given["type"], value)
        if problem:
            raise StepError(f"the input {name!r}: {problem}")
        arguments[name] = build(hints.get(name, Any), value)
    return arguments


def paths_in(folder: str) -> list[Path]:
    """The entries of a folder by name; of a fan-out, in the order of its items."""
    return [as_path(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def as_path(name: str) -> Path:
    from pathlib import Path

    return Path(name)


# ---- after the function


def outputs_folder() -> str:
    return os.environ.get("COULER_OUTPUTS", "/tmp/couler/outputs")  # noqa: S108


def write_outputs(spec: dict[str, Any], result: Any) -> None:
    values = outputs_of(spec, result)
    folder = outputs_folder()
    os.makedirs(folder, exist_ok=True)
    own: dict[str, Any] = {}
    for output in spec["outputs"]:
        name, value = output["name"], values[output["name"]]
        if output.get("artifact"):
            write_artifact(output, value, os.path.join(folder, name))
            continue
        try:
            own[name] = plain(value)
        except StepError as error:
            raise StepError(f"the output {name!r}: {error}") from None
        problem = misfit(output["type"], own[name])
        if problem:
            raise StepError(f"the output {name!r}: {problem}")
        own[name] = wire.restore(output["type"], own[name])
        if name in os.environ.get("COULER_EXACT", "").split(","):
            check_exact(name, own[name])
        write_value(name, output["type"], own[name], folder)
    for decision in spec["decisions"]:
        try:
            value = evaluator.evaluate(decision["expr"], lambda node: own[node["name"]])
        except evaluator.EvaluationError as error:
            raise StepError(f"a condition over the outputs of this step has no value: {error}") from None
        write_value(decision["name"], decision["type"], value, folder)


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


def write_value(name: str, type_: dict[str, Any], value: Any, folder: str) -> None:
    try:
        text = wire.encode(type_, value)
    except ValueError as error:
        raise StepError(f"the output {name!r}: {error}") from None
    if name in os.environ.get("COULER_PLAIN", "").split(",") and text.startswith(wire.MARKS):
        raise StepError(
            f"the output {name!r} holds text that can't reach the container that reads it as it is "
            "(two opening braces, a final newline, or a control character): return a Path, and let it read the file"
        )
    if os.environ.get("COULER_FORM") == "item":
        text = wire.to_json(wire.to_json(value))
    size, limit = len(text.encode("utf-8")), int(os.environ.get("COULER_LIMIT", wire.VALUE_LIMIT))
    if size > limit:
        raise StepError(
            f"the output {name!r} is {size} bytes long, and a value can have {limit}: "
            "return a Path to a file, or couler.spill(value), which writes one for you"
        )
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


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
