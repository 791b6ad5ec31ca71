"""Jinja2 text that backends, prompts and pages are rendered from."""

if __name__ != "couler_py.templates":
    raise ImportError(
        f"{__name__!r} is the folder couler_py/templates, seen through a link that is for people; "
        "write `import couler_py.templates`"
    )
