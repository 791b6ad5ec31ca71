"""The examples in what documents itself are so."""

from __future__ import annotations

import doctest
import importlib

import pytest

from couler_py import argo_native

HOMES = sorted(
    {
        getattr(argo_native, name).__module__
        for name in argo_native.__all__
        if hasattr(getattr(argo_native, name), "__qualname__")
    }
    | {"couler_py.argo_native"}
)


@pytest.mark.parametrize("module", HOMES)
def test_the_examples_of_docstrings_are_so(module: str) -> None:
    ran = doctest.testmod(importlib.import_module(module), extraglobs={"argo": argo_native})
    assert ran.failed == 0


@pytest.mark.parametrize("name", sorted(set(argo_native.__all__) - {"words"}))
def test_every_name_says_what_it_is(name: str) -> None:
    assert getattr(argo_native, name).__doc__
