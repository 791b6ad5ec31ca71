"""The examples in docstrings of the IR and the checks are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import couler_py.ir
import couler_py.passes.check

MODULES = [
    module.name
    for package in (couler_py.ir, couler_py.passes.check)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
] + ["couler_py.passes.check"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed == 0
