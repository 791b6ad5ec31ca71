"""One step, one parameter, one output.

couler run examples/hello.py -p name=Ada
"""

import couler_py as couler


@couler.step
def greet(name: str) -> str:
    return f"hello {name}"


@couler.workflow
def hello(name: str = "world"):
    return greet(name)
