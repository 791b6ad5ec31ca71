"""How a child of a zygote becomes a step: as if it were an interpreter that had just been started. Stdlib only.

The script of a step starts the runner in its first line (see `couler_py.runner`). Here the runner's definitions are
there before the fork, in a module of the name `__main__`, so that line has only to start them.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib
import importlib.machinery
import marshal
import os
import sys
import types
from importlib import _bootstrap_external
from typing import Any, NoReturn

EXIT_FLUSH = 120  # the exit code of an interpreter that can't write the rest of its stdout


class Program:
    """What all steps of a zygote have in common: the runner, loaded, and modules."""

    def __init__(self, runner: str, preload: list[str]):
        with open(runner, encoding="utf-8") as file:
            definitions, _, entry = file.read().rstrip("\n").rpartition("\n")
        self._entry = "\n" * (definitions.count("\n") + 1) + entry  # in the line that tracebacks know
        self._start = compile(self._entry, "<string>", "exec", dont_inherit=True)
        self._module = types.ModuleType("__main__")
        self._module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._module
        code = ready(runner) or compile(definitions, "<string>", "exec", dont_inherit=True)
        exec(code, self._module.__dict__)  # noqa: S102 - ours
        self._problem: BaseException | None = None
        try:
            for name in preload:
                importlib.import_module(name)
        except BaseException as error:  # each step says so, in its own log
            self._problem = error
        # Where it isn't, the runner asks too, and finds the folders read.
        known = importlib.machinery.PathFinder.find_spec("couler_py")
        self._module.__dict__["INSTALLED"] = known is not None
        self._loader = importlib.machinery.SourceFileLoader("__main__", "")
        self._modules = {name: module for name, module in sys.modules.items() if name not in ("atexit", "gc")}
        self._collections = 0

    def alone(self) -> None:
        """Leave nothing but what steps find loaded. Who works on keeps what it has imported by now."""
        for name in [name for name in sys.modules if name not in self._modules]:
            del sys.modules[name]
        sys.modules.update(self._modules)
        self._collections = gc.get_stats()[2]["collections"]

    def _newer(self) -> list[str]:
        """The names of modules that were imported since, the last one first. The others aren't touched."""
        names = []
        for name in reversed(sys.modules):
            if self._modules.get(name) is sys.modules[name]:
                break
            names.append(name)
        return names

    def run(self, payload: dict[str, Any]) -> NoReturn:
        """Be the step, and end as an interpreter does."""
        for name in self._newer():  # the system's own calls import some
            del sys.modules[name]
        for name, value in payload["env"].items():  # quicker than `update`, which asks what it is given
            os.environ[name] = value
        random = sys.modules.get("numpy.random")
        if random is not None:  # a preloaded one would give every step the same numbers; Python's own sees to itself
            random.seed()
        self._end(*self._enter(payload["program"], payload["code"]))

    def _enter(self, path: str, code: bytes) -> tuple[int, bool]:
        """Run the script. Gives the exit code, and whether it was interrupted."""
        space = self._module.__dict__
        self._loader.path = path
        space.update(__file__=path, __cached__=None, __spec__=None, __annotations__={}, __loader__=self._loader)
        sys.argv[:] = [path]
        sys.orig_argv[:] = [sys.executable, "-P", path]
        try:
            if self._problem is not None:
                raise self._problem
            known = loaded(code)
            if known is not None:
                first, space["SPEC"], codes = known
                space["CODES"].extend(codes)
                space["START"] = self._start
            else:
                os.environ["COULER_RUNNER"] = self._entry
                with open(path, encoding="utf-8") as file:
                    first = compile(file.readline(), path, "exec", dont_inherit=True)
            exec(first, space)  # noqa: S102 - starts the runner
        except SystemExit as error:
            return exit_code(error.code), False
        except BaseException as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
                trace = trace.tb_next
            sys.excepthook(type(error), error.with_traceback(trace), trace)
            return 1, isinstance(error, KeyboardInterrupt)
        return 0, False

    def _end(self, code: int, interrupted: bool) -> NoReturn:
        """What the end of an interpreter does: wait for threads, call who asked for it, let go of all objects."""
        threading = sys.modules.get("threading")
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
        if threading is None or threading.active_count() == 1:  # a daemon thread would find its globals gone
            for name in self._newer():
                module = sys.modules[name]
                if isinstance(module, types.ModuleType):
                    wipe(module.__dict__)
            # A whole collection looks at much that is shared until then; this short a step has nothing that is old.
            old = gc.get_count()[2] or gc.get_stats()[2]["collections"] != self._collections
            gc.collect(2 if old else 1)
        for stream in (sys.stdout, sys.stderr):
            try:
                if not stream.closed:
                    stream.flush()
            except (OSError, ValueError):
                code = code if stream is sys.stderr else EXIT_FLUSH
        if interrupted:
            import signal

            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        os._exit(code & 0xFF)


def ready(runner: str) -> types.CodeType | None:
    """The code of the runner, where somebody has compiled it for this interpreter. Compiling takes memory for good."""
    try:
        with open(f"{os.path.splitext(runner)[0]}.{sys.implementation.cache_tag}", "rb") as file:
            return loaded(file.read())  # type: ignore[no-any-return]
    except FileNotFoundError:
        return None


def loaded(code: bytes) -> Any:
    """What stands behind a magic number as `marshal` has it; None where it is of another interpreter's kind."""
    magic = _bootstrap_external.MAGIC_NUMBER
    if sys.flags.optimize or not code.startswith(magic):
        return None
    return marshal.loads(code[len(magic) :])  # noqa: S302 - written by our own engine


def exit_code(said: object) -> int:
    """What `sys.exit(said)` means as an exit code; text is said on stderr."""
    if said is None:
        return 0
    if isinstance(said, int):
        return said
    sys.stderr.write(f"{said}\n")
    sys.stderr.flush()
    return 1


def wipe(namespace: dict[str, Any]) -> None:
    """Let go of what a module holds, private names first, in the order of an interpreter that ends."""
    for private in (True, False):
        for name in list(namespace):
            if name != "__builtins__" and (name.startswith("_") and not name.startswith("__")) == private:
                namespace[name] = None
