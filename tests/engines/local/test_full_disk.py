"""A disk without space: said clearly, nothing recorded is lost, and the run goes on when there is room again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from couler_py.backends.local import execute, resume, retry
from couler_py.ir.expr import TaskOutput
from couler_py.ir.model import Argument, Task
from couler_py.ir.types import INT
from couler_py.store.database import StoreFullError
from tests.engines.local.conftest import integrity
from tests.engines.local.flows import flow, graph, shell

pytestmark = pytest.mark.cluster  # mounting a small file system needs root


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8M", "none", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_run_survives_a_full_disk(small: Path, tmp_path: Path) -> None:
    home, witness = small / "home", tmp_path / "witness"
    step = shell("step", f"echo x >> {witness}; echo 1", inputs=["x"], output=INT)
    ballast = f"[ -e {witness} ] || dd if=/dev/zero of={small}/ballast bs=4k 2>/dev/null"
    fill = shell("fill", f"{ballast}; echo x >> {witness}; echo 2", output=INT)
    tasks = [Task("fill", "fill")]
    tasks += [Task(f"t{n}", "step", (Argument("x", TaskOutput("fill", "result")),)) for n in range(40)]
    workflow = flow(step, fill, graph(*tasks))
    with pytest.raises(StoreFullError, match="Make room"):
        execute(workflow, home=home)
    (run,) = [folder.name for folder in (home / "runs").iterdir()]
    (small / "ballast").unlink()
    assert integrity(home) == "ok"
    record = resume(run, home=home)
    if record.status == "Failed":
        record = retry(run, home=home)
    assert record.status == "Succeeded"
