"""The examples in the docstrings of `argolang` are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import couler_py.argolang

MODULES = [
    module.name for module in pkgutil.walk_packages(couler_py.argolang.__path__, f"{couler_py.argolang.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in couler_py.argolang.__all__:
        assert getattr(couler_py.argolang, name) is not None
        if callable(getattr(couler_py.argolang, name)) and not isinstance(getattr(couler_py.argolang, name), type):
            assert getattr(couler_py.argolang, name).__doc__
