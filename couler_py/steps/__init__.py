"""Step types beyond plain functions: one folder each, with the DSL function, its planner and what runs in the pod.

A step type is added by one folder and one entry point in the group ``couler.steps``."""

if __name__ != "couler_py.steps":
    raise ImportError(
        f"{__name__!r} is the folder couler_py/steps, seen through a link that is for people; "
        "write `import couler_py.steps`"
    )
