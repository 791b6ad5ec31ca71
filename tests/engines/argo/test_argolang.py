"""What `argolang` makes of expressions, conditions and tags is what the real controller makes of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from couler_py.argolang import EvaluationProblem, SyntaxProblem, condition, fill
from tests.cluster.argo import Document, Namespace
from tests.unit.argolang.cases import FAILING, FALSE, REFUSED, TEXTS, TRUE, VALUES, VARIABLES
from tests.unit.argolang.generated import an_expression, spoiled

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

TOGETHER = 100
BY_NAME = {name.removeprefix("inputs.parameters."): value for name, value in VARIABLES.items()}
NOTHING = {"name": "nothing", "steps": [[{"name": "never", "template": "nothing", "when": "false"}]]}

# an outcome without a value: refused when the workflow is read, or left as it is written
UNREADABLE, LEFT = "unreadable", "left"


def filling(texts: Sequence[str]) -> Document:
    """A workflow that fills each text, as the default of an input of a template of its own."""
    templates = [
        {
            "name": f"t{number}",
            "inputs": {"parameters": [*({"name": name} for name in BY_NAME), {"name": "filled", "value": text}]},
            "dag": {"tasks": [{"name": f"n{number}", "template": "nothing", "when": "false"}]},
        }
        for number, text in enumerate(texts)
    ]
    arguments = {"parameters": [{"name": name, "value": value} for name, value in BY_NAME.items()]}
    tasks = [{"name": template["name"], "template": template["name"], "arguments": arguments} for template in templates]
    return document([{"name": "main", "dag": {"failFast": False, "tasks": tasks}}, *templates, NOTHING])


def document(templates: list[Any]) -> Document:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "language-"},
        "spec": {"entrypoint": "main", "templates": templates},
    }


def filled(ended: Document, texts: Sequence[str]) -> Iterator[str]:
    """What became of each text."""
    nodes = {node["displayName"]: node for node in ended["status"].get("nodes", {}).values()}
    for number, text in enumerate(texts):
        parameters = nodes.get(f"t{number}", {}).get("inputs", {}).get("parameters", [])
        values = [parameter["value"] for parameter in parameters if parameter["name"] == "filled"]
        yield UNREADABLE if not values else LEFT if values[0] == text else f"value {values[0]}"


def ours(text: str) -> str:
    try:
        found = fill(text, VARIABLES)
    except (EvaluationProblem, SyntaxProblem):
        return UNREADABLE
    return LEFT if found == text else f"value {found}"


def batches(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Texts together; one that can't be read keeps its whole workflow from running, and so is alone."""
    known = {text: ours(text) for text in texts}
    alone = [(text,) for text, outcome in known.items() if outcome == UNREADABLE]
    others = iter([text for text, outcome in known.items() if outcome != UNREADABLE])
    return [*iter(lambda: tuple(itertools.islice(others, TOGETHER)), ()), *alone]


def outcomes(namespace: Namespace, texts: Iterable[str], conditions: Sequence[str] = ()) -> dict[str, str]:
    """What the controller makes of texts and of conditions, all at once."""
    runs = {namespace.submit(filling(batch))[0]: batch for batch in batches(texts)}
    asking = namespace.submit(deciding(conditions)) if conditions else []
    ended = namespace.wait_for([*runs, *asking], 240)
    found: dict[str, str] = {}
    for name, batch in runs.items():
        found |= zip(batch, filled(ended[name], batch), strict=True)
    for name in asking:
        found |= zip(conditions, decided(ended[name], conditions), strict=True)
    return found


def deciding(conditions: Sequence[str]) -> Document:
    """A workflow with a task for each condition."""
    tasks = [{"name": f"c{number}", "template": "nothing", "when": each} for number, each in enumerate(conditions)]
    return document([{"name": "main", "dag": {"failFast": False, "tasks": tasks}}, NOTHING])


def decided(ended: Document, conditions: Sequence[str]) -> Iterator[str]:
    """The phase of the task of each condition."""
    phases = {node["displayName"]: node["phase"] for node in ended["status"]["nodes"].values()}
    return (phases[f"c{number}"] for number in range(len(conditions)))


def phase(text: str) -> str:
    try:
        return "Succeeded" if condition(text) else "Skipped"
    except (EvaluationProblem, SyntaxProblem):
        return "Error"


def tagged(expressions: Iterable[str]) -> list[str]:
    """Expressions in tags, where they can stand in one."""
    return [f"{{{{={each}}}}}" for each in expressions if "}}" not in f"{each}}}"]


CONDITIONS = [each for each in (*TRUE, *FALSE, *REFUSED) if "{{" not in each]


@pytest.fixture(scope="module")
def on_argo(namespace: Namespace) -> dict[str, str]:
    """What the controller makes of every case."""
    return outcomes(namespace, [*tagged(VALUES), *tagged(FAILING), *TEXTS], CONDITIONS)


def test_expressions_have_the_values_that_the_controller_gives_them(on_argo: dict[str, str]) -> None:
    texts = tagged(VALUES)
    assert len(texts) > 500
    assert {text: on_argo[text] for text in texts} == {text: ours(text) for text in texts}


def test_expressions_without_a_value_have_none_on_the_controller(on_argo: dict[str, str]) -> None:
    texts = tagged(FAILING)
    assert len(texts) > 100
    assert {text: on_argo[text] for text in texts} == {text: ours(text) for text in texts}


def test_texts_are_filled_as_the_controller_fills_them(on_argo: dict[str, str]) -> None:
    assert {text: on_argo[text] for text in TEXTS} == {text: ours(text) for text in TEXTS}


def test_conditions_hold_where_they_hold_on_the_controller(on_argo: dict[str, str]) -> None:
    assert len(CONDITIONS) > 100
    assert {each: on_argo[each] for each in CONDITIONS} == {each: phase(each) for each in CONDITIONS}


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_mean_the_same_on_the_controller(namespace: Namespace, seed: int) -> None:
    source = random.Random(seed)
    expressions = [an_expression(source) for _ in range(1500)]
    expressions += [spoiled(source, an_expression(source)) for _ in range(60)]
    texts = [text for text in dict.fromkeys(tagged(expressions)) if not _late(text)]
    assert len(texts) > 700
    found = outcomes(namespace, texts)
    assert {text: each for text, each in found.items() if each != ours(text)} == {}


def _late(text: str) -> bool:
    """Whether an expression has a value on the controller alone."""
    try:
        fill(text, VARIABLES, unresolved="error")
    except EvaluationProblem as problem:
        return problem.late
    except SyntaxProblem:
        return False
    return False
