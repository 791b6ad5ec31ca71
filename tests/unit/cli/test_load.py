"""Which workflow a file has, and what is said where it has none or can't be loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from couler_py import ir
from couler_py.cli.errors import UsageError, UserCodeError, as_finding, user_traceback
from couler_py.cli.load import load
from couler_py.ir.diagnostics import DiagnosticError

STEP = "import couler_py as couler\n\n@couler.step\ndef s(x: int) -> int:\n    return x\n"
ONE = STEP + "\n@couler.workflow\ndef one():\n    s(1)\n"
TWO = ONE + "\n@couler.workflow\ndef two():\n    s(2)\n"


def written(here: Path, text: str, name: str = "flow.py") -> str:
    (here / name).write_text(text)
    return name


def test_the_only_workflow_of_a_file_is_meant(here: Path) -> None:
    assert load(written(here, ONE)).workflow.name == "one"


def test_a_name_chooses_one_of_several(here: Path) -> None:
    assert load(written(here, TWO) + ":two").workflow.name == "two"


def test_several_without_a_name_are_listed(here: Path) -> None:
    with pytest.raises(UsageError, match=r"flow\.py has several workflows: choose one of flow\.py:one, flow\.py:two"):
        load(written(here, TWO))


def test_a_workflow_that_another_calls_isn_t_meant(here: Path) -> None:
    assert load(written(here, TWO.replace("    s(2)", "    one()\n    s(2)"))).workflow.name == "two"


def test_a_name_that_isn_t_there_lists_those_that_are(here: Path) -> None:
    with pytest.raises(UsageError, match=r"flow\.py has no workflow 'three'; it has one, two"):
        load(written(here, TWO) + ":three")


def test_what_the_file_itself_runs_is_meant_and_not_run(here: Path) -> None:
    loaded = load(written(here, TWO + "\ncouler.run(two, parameters={'x': 1})\n"))
    assert (loaded.workflow.name, loaded.parameters) == ("two", {"x": 1})
    assert not (here / ".couler").exists()


def test_a_builder_is_a_workflow(here: Path) -> None:
    text = STEP + "\nwith couler.Workflow('built') as w:\n    s(1)\n"
    assert load(written(here, text)).workflow.name == "built"


def test_verbs_are_the_implicit_workflow(here: Path) -> None:
    text = "import couler_py.argo as couler\n\ncouler.run_container(image='alpine', command=['true'], step_name='a')\n"
    assert len(load(written(here, text)).workflow.templates) >= 1


def test_a_recording_of_one_file_doesn_t_reach_the_next(here: Path) -> None:
    text = "import couler_py.argo as couler\n\ncouler.run_container(image='alpine', command=['true'], step_name='{}')\n"
    load(written(here, text.format("first"), "a.py"))
    second = load(written(here, text.format("second"), "b.py")).workflow
    assert "first" not in ir.to_json(second)


def test_what_stands_under_main_is_loaded_where_there_is_nothing_else(here: Path) -> None:
    text = (
        "import couler_py.argo as couler\n\nif __name__ == '__main__':\n"
        "    couler.run_container(image='alpine', command=['true'], step_name='a')\n    couler.run()\n"
    )
    main = sys.modules["__main__"]
    assert len(load(written(here, text)).workflow.templates) >= 1
    assert sys.modules["__main__"] is main


def test_a_file_without_a_workflow_says_what_makes_one(here: Path) -> None:
    with pytest.raises(UsageError, match=r"flow\.py has no workflow: write a function with @couler\.workflow"):
        load(written(here, STEP))


def test_an_ir_file_is_a_workflow(here: Path) -> None:
    workflow = load(written(here, ONE)).workflow
    loaded = load(written(here, ir.to_json(workflow), "flow.json"))
    assert (loaded.workflow, loaded.imported) == (workflow, True)


def test_an_ir_file_of_a_document_keeps_what_stands_around_its_workflow(here: Path) -> None:
    workflow = load(written(here, ONE)).workflow
    document = ir.Document("WorkflowTemplate", workflow, metadata={"namespace": "team"})
    assert load(written(here, ir.to_json(document), "flow.json")).model == document


def test_a_json_file_that_is_no_workflow_names_the_place(here: Path) -> None:
    with pytest.raises(UsageError, match=r"x\.json: not a workflow: expected an object with"):
        load(written(here, "[]", "x.json"))


def test_a_module_is_loaded_by_its_name(here: Path) -> None:
    (here / "flows").mkdir()
    written(here, ONE, "flows/nightly_one.py")
    assert load("flows.nightly_one:one").workflow.name == "one"


def test_the_file_s_folder_comes_first_in_the_search_for_modules(here: Path) -> None:
    (here / "sub").mkdir()
    written(here, "NAME = 'from-beside'\n", "sub/beside_it.py")
    text = ONE.replace("@couler.workflow", "import beside_it\n\n@couler.workflow(name=beside_it.NAME)")
    assert load(written(here, text, "sub/flow.py")).workflow.name == "from-beside"


def test_a_file_named_like_a_module_of_python_hides_nothing(here: Path) -> None:
    import random

    load(written(here, ONE, "random.py"))
    assert sys.modules["random"] is random


def test_classes_of_the_file_can_be_found_again(here: Path) -> None:
    text = ONE + "\nimport dataclasses, pickle\n\n@dataclasses.dataclass\nclass C:\n    x: int\n\n"
    load(written(here, text + "assert pickle.loads(pickle.dumps(C(1))) == C(1)\n"))


def test_arguments_of_couler_don_t_reach_the_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["couler", "run", "--json"])
    load(written(here, ONE + "\nimport sys\nassert len(sys.argv) == 1 and sys.argv[0].endswith('flow.py')\n"))
    assert sys.argv == ["couler", "run", "--json"]


def test_what_a_file_raises_is_shown_with_its_own_frames_only(here: Path) -> None:
    with pytest.raises(UserCodeError, match=r"flow\.py can't be loaded, it raises ZeroDivisionError") as raised:
        load(written(here, "def f():\n    return 1 / 0\n\nf()\n"))
    assert raised.value.__cause__ is not None
    text = user_traceback(raised.value.__cause__)
    assert [line for line in text.splitlines() if line.startswith("  File")] == [
        f'  File "{here}/flow.py", line 4, in <module>',
        f'  File "{here}/flow.py", line 2, in f',
    ]
    source = as_finding(raised.value).source
    assert source is not None
    assert source.line == 2


def test_a_wrong_workflow_raises_its_diagnostics(here: Path) -> None:
    text = STEP + "\n@couler.workflow\ndef one():\n    if s(1) > 2:\n        s(2)\n"
    with pytest.raises(DiagnosticError) as raised:
        load(written(here, text))
    assert [finding.source.line for finding in raised.value.diagnostics if finding.source] == [9]


@pytest.mark.parametrize("target", ["nosuch.py", "nosuch.json", "a/b", "no such thing!", "no_such_module.x"])
def test_what_isn_t_there_is_said(here: Path, target: str) -> None:
    with pytest.raises(UsageError):
        load(target)


def test_a_file_that_ends_itself_with_an_error_is_not_taken(here: Path) -> None:
    with pytest.raises(UserCodeError, match="ended itself with 3 while it was loaded"):
        load(written(here, ONE + "\nraise SystemExit(3)\n"))
