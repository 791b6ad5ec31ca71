"""The same graph in Python, written as YAML by each compiler."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from programs import HERE, OURS, PEERS, FailedError, output, version
from shapes import SHAPES

FORMS = ("shared", "distinct")
Verdict = tuple[str, str, bool]


class Compiler(NamedTuple):
    """A compiler: its name, the distribution, the environment, and the program that times it."""

    name: str
    distribution: str
    python: Path
    program: Path


COULER_PY = Compiler("couler-py", "couler-py", OURS, HERE / "ours_compile.py")
HERA = Compiler("Hera", "hera", PEERS, HERE / "peers" / "hera_compile.py")
KFP = Compiler("KFP", "kfp", PEERS, HERE / "peers" / "kfp_compile.py")
COULER = Compiler("Couler", "couler", PEERS, HERE / "peers" / "couler_compile.py")


class Case(NamedTuple):
    """What one program is asked to compile."""

    compiler: Compiler
    shape: str
    form: str
    n: int


def measure(rounds: int, scale: int) -> dict[str, Any]:
    """Time every compiler on every shape: the best of `rounds`, tools taking turns. `scale` divides the sizes."""
    rivals = [HERA, KFP, *_couler()]
    versions = {each.name: version(each.python, each.distribution) for each in (COULER_PY, *rivals)}
    print("\nFrom Python to YAML: " + ", ".join(f"{name} {number}" for name, number in versions.items()))
    _check_same_graph()
    print(f"\n{'':10}{'shape':9}{'templates':10}{'tasks':>8}{'seconds':>9}{'cpu':>8}{'YAML MB':>9}", end="")
    print(f"{'peak MB':>9}{'x Hera':>9}{'by cpu':>8}", flush=True)
    rows: list[dict[str, Any]] = []
    for shape in SHAPES:
        for form in FORMS:
            group = _rows(_cases(rivals, shape, form, scale), rounds)
            _beside_hera(group)
            _print(group)
            rows += group
    _say_first(rows)
    return {"versions": versions, "rows": rows}


def _rows(cases: list[Case], rounds: int) -> list[dict[str, Any]]:
    best: dict[Case, dict[str, Any]] = {}
    largest = max(case.n for case in cases)
    for number in range(rounds):
        for case in dict.fromkeys(cases):
            if number == 0 or case.n < largest:  # once is enough to see whether time grows with the tasks
                _keep_best(best, case, _timed(case))
    return [{**case._asdict(), "compiler": case.compiler.name, **took} for case, took in best.items()]


def _cases(rivals: list[Compiler], shape: str, form: str, scale: int) -> list[Case]:
    n = 10_000 // scale
    # Each step that Hera meets for the first time is looked up among all before it: 10,000 would take minutes.
    comparable = n if form == "shared" else n // 5
    sizes = {"KFP": [n // 20]}
    ours = [Case(COULER_PY, shape, form, size) for size in (comparable, n, 10 * n)]
    return [*ours, *(Case(each, shape, form, size) for each in rivals for size in sizes.get(each.name, [comparable]))]


def _timed(case: Case) -> dict[str, Any]:
    compiler = case.compiler
    found: dict[str, Any] = json.loads(output(compiler.python, compiler.program, case.shape, case.n, case.form))
    return found


def _keep_best(best: dict[Case, dict[str, Any]], case: Case, took: dict[str, Any]) -> None:
    known = best.setdefault(case, took)
    for key in ("seconds", "cpu_seconds", "first_seconds"):
        known[key] = min(known[key], took[key])


def _couler() -> list[Compiler]:
    """Couler where it works; else why it doesn't is said."""
    try:
        output(PEERS, "-c", "import couler.argo")
    except FailedError as error:
        number = version(PEERS, "couler")
        what = f"couler {number} from PyPI has no couler.argo" if number else "couler doesn't install"
        print(f"\nCouler is not measured: {what} ({error}).")
        return []
    return [COULER]


def _check_same_graph() -> None:
    """Both Argo compilers must have written the same tasks and edges. Raises `SystemExit` where they didn't."""
    for shape in SHAPES:
        for form in FORMS:
            graphs = [
                _edges(yaml.load(output(each.python, each.program, shape, 250, form, "text"), yaml.CSafeLoader))
                for each in (COULER_PY, HERA)
            ]
            if graphs[0] != graphs[1] or graphs[0] != [sorted(waits) for waits in SHAPES[shape](250)]:
                raise SystemExit(f"the compilers wrote different graphs for {shape}, {form}")


def _edges(document: Any) -> list[list[int]]:
    """The edges of the only graph of a workflow, by place of the tasks."""
    (tasks,) = [each["dag"]["tasks"] for each in document["spec"]["templates"] if "dag" in each]
    place = {task["name"]: index for index, task in enumerate(tasks)}
    return [sorted(place[name] for name in re.findall(r"[\w-]+", task.get("depends", ""))) for task in tasks]


def _beside_hera(rows: list[dict[str, Any]]) -> None:
    hera = {(row["shape"], row["form"], row["n"]): row for row in rows if row["compiler"] == "Hera"}
    for row in rows:
        other = hera.get((row["shape"], row["form"], row["n"]))
        if other is not None and row is not other:
            row["times_faster_than_hera"] = other["seconds"] / row["seconds"]
            row["times_faster_than_hera_cpu"] = other["cpu_seconds"] / row["cpu_seconds"]


def _print(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        print(f"{row['compiler']:10}{row['shape']:9}{row['form']:10}{row['n']:>8,}{row['seconds']:>9.3f}", end="")
        print(f"{row['cpu_seconds']:>8.3f}{row['bytes'] / 1e6:>9.2f}{row['peak_bytes'] / 1e6:>9.0f}", end="")
        ratios = row.get("times_faster_than_hera"), row.get("times_faster_than_hera_cpu")
        shown = (f"{ratio:>{width}.1f}" for ratio, width in zip(ratios, (9, 8), strict=True) if ratio)
        print("".join(shown), flush=True)


def _say_first(rows: list[dict[str, Any]]) -> None:
    print("\nHera with distinct templates is measured at fewer tasks, because its time grows with their square there.")
    print("KFP writes its own format, not Argo's. What a process loads at its first compilation is not in these times:")
    for name in dict.fromkeys(row["compiler"] for row in rows):
        first = min(row["first_seconds"] for row in rows if row["compiler"] == name)
        print(f"  {name:10} first compilation, of ten tasks: {first:.3f} s")


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What is promised about compiling: under a second, linear, five times faster than Hera.

    Judged by seconds of processor: a compiler has one thread and waits for nothing, so that a quiet machine's clock
    says the same, and a busy one's says more about its other work.
    """
    if found is None:
        return []
    ours = [row for row in found["rows"] if row["compiler"] == COULER_PY.name]
    wall, cpu = (max(row[key] for row in ours if row["n"] == 10_000) for key in ("seconds", "cpu_seconds"))
    ratio_wall, ratio = (
        min(row[key] for row in ours if key in row) for key in ("times_faster_than_hera", "times_faster_than_hera_cpu")
    )
    time = {(row["shape"], row["form"], row["n"]): row["cpu_seconds"] for row in ours}
    growth = max(time[shape, form, 100_000] / time[shape, form, 10_000] for shape in SHAPES for form in FORMS)
    return [
        ("10,000 tasks in less than 1 s", f"{cpu:.2f} s of processor ({wall:.2f} s by the clock)", cpu < 1),
        ("at least 5 times faster than Hera", f"{ratio:.1f} times ({ratio_wall:.1f} by the clock)", ratio >= 5),
        # 100,000 tasks are a gigabyte, which no cache holds: each costs more, though there are only ten times as many.
        ("linear: 100,000 tasks take at most 15 times as long as 10,000", f"{growth:.1f} times", growth < 15),
    ]
