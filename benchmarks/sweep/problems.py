"""What is searched: five test functions and two models of scikit-learn's, each as a loss over the steps of a training.

The functions are as in Surjanovic and Bingham, Virtual Library of Simulation Experiments.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import couler_py as couler


class Problem(NamedTuple):
    """`losses` gives the loss after each step; the last one counts. `best` is the least there is, where it is known."""

    name: str
    space: dict[str, Any]
    losses: Callable[[dict[str, Any]], Iterator[float]]
    steps: int
    best: float | None = None


def branin(x: list[float]) -> float:
    a, b = x
    far = (b - 5.1 / (4 * math.pi**2) * a**2 + 5 / math.pi * a - 6) ** 2
    return far + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


def hartmann(x: list[float]) -> float:
    alpha = (1.0, 1.2, 3.0, 3.2)
    a = ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14))
    p = (
        (1312, 1696, 5569, 124, 8283, 5886),
        (2329, 4135, 8307, 3736, 1004, 9991),
        (2348, 1451, 3522, 2883, 3047, 6650),
        (4047, 8828, 8732, 5743, 1091, 381),
    )
    return -sum(
        weight * math.exp(-sum(k * (value - 1e-4 * at) ** 2 for k, value, at in zip(row, x, places, strict=True)))
        for weight, row, places in zip(alpha, a, p, strict=True)
    )


def rosenbrock(x: list[float]) -> float:
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))


def ackley(x: list[float]) -> float:
    near = math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / len(x)))
    return 20 + math.e - 20 * near - math.exp(sum(math.cos(2 * math.pi * v) for v in x) / len(x))


def levy(x: list[float]) -> float:
    w = [1 + (v - 1) / 4 for v in x]
    middle = sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1])
    last = (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    return math.sin(math.pi * w[0]) ** 2 + middle + last


def trained(
    function: Callable[[list[float]], float], scale: float, steps: int, values: dict[str, Any]
) -> Iterator[float]:
    """A training that ends at the function's value, from `scale` above it on, at a pace of the point's own."""
    reached = function([values[name] for name in sorted(values)])
    pace = 0.5 + zlib.crc32(repr(sorted(values.items())).encode()) / 2**32  # curves cross
    for step in range(1, steps + 1):
        yield reached + scale * (step ** -(2 * pace) - steps ** -(2 * pace))


def box(low: float, high: float, count: int) -> dict[str, Any]:
    return {f"x{number}": couler.space.real(low, high) for number in range(count)}


@functools.cache
def digits(wanted: str) -> Any:
    from sklearn import datasets
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    data = getattr(datasets, f"load_{wanted}")()
    parts = train_test_split(data.data, data.target, train_size=400, random_state=0, stratify=data.target)
    scale = StandardScaler().fit(parts[0])
    return scale.transform(parts[0]), scale.transform(parts[1]), parts[2], parts[3]


def perceptron(values: dict[str, Any]) -> Iterator[float]:
    """The log loss on digits that it wasn't trained on, after each epoch."""
    from sklearn.metrics import log_loss
    from sklearn.neural_network import MLPClassifier

    x, held_out, y, truth = digits("digits")
    model = MLPClassifier(
        (values["width"],),
        learning_rate_init=values["rate"],
        alpha=values["alpha"],
        activation=values["activation"],
        batch_size=100,
        random_state=0,
    )
    classes = list(range(10))
    for _ in range(9):
        model.partial_fit(x, y, classes=classes)
        yield log_loss(truth, model.predict_proba(held_out))


def linear(values: dict[str, Any]) -> Iterator[float]:
    """The log loss on tumours that it wasn't trained on, after each epoch."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import log_loss

    x, held_out, y, truth = digits("breast_cancer")
    model = SGDClassifier(
        loss="log_loss",
        penalty=values["penalty"],
        l1_ratio=values.get("ratio", 0.15),
        alpha=values["alpha"],
        learning_rate=values["schedule"],
        eta0=values["rate"],
        random_state=0,
    )
    for _ in range(9):
        model.partial_fit(x, y, classes=[0, 1])
        yield log_loss(truth, model.predict_proba(held_out), labels=[0, 1])


def problems() -> tuple[Problem, ...]:
    def of(name: str, function: Any, space: dict[str, Any], scale: float, best: float) -> Problem:
        return Problem(name, space, functools.partial(trained, function, scale, 27), 27, best)

    real = couler.space.real
    return (
        of("Branin, 2", branin, {"x0": real(-5, 10), "x1": real(0, 15)}, 50, 0.397887),
        of("Hartmann, 6", hartmann, box(0, 1, 6), 2, -3.32237),
        of("Rosenbrock, 4", rosenbrock, box(-2, 2, 4), 500, 0),
        of("Ackley, 4", ackley, box(-32, 32, 4), 10, 0),
        of("Levy, 4", levy, box(-10, 10, 4), 30, 0),
        Problem(
            "digits, perceptron",
            {
                "rate": real(1e-5, 1, log=True),
                "alpha": real(1e-6, 10, log=True),
                "width": couler.space.integer(4, 64, log=True),
                "activation": ["relu", "tanh", "logistic"],
            },
            perceptron,
            9,
        ),
        Problem(
            "tumours, linear",
            {
                "penalty": ["l2", "l1", "elasticnet"],
                "ratio": real(0, 1).only(penalty="elasticnet"),
                "alpha": real(1e-7, 1, log=True),
                "schedule": ["constant", "invscaling", "adaptive"],
                "rate": real(1e-5, 10, log=True),
            },
            linear,
            9,
        ),
    )
