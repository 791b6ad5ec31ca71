"""Diagnostic codes of the area: dsl."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

_DEFINITIONS: tuple[Code, ...] = (
    Code(
        "CLR100",
        "A type that can't travel between steps",
        "Values travel as JSON, files as artifacts. bool, int, float, str, None, list, dict with string keys, Enum, "
        "Literal, dataclass, TypedDict, NamedTuple and datetime are values; Path is a file or folder. Sets, bytes, "
        "arrays and classes with state are none of these.",
        "@couler.step\ndef load() -> bytes: ...",
        "@couler.step\ndef load() -> Path: ...",
    ),
    Code(
        "CLR101",
        "An annotation can't be resolved",
        "The types of a step are read when it is defined. A name in an annotation must be imported or defined above "
        "the step, and not only for type checkers.",
        "if TYPE_CHECKING:\n    from shapes import Shape\n\n@couler.step\ndef area(shape: Shape) -> float: ...",
        "from shapes import Shape\n\n@couler.step\ndef area(shape: Shape) -> float: ...",
    ),
    Code(
        "CLR102",
        "A default doesn't fit its annotation",
        "The default of a parameter is checked against its type when the step is defined.",
        '@couler.step\ndef train(epochs: int = "3"): ...',
        "@couler.step\ndef train(epochs: int = 3): ...",
    ),
    Code(
        "CLR110",
        "The source of a step can't be found",
        "The source of a step travels to where it runs, so it must stand in a file or a notebook cell.",
        "exec('@couler.step\\ndef f(): ...')",
        "@couler.step\ndef f(): ...",
    ),
    Code(
        "CLR111",
        "Something that can't be a step",
        "A step is a plain function, defined by `def`. A lambda has no name, a method needs its object, a generator "
        "and an async function don't return a value.",
        "@couler.step\nasync def fetch(url: str) -> str: ...",
        "@couler.step\ndef fetch(url: str) -> str:\n    return asyncio.run(fetch_async(url))",
    ),
    Code(
        "CLR112",
        "A signature or body that can't stand by itself",
        "Each input of a step has a name and a type that are known when the workflow is built, so there is no *args, "
        "no **kwargs and no `/`. The function runs in a process of its own: `nonlocal` and `super()` have nothing to "
        "refer to.",
        "@couler.step\ndef total(*numbers: int) -> int: ...",
        "@couler.step\ndef total(numbers: list[int]) -> int: ...",
    ),
    Code(
        "CLR113",
        "A variable that can't travel with the step",
        "With a step travel: imports of installed modules, literals (numbers, text, lists, dicts, tuples, sets), "
        "functions and classes of the same file, and constants such as compiled patterns and loggers. An open file, a "
        "lock, a client or another object exists on this machine only.",
        "client = Client()\n\n@couler.step\ndef ask(q: str) -> str:\n    return client.ask(q)",
        "@couler.step\ndef ask(q: str) -> str:\n    return Client().ask(q)",
    ),
    Code(
        "CLR114",
        "A module of your own that isn't included",
        "Installed packages are named by packages= or stand in the image. Your own modules travel only when include= "
        "names them, on the step, on the workflow, or in [tool.couler] of pyproject.toml.",
        "@couler.step\ndef train():\n    from mypkg import model",
        '@couler.step(include=["mypkg"])\ndef train():\n    from mypkg import model',
    ),
    Code(
        "CLR115",
        "Two different things of one name",
        "The source of a step and that of its helpers stand in one file where the step runs, so one name can't mean "
        "two things.",
        "",
        "Rename one of them, or pass it as an argument.",
    ),
    Code(
        "CLR116",
        "A name that isn't defined",
        "The step uses a name that is neither in its function, nor in its file, nor a builtin, by the time it is "
        "called in a workflow.",
        "@couler.step\ndef f() -> float:\n    return maths.pi",
        "@couler.step\ndef f() -> float:\n    import math\n    return math.pi",
    ),
    Code(
        "CLR120",
        "Arguments that don't fit the signature",
        "A call in a workflow is bound to the step's signature at once, as Python binds it: an unknown name, a missing "
        "argument, one too many or one given twice is an error at the line of the call.",
        "train(dta=data)",
        "train(data=data)",
    ),
    Code(
        "CLR121",
        "A container step outside of a workflow",
        "A container, script, manifest, pause or request can only run in a workflow; a Python step outside of one is "
        "the plain function.",
        'couler.container("alpine")()',
        '@couler.workflow\ndef main():\n    couler.container("alpine")()',
    ),
    Code(
        "CLR130",
        "An option of a step that can't be honoured",
        "Options are checked when the step is defined: unknown names, quantities that Kubernetes doesn't read, times "
        "that aren't positive, and values of the wrong kind.",
        '@couler.step(memory="2Gb")\ndef f(): ...',
        '@couler.step(memory="2Gi")\ndef f(): ...',
    ),
    Code(
        "CLR131",
        "Files to include that can't be packed",
        "A pattern of include= must match something inside the project, links must not lead outside of it, and what "
        "looks like a secret is refused. A pattern that begins with `!` leaves files out.",
        '@couler.step(include=["../other"])\ndef f(): ...',
        '@couler.step(include=["mypkg", "!mypkg/.env"])\ndef f(): ...',
    ),
    Code(
        "CLR132",
        "Packages that can't be installed as written",
        "packages= holds requirements as PEP 508 writes them, never options of pip. Where they come from is "
        "configured in [tool.couler]. Beside a couler.lock, each set of requirements must be in it.",
        '@couler.step(packages=["--pre", "numpy"])\ndef f(): ...',
        '@couler.step(packages=["numpy>=2.0rc1"])\ndef f(): ...',
    ),
    Code(
        "CLR133",
        "Settings that can't be read",
        "Settings stand in couler.toml, in [tool.couler] of pyproject.toml, in the user's own couler.toml and in "
        "variables named COULER_<KEY>. The page Configuration has each key and what it takes; `couler config` shows "
        "what holds and where it comes from.",
        '[tool.couler]\ninclude = "mypkg"',
        '[tool.couler]\ninclude = ["mypkg"]',
    ),
    Code(
        "CLR134",
        "A container step that can't be made",
        "A text of a container or manifest is text, a number, a placeholder or couler.argument(name) of a declared "
        "input; a command line is a list of them.",
        'couler.container("alpine", "echo hello")',
        'couler.container("alpine", ["echo", "hello"])',
    ),
)

CODES: tuple[Code, ...] = _DEFINITIONS
