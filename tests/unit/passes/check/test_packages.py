"""Modules that a step imports and that neither its image nor its packages have."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.ir import Source, Template, Workflow
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Function, IncludeArchive, Piece
from couler_py.passes.check import check
from couler_py.passes.check.packages import unprovided

TRAIN = "def train():\n    import msgspec\n    return msgspec"


def step(*texts: str, packages: tuple[str, ...] = (), **fields: Any) -> Function:
    pieces = tuple(Piece(text, "flow.py", line) for line, text in enumerate(texts, 10))
    return Function("train", pieces, packages=packages, **fields)


def flow(body: Function, **fields: Any) -> Workflow:
    return Workflow("w", "train", (Template("train", body, source=Source("flow.py", 9)),), **fields)


def modules(*texts: str, **fields: Any) -> list[str]:
    return list(unprovided(step(*texts, **fields), ()))


def test_a_module_that_nothing_provides_is_said_with_the_way_out() -> None:
    assert check(flow(step(TRAIN))) == [
        Diagnostic(
            "CLR290",
            "warning",
            "train imports msgspec, which is not in its image python:3.11",
            Source("flow.py", 9),
            "train",
            help='give the step packages=["msgspec"], or an image= that has it',
            related=(("msgspec is imported here", Source("flow.py", 11)),),
        )
    ]


def test_several_modules_of_a_step_are_one_finding() -> None:
    (found,) = check(flow(step("import msgspec\nfrom yaml import dump", TRAIN)))
    assert found.message == "train imports msgspec and yaml, which are not in its image python:3.11"
    assert found.help == 'give the step packages=["msgspec", "PyYAML"], or an image= that has them'


def test_a_step_with_packages_is_told_what_to_add() -> None:
    (found,) = check(flow(step(TRAIN, packages=("pyyaml",))))
    assert found.help == 'add "msgspec" to its packages=, or give it an image= that has it'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import json, os.path\nfrom collections import abc\nfrom __future__ import annotations", []),
        ("import couler_py as couler\nfrom couler_py.ir import wire", []),
        ("from . import sibling", []),
        ("import nowhere.inner", ["nowhere"]),
        ("from nowhere.inner import x", ["nowhere"]),
        ("try:\n    import nowhere\nexcept ImportError:\n    nowhere = None", []),
        ("try:\n    import nowhere\nexcept (OSError, ModuleNotFoundError):\n    nowhere = None", []),
        ("try:\n    import nowhere\nexcept:\n    nowhere = None", []),
        ("try:\n    import nowhere\nexcept KeyError:\n    pass", ["nowhere"]),
        ("try:\n    pass\nexcept ImportError:\n    import nowhere", ["nowhere"]),
        ("if typing.TYPE_CHECKING:\n    import nowhere\nelse:\n    import elsewhere", ["elsewhere"]),
        ("def important(: no Python", []),
        ("x = 'import nowhere'", []),
    ],
)
def test_imports_of_a_piece(text: str, found: list[str]) -> None:
    assert modules(text) == found


@pytest.mark.parametrize(
    "packages",
    [
        ("msgspec",),
        ("msgspec>=0.19; python_version >= '3.8'",),
        ("MsgSpec[yaml]==0.19.0",),
        ("msgspec @ https://example.com/msgspec.whl",),
        ("couler-py",),  # needs msgspec itself
    ],
)
def test_a_requirement_provides_its_own_module_and_those_of_what_it_needs(packages: tuple[str, ...]) -> None:
    assert modules(TRAIN, packages=packages) == []


def test_an_extra_is_brought_where_it_is_asked_for() -> None:
    assert modules("import sklearn", packages=("couler-py",)) == ["sklearn"]
    assert modules("import sklearn", packages=("couler-py[examples]",)) == []


def test_a_distribution_of_another_name_than_its_module_provides_it() -> None:
    assert modules("import yaml", packages=("pyyaml>=6",)) == []


def test_what_a_requirement_brings_that_is_not_installed_here_is_not_known() -> None:
    assert modules("import nowhere", packages=("not-installed-anywhere",)) == []


def test_another_image_is_known_to_its_author() -> None:
    assert modules(TRAIN, image="ghcr.io/me/mine:1") == []


def test_modules_of_an_include_archive_are_the_user_s_own() -> None:
    own = IncludeArchive("d1", ("nowhere/__init__.py", "single.py"))
    other = IncludeArchive("d2", ("elsewhere.py",))
    body = step("import nowhere.x, single, elsewhere", include=("d1",))
    assert list(unprovided(body, (own, other))) == ["elsewhere"]
