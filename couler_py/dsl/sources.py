"""Where in a person's own files something was written: the first frame outside this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

from couler_py.ir.model import Source

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_STEPS = str(Path(_PACKAGE) / "steps") + os.sep
_BESIDE = str(Path(_PACKAGE).parent) + os.sep


def caller() -> Source:
    """The place in the user's code that the call at hand comes from."""
    frame = caller_frame()
    return Source(shown(frame.f_code.co_filename), frame.f_lineno)


def caller_frame() -> FrameType:
    """The innermost frame that isn't this package's own, or that of a module in which it defines a built-in step."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE) and not _defines_steps(frame):
        frame = frame.f_back
    return frame


def _defines_steps(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(_STEPS)


def shown(filename: str) -> str:
    """A file as messages and the IR name it: relative to the working folder where inside, a cell by its number.

    A file of this package is named from the package on, the same wherever that is installed.
    """
    cell = _cell(filename)
    if cell:
        return cell
    if filename.startswith("<"):
        return filename
    if filename.startswith(_PACKAGE):
        return filename[len(_BESIDE) :]
    folder = os.getcwd() + os.sep  # noqa: PTH109  the hot path of every recorded call
    return filename[len(folder) :] if filename.startswith(folder) else filename


def _cell(filename: str) -> str:
    # IPython compiles each cell as a file whose name holds the process id; the number is what people see.
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return ""
    shell = ipython.get_ipython()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return f"<cell {numbers[filename]}>" if filename in numbers else ""
