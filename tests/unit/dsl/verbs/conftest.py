"""Each test of the verbs begins without an implicit workflow or a waiting secret, and leaves none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from couler_py.dsl.verbs import secrets
from couler_py.dsl.verbs.state import Defaults, defaults, reset


@pytest.fixture(autouse=True)
def _no_workflow() -> Iterator[None]:
    reset()
    token = defaults.set(Defaults())
    yield
    reset()
    defaults.reset(token)
    secrets._vault.clear()
