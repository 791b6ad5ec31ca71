"""The training loop. All ranks of all checks are one launch; what each came to is read here."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.training.conftest import torchrun
from tests.training.edit import launching, learning


@pytest.fixture(scope="module")
def found(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    folder = tmp_path_factory.mktemp("learning")
    torchrun(checkout, folder, "tests.training.edit.learning", 4, str(folder / "found.json"))
    return msgspec.json.decode((folder / "found.json").read_bytes(), type=dict[str, str | None])


@pytest.mark.parametrize("name", launching.checks(vars(learning)))
def test_on_four_ranks(name: str, found: dict[str, str | None]) -> None:
    assert found[name] is None, found[name]
