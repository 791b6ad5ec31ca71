"""Workflows that are run as real pods: in each, one thing that a pod does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import couler_py as couler

IMAGE = "python:3.11"
HOSTILE = 'it\'s "{{ ds }}" $(HOME) $HOME `id` žluť\n'
WORKFLOWS: list[tuple[Any, dict[str, Any]]] = []


def runs(**parameters: Any) -> Callable[[Any], Any]:
    """Add a workflow, with the parameters that it is run with."""

    def add(workflow: Any) -> Any:
        WORKFLOWS.append((workflow, parameters))
        return workflow

    return add


# ---- values


@couler.step
def split(text: str) -> list[str]:
    return text.split()


@couler.step
def shout(word: str) -> str:
    return word.upper()


@couler.step
def join(words: list[str]) -> str:
    return "-".join(words)


count = couler.script(IMAGE, 'printf %s "$word" | wc -c', inputs={"word": str}, outputs={"n": couler.stdout(int)})


@runs(text="one two")
@couler.workflow
def outputs(text: str = ""):
    return count(join(split(text)))


@runs(words=["a", "b", "c"])
@couler.workflow
def fan_out(words: list[str]):
    return join(couler.map(shout, words))


@runs(text=HOSTILE)
@couler.workflow
def hostile_text(text: str):
    return shout(text)


# ---- files


@couler.step
def write(text: str) -> Path:
    Path("note").write_text(text)
    return Path("note")


twice = couler.container(
    IMAGE,
    ["sh", "-c", 'cat "$1" "$1" > /tmp/twice', "sh", couler.argument("given")],
    inputs={"given": Path},
    outputs={"file": couler.file_at("/tmp/twice")},
    name="twice",
)


@couler.step
def read(file: Path) -> str:
    return file.read_text()


@runs(text="again ")
@couler.workflow
def artifacts(text: str):
    return read(twice(write(text)))


@couler.step
def much(length: int) -> str:
    return "x" * length


@couler.step
def weigh(text: str, files: list[Path]) -> str:
    return f"{len(text)} {[each.read_text() for each in files]}"


@runs(words=["a", "b"], length=60_000)
@couler.workflow
def much_and_many(words: list[str], length: int):
    """A value too large for an XCom, and the files of a fan-out."""
    return weigh(much(length), couler.map(write, words))


# ---- failures


seven = couler.container(IMAGE, ["sh", "-c", "exit 7"], name="seven")
sleep = couler.container(IMAGE, ["sleep", "300"], name="sleep", timeout="4s")


@couler.step
def rescue() -> str:
    return "rescued"


@couler.step
def tidy() -> None:
    print("tidy")


@runs()
@couler.workflow
def a_failing_pod():
    couler.on_failure(seven(), rescue)


@runs()
@couler.workflow
def a_time_out():
    couler.always(sleep(), tidy)


@couler.step(retries=couler.retry(3, when=couler.last_attempt.exit_code == 75))
def third_time_lucky() -> int:
    import sys

    if couler.run_info.attempt < 2:
        sys.exit(75)
    return couler.run_info.attempt


@couler.step(retries=couler.retry(3, when=couler.last_attempt.exit_code == 75))
def another_code() -> None:
    import sys

    sys.exit(1)


@runs()
@couler.workflow
def retries_by_exit_code():
    return third_time_lucky()


@runs()
@couler.workflow
def no_retry_after_another_code():
    another_code()


# ---- decisions


@couler.step
def number() -> int:
    return 5


@couler.step
def large() -> str:
    return "large"


@couler.step
def small() -> str:
    return "small"


@runs()
@couler.workflow
def if_else():
    return couler.when(number() > 3, large, otherwise=small)


# ---- what a pod has around it


reveal = couler.script(
    IMAGE,
    'printf %s "$PASSWORD" | tr a-z b-za',
    env={"PASSWORD": couler.secret("db", "password")},
    outputs={"word": couler.stdout()},
    name="reveal",
)
scratch = couler.empty_dir("scratch")
prepared = couler.script(
    IMAGE,
    "cat /scratch/given",
    outputs={"word": couler.stdout()},
    volumes={"/scratch": scratch},
    init_containers=[
        couler.Container(
            IMAGE,
            ("sh", "-c", "printf prepared > /scratch/given"),
            name="prepare",
            mounts=(couler.VolumeMount("scratch", "/scratch"),),
        )
    ],
    name="prepared",
)
asks = couler.script(
    IMAGE,
    "for i in $(seq 120); do cat /scratch/said 2>/dev/null && exit 0; sleep 1; done; exit 1",
    outputs={"word": couler.stdout()},
    volumes={"/scratch": scratch},
    sidecars=[
        couler.Container(
            IMAGE,
            ("sh", "-c", "printf beside > /scratch/said; sleep 300"),
            name="beside",
            mounts=(couler.VolumeMount("scratch", "/scratch"),),
        )
    ],
    name="asks",
)


@runs()
@couler.workflow
def a_secret():
    return reveal()


@runs()
@couler.workflow
def a_volume_and_an_init_container():
    return prepared()


@runs()
@couler.workflow
def a_sidecar():
    return asks()
