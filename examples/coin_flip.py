"""Flip a coin until it shows heads: a condition, and a workflow that calls itself."""

import couler_py as couler


@couler.step
def toss() -> str:
    import random

    return random.choice(["heads", "tails"])


@couler.step
def celebrate() -> str:
    return "it was heads"


@couler.workflow
def flip():
    result = toss()
    couler.when(result == "heads", celebrate, otherwise=flip)


@couler.workflow
def coin_flip():
    flip()
