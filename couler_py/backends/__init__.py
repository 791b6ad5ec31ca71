"""Engines: one folder each turns the IR into what that engine runs. `base.py` is the contract they keep.

An engine is added by one folder and one entry point in the group ``couler.backends``."""

if __name__ != "couler_py.backends":
    raise ImportError(
        f"{__name__!r} is the folder couler_py/backends, seen through a link that is for people; "
        "write `import couler_py.backends`"
    )
