"""Files and folders between steps, absent ones, lists of them, and out of the run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import couler_py as couler
from tests.conformance.cases.naming import done, written


class Both(NamedTuple):
    file: Path
    size: int


@couler.step
def file(text: str) -> Path:
    path = Path("some file.txt")
    path.write_text(text, encoding="utf-8", newline="")
    return path


@couler.step
def read(path: Path) -> str:
    return path.read_bytes().decode()


@couler.step
def folder() -> Path:
    root = Path("out")
    (root / "a" / "deep").mkdir(parents=True)
    (root / "one.txt").write_text("1")
    (root / "a" / "deep" / "žluť {{x}}.txt").write_text("2")
    return root


@couler.step
def names(path: Path) -> list[str]:
    return sorted(str(each.relative_to(path)) for each in path.rglob("*") if each.is_file())


@couler.step
def maybe(give: bool) -> Path | None:
    if not give:
        return None
    Path("given").write_text("given")
    return Path("given")


@couler.step
def read_if_there(path: Path | None) -> str:
    return "nothing" if path is None else path.read_text()


@couler.step
def same_file(path: Path) -> Path:
    return path


@couler.step
def both(text: str) -> Both:
    Path("x").write_text(text)
    return Both(Path("x"), len(text))


@couler.step
def binary() -> Path:
    Path("bytes").write_bytes(bytes(range(256)) * 100)
    return Path("bytes")


@couler.step
def digest(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


@couler.step
def number_file(n: int) -> Path:
    if n < 0:
        raise ValueError("below zero")
    Path("n").write_text(str(n))
    return Path("n")


@couler.step
def number_folder(n: int) -> Path:
    Path("d").mkdir()
    (Path("d") / "n").write_text(str(n))
    return Path("d")


@couler.step
def read_all(parts: Path) -> list[str]:
    return [each.read_text() for each in sorted(parts.iterdir())]


@couler.step
def names_in(parts: Path) -> list[str]:
    return sorted(each.name for each in parts.iterdir())


@couler.step
def read_folders(parts: Path) -> list[str]:
    return [(each / "n").read_text() for each in sorted(parts.iterdir())]


@couler.step
def count_entries(parts: Path | None) -> int:
    return 0 if parts is None else len(list(parts.iterdir()))


@couler.step
def flag(value: bool) -> bool:
    return value


@couler.step
def boom() -> Path:
    raise RuntimeError("no file")


HOSTILE = "{{workflow.name}} {{=1+1}}\n$(x) 🎉\r\nlast line\n"


@couler.workflow
def file_from_step_to_step():
    return read(file(HOSTILE))


@couler.workflow
def folder_from_step_to_step():
    return names(folder())


@couler.workflow
def bytes_stay_as_they_are():
    made = binary()
    return {"direct": digest(made), "passed": digest(same_file(made))}


@couler.workflow
def optional_file():
    return {"given": read_if_there(maybe(True)), "missing": read_if_there(maybe(False))}


@couler.workflow
def file_of_a_skipped_step():
    made = couler.when(flag(False), lambda: file("x"))
    return read_if_there(made.or_else(None))


@couler.workflow
def file_read_by_a_step_that_is_skipped_with_it():
    read(couler.when(flag(False), lambda: file("x")))


@couler.workflow
def file_of_a_failed_step():
    read(boom())


@couler.workflow
def file_of_either_branch():
    made = couler.when(flag(False), lambda: file("then"), otherwise=lambda: file("otherwise"))
    return read(made)


@couler.workflow
def first_of_two_files():
    left = couler.when(flag(False), lambda: file("left"))
    right = couler.when(flag(True), lambda: file("right"))
    return read_if_there(couler.first(left, right).or_else(None))


@couler.workflow
def file_beside_a_value():
    made = both("four")
    return {"text": read(made.file), "size": made.size}


@couler.workflow
def as_outputs_of_the_run():
    return {"file": file("text\n"), "folder": folder()}


@couler.workflow
def files_of_a_fan_out():
    return read_all(couler.map(number_file, list(range(11))))


@couler.workflow
def folders_of_a_fan_out():
    return read_folders(couler.map(number_folder, [3, 1, 2]))


@couler.workflow
def files_of_a_tolerant_fan_out():
    runs = couler.map(number_file, [5, -1, 7], tolerate=1)
    return {"texts": read_all(runs), "names": names_in(runs), "items": couler.inputs(runs)}


@couler.workflow
def files_of_an_empty_fan_out():
    return count_entries(couler.map(number_file, []))


@couler.workflow
def inner(text: str) -> Path:
    return same_file(file(text))


@couler.workflow
def file_of_a_nested_workflow():
    return read(inner("inside"))


SHA = "22c27b021752596140145a93194d9cdf33b0b1b454f50fd1b430491eb3eb3cb9"  # of bytes(range(256)) * 100
CASES = [
    written("artifact", file_from_step_to_step, done("file", "read"), {"result": HOSTILE}),
    written(
        "artifact",
        folder_from_step_to_step,
        done("folder", "names"),
        {"result": ["a/deep/žluť {{x}}.txt", "one.txt"]},
    ),
    written(
        "artifact",
        bytes_stay_as_they_are,
        done("binary", "digest", "same_file", "digest-2"),
        {"direct": SHA, "passed": SHA},
    ),
    written(
        "artifact",
        optional_file,
        done("maybe", "maybe-2", "read_if_there", "read_if_there-2"),
        {"given": "given", "missing": "nothing"},
    ),
    written(
        "artifact",
        file_of_a_skipped_step,
        {"flag": "Succeeded", "file": "Skipped", "read_if_there": "Succeeded"},
        {"result": "nothing"},
    ),
    written(
        "artifact",
        file_read_by_a_step_that_is_skipped_with_it,
        {"flag": "Succeeded", "file": "Skipped", "read": "Skipped"},
    ),
    written("artifact", file_of_a_failed_step, {"boom": "Failed", "read": "Blocked"}, status="Failed"),
    written(
        "artifact",
        file_of_either_branch,
        {"flag": "Succeeded", "file": "Skipped", "file-2": "Succeeded", "read": "Succeeded"},
        {"result": "otherwise"},
    ),
    written(
        "artifact",
        first_of_two_files,
        {
            "flag": "Succeeded",
            "flag-2": "Succeeded",
            "file": "Skipped",
            "file-2": "Succeeded",
            "read_if_there": "Succeeded",
        },
        {"result": "right"},
    ),
    written("artifact", file_beside_a_value, done("both", "read"), {"text": "four", "size": 4}),
    written(
        "artifact",
        as_outputs_of_the_run,
        done("file", "folder"),
        {"file": "text\n", "folder": {"one.txt": "1", "a/deep/žluť {{x}}.txt": "2"}},
    ),
    written("artifact", files_of_a_fan_out, done("number_file", "read_all"), {"result": [str(n) for n in range(11)]}),
    written("artifact", folders_of_a_fan_out, done("number_folder", "read_folders"), {"result": ["3", "1", "2"]}),
    written(
        "artifact",
        files_of_a_tolerant_fan_out,
        done("number_file", "read_all", "names_in"),
        {"texts": ["5", "7"], "names": ["000000", "000002"], "items": [5, 7]},
    ),
    written("artifact", files_of_an_empty_fan_out, done("number_file", "count_entries"), {"result": 0}),
    written("artifact", file_of_a_nested_workflow, done("inner", "read"), {"result": "inside"}),
]
