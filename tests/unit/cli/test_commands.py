"""The commands that need no run, as a user types them."""

from __future__ import annotations

import json
import keyword
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from couler_py import ir
from couler_py.cli.app import COMMANDS, load
from couler_py.cli.exits import MEANINGS
from couler_py.ir.codes import explanations
from tests.unit.cli.conftest import Couler

WRONG = """
import couler_py as couler


@couler.step
def train(c: float) -> float:
    return c


@couler.workflow
def flow(c: float = 1.0):
    score = train(c)
    if score > 3:
        train(score)
"""


def test_help_lists_every_command_and_exit_code(couler: Couler) -> None:
    shown = couler("--help")
    assert shown.code == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", shown.out, re.MULTILINE)
    for code in MEANINGS:
        assert re.search(rf"^  {code} ", shown.out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_what_its_summary_says(name: str, couler: Couler) -> None:
    shown = couler(name, "--help")
    assert shown.code == 0
    assert " ".join(COMMANDS[name][1].split()) in " ".join(shown.out.split())


def test_the_page_of_the_documentation_names_every_command_and_exit_code(checkout: Path) -> None:
    text = (checkout / "docs" / "cli.md").read_text()
    for name in COMMANDS:
        assert f"`couler {name} " in text
    for code, meaning in MEANINGS.items():
        assert f"| {code} | {meaning} |" in text


def test_commands_are_imported_when_they_are_called() -> None:
    code = (
        "import sys; from couler_py.cli.app import group; group(); print([m for m in sys.modules if '.commands' in m])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_every_command_has_a_file() -> None:
    folder = Path(load.__code__.co_filename).parent / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == {
        f"{name}_" if keyword.iskeyword(name) else name for name in COMMANDS
    }


def test_an_unknown_command_is_wrong_usage(couler: Couler) -> None:
    shown = couler("rum")
    assert shown.code == 2
    assert "No such command 'rum'. Did you mean 'run'?" in shown.err


def test_a_command_that_is_like_none_is_only_unknown(couler: Couler) -> None:
    assert "No such command 'frobnicate'." in couler("frobnicate").err


# ---- lint


def test_lint_of_a_right_workflow_says_so(flow: str, couler: Couler) -> None:
    shown = couler("lint", flow)
    assert (shown.code, shown.out, shown.err) == (0, "", "nothing wrong\n")


def test_lint_shows_the_line_that_is_wrong(here: Path, couler: Couler) -> None:
    (here / "wrong.py").write_text(WRONG)
    shown = couler("lint", "wrong.py")
    assert shown.code == 2
    assert "--> wrong.py:13" in shown.err
    assert "13 |     if score > 3:\n   |     ^^^^^^^^^^^^^\n" in shown.err
    assert "Traceback" not in shown.err


def test_lint_speaks_json_to_tools(here: Path, couler: Couler) -> None:
    (here / "wrong.py").write_text(WRONG)
    (here / "boom.py").write_text("1 / 0\n")
    shown = couler("lint", "--format", "json", "wrong.py", "boom.py")
    assert shown.code == 2
    found = json.loads(shown.out)["diagnostics"]
    assert [(each["line"], each["severity"]) for each in found] == [(13, "error"), (1, "error")]
    assert found[1]["code"] == "CLR701"


# ---- compile


def test_the_ir_goes_to_stdout_and_back(flow: str, here: Path, couler: Couler) -> None:
    shown = couler("compile", flow, "--to", "ir")
    assert shown.code == 0
    (here / "flow.json").write_text(shown.out)
    again = couler("compile", "flow.json", "--to", "ir", "-o", "out/again.json")
    assert again.out == ""
    assert (here / "out" / "again.json").read_text() == shown.out
    assert "wrote out/again.json" in again.err


def test_a_folder_gets_all_files(flow: str, here: Path, couler: Couler) -> None:
    assert couler("compile", flow, "--to", "ir", "-o", "out/").code == 0
    assert [path.name for path in (here / "out").iterdir()] == ["hello.json"]


def test_an_unknown_engine_lists_those_installed(flow: str, couler: Couler) -> None:
    shown = couler("compile", flow, "--to", "slurm")
    assert shown.code == 2
    assert "there is no engine 'slurm'; installed are " in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compile", "--to", "local", "-O", "colour=red"), "local: there is no option 'colour'"),
        (("compile", "--to", "local@2"), "local: there is no version '2'"),
        (("compile", "--to", "ir", "-O", "colour=red"), "compile(to='ir') takes no options, and got colour"),
        (("lint", "--to", "argo@9"), "argo: there is no version '9'; there are 4 and 3.5"),
        (("run", "-O", "colour=red"), "local: there is no option 'colour'; there are allow_host, "),
    ],
    ids=str,
)
def test_an_option_that_an_engine_does_not_know_is_wrong_usage_and_no_bug(
    couler: Couler, flow: str, arguments: tuple[str, ...], message: str
) -> None:
    command, *rest = arguments
    shown = couler(command, flow, *rest)
    assert shown.code == 2
    assert message in shown.err


def test_an_option_that_the_engine_doesn_t_know_is_wrong_usage(flow: str, couler: Couler) -> None:
    shown = couler("compile", flow, "--to", "argo", "-O", "colour=red")
    assert shown.code == 2
    assert "colour" in shown.err
    assert "Traceback" not in shown.err


# ---- graph, plan, engines, explain


@pytest.mark.parametrize(
    ("name", "begins"), [("x.svg", "<svg "), ("x.html", "<!DOCTYPE html>"), ("x.mmd", "flowchart TD\n")]
)
def test_a_graph_is_written_in_the_form_of_its_name(
    name: str, begins: str, flow: str, here: Path, couler: Couler
) -> None:
    assert couler("graph", flow, "-o", name).code == 0
    assert (here / name).read_text().startswith(begins)


def test_a_graph_of_another_form_is_refused(flow: str, couler: Couler) -> None:
    shown = couler("graph", flow, "-o", "x.png")
    assert (shown.code, shown.err) == (2, "error: a picture is written as .svg, .html or .mmd, not as .png\n")


def test_a_plan_counts_and_names(flow: str, couler: Couler) -> None:
    shown = couler("plan", flow, "--engine", "argo")
    assert shown.code == 0
    assert "levels        1, of at most 1 at once\n" in shown.out
    assert "longest path  1: greet\n" in shown.out
    assert "argo: " in shown.out


def test_a_plan_takes_options_of_its_first_engine(flow: str, couler: Couler) -> None:
    assert "argo: " in couler("plan", flow, "-O", "crds=minimal").out
    shown = couler("plan", flow, "-O", "crds=none")
    assert "crds" in shown.out + shown.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--split", "x"), 'error: --split x: give "auto", "off", a Budget, or budgets like "tasks=100,slots=8"\n'),
        (("--batch-fanouts", "1"), "error: --batch-fanouts 1 is not a number of items from 2 on\n"),
        (("--batch-fanouts", ""), "error: --batch-fanouts  is not a number of items from 2 on\n"),
        (("--retry-platform", "99"), "error: --retry-platform 99 is not a number of further attempts from 0 to 10\n"),
    ],
)
def test_options_of_passes_are_refused_as_they_were_typed(
    given: tuple[str, ...], said: str, flow: str, couler: Couler
) -> None:
    assert couler("compile", flow, *given).err == said


def test_a_document_in_argo_s_words_is_left_as_it_is_and_that_is_said(here: Path, couler: Couler) -> None:
    (here / "w.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {generateName: w-}\n"
        "spec: {entrypoint: a, templates: [{name: a, container: {image: alpine}}]}\n"
    )
    assert "warning[CLR709]: split: passes leave" in " ".join(
        couler("compile", "w.yaml", "--split", "auto").err.split()
    )
    assert "CLR709" not in couler("compile", "w.yaml").err
    assert "CLR709" not in couler("compile", "w.yaml", "--split", "off").err


def test_a_plan_is_json_too(flow: str, couler: Couler) -> None:
    found = json.loads(couler("plan", flow, "--engine", "argo", "--json").out)
    assert found["pods"] == {"least": 1, "most": 1}
    assert found["critical_path"] == ["greet"]
    assert [each["name"] for each in found["engines"]] == ["argo"]


def test_the_matrix_of_engines_has_a_row_for_each_feature(couler: Couler) -> None:
    from couler_py.backends.features import FEATURES

    shown = couler("engines", "argo")
    assert [line.split()[0] for line in shown.out.splitlines()[1:]] == list(FEATURES)


def test_a_code_is_explained_in_any_case(couler: Couler) -> None:
    shown = couler("explain", "clr706")
    assert shown.code == 0
    assert shown.out.startswith("CLR706  The value of a parameter is not of its type\n")


def test_a_code_that_isn_t_there_names_close_ones(couler: Couler) -> None:
    shown = couler("explain", "CLR70")
    assert shown.code == 2
    assert "did you mean CLR70" in shown.err


def test_without_a_code_all_are_listed(couler: Couler) -> None:
    assert len(couler("explain").out.splitlines()) == len(explanations()) + 1


# ---- the end of a process


def process(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "couler_py.cli", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **variables},
    )  # fmt: skip


def test_a_bug_of_ours_shows_a_traceback_and_says_whose_it_is(flow: str) -> None:
    breaks = "import couler_py.passes.plan as p; p.plan = lambda w: 1 / 0; import couler_py.cli as c, sys; "
    code = f"{breaks}sys.argv[1:] = ['plan', {flow!r}]; c.main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 70
    assert "ZeroDivisionError" in ended.stderr
    assert "this is a bug in couler, not in your workflow" in ended.stderr


def test_who_stops_reading_ends_the_command_quietly(here: Path, flow: str) -> None:
    script = f"set -o pipefail; {sys.executable} -m couler_py.cli compile {flow} --to ir | head -c 1"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert ended.stderr == ""


def test_who_stopped_reading_before_is_told_from_a_run_that_failed(here: Path, flow: str) -> None:
    script = f"{sys.executable} -m couler_py.cli plan {flow} | true; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_a_narrow_terminal_and_ascii_are_no_trouble(here: Path, flow: str) -> None:
    ended = process("lint", flow, COLUMNS="20", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (ended.returncode, ended.stderr) == (0, "nothing wrong\n")


def test_the_ir_of_a_file_is_the_same_in_every_process(here: Path, flow: str) -> None:
    texts = {process("compile", flow, "--to", "ir", PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(texts) == 1
    assert ir.from_json(texts.pop())
