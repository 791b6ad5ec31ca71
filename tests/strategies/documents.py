"""Arbitrary documents of Argo's four kinds, as data: any fields of the schema, hostile text everywhere."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from couler_py.backends.argo.schema import PLURALS, schema
from tests.strategies.text import HOSTILE

JSON = dict[str, Any]

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.sampled_from(
        [
            "{{inputs.parameters.a}}",
            "{{tasks.a.outputs.result}}",
            "{{steps.a.outputs.parameters.b}} == {{item}}",
            "{{=1+1}}",
            "a && !b.Failed",
            "(a || b) && c",
            '"""\nargo.text("""',
            "line\n  indented\nback\n",
            "  all\n  indented\n",
            "trailing \nspace\n\n",
            "\n\nlead",
            "tab\there\n\tand there",
            'quote at the end"\n"',
            "back\\slash\n\\",
            "a\r\nb",
            "{a}{{b}}",
        ]
    ),
    st.text(max_size=12),
)
names = st.one_of(st.sampled_from(["a", "b", "c", "main", "argo", "import", "A", "a-b", "with", "text"]), texts)


def values(node: JSON, depth: int = 3) -> st.SearchStrategy[Any]:
    """Any value that a node of the schema takes; deep down, with few fields."""
    if "enum" in node:
        return st.sampled_from(node["enum"])
    kinds = node.get("type")
    if isinstance(kinds, list):
        return st.one_of(*(values({"type": kind}, depth) for kind in kinds))
    if "properties" in node:
        return st.integers(0, 3 if depth > 0 else 1).flatmap(lambda count: _objects(node, count, depth))
    if kinds == "array":
        return st.lists(values(node["items"], depth - 1), max_size=2 if depth > 0 else 1)
    if kinds == "object":
        inner = node.get("additionalProperties") or {}
        return st.dictionaries(texts, values(inner, depth - 1), max_size=2)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        "string": texts,
        "integer": st.integers(-(2**31), 2**31 - 1),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
    }
    return simple[kinds] if kinds else st.one_of(texts, st.integers(), st.booleans(), st.lists(texts, max_size=2))


@st.composite
def _objects(draw: st.DrawFn, node: JSON, count: int, depth: int) -> JSON:
    fields = sorted(node["properties"])
    if depth <= 0:  # leaves only, lest it never ends
        fields = [name for name in fields if "properties" not in node["properties"][name]]
    chosen = draw(st.lists(st.sampled_from(fields), max_size=count, unique=True)) if fields else []
    return {name: draw(values(node["properties"][name], depth - 1)) for name in chosen}


@st.composite
def tasks(draw: st.DrawFn, form: str, called: list[str]) -> JSON:
    """A task of a dag, or a step."""
    template = schema("Workflow")["properties"]["spec"]["properties"]["templates"]["items"]["properties"]
    node = template["steps"]["items"]["items"] if form == "steps" else template["dag"]["properties"]["tasks"]["items"]
    found: JSON = draw(values({"properties": node["properties"]}, 2))
    found.pop("inline", None)
    found["name"] = draw(names)
    if draw(st.booleans()):
        found["template"] = draw(st.one_of(st.sampled_from(called), names))
    if draw(st.booleans()):
        given = draw(st.dictionaries(names, texts, min_size=1, max_size=3))
        found["arguments"] = {"parameters": [{"name": name, "value": value} for name, value in given.items()]}
    return found


@st.composite
def templates(draw: st.DrawFn, name: str, called: list[str]) -> JSON:
    """A template of any kind."""
    node = schema("Workflow")["properties"]["spec"]["properties"]["templates"]["items"]
    found: JSON = draw(values(node, 3))
    form = draw(st.sampled_from(["", "", "dag", "steps"]))
    if form:
        made = draw(st.lists(tasks(form, called), max_size=4, unique_by=lambda each: each["name"]))
        found = {key: value for key, value in found.items() if key in ("inputs", "outputs", "metrics", "annotations")}
        found[form] = {"tasks": made} if form == "dag" else [made[:2], made[2:]] if len(made) > 2 else [made]
    found["name"] = name
    return found


@st.composite
def documents(draw: st.DrawFn) -> JSON:
    """A document of any of the four kinds."""
    kind = draw(st.sampled_from(sorted(PLURALS)))
    node = schema(kind)["properties"]["spec"]
    spec: JSON = draw(values(node, 3))
    called = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    inner = spec.setdefault("workflowSpec", {}) if kind == "CronWorkflow" else spec
    inner["templates"] = [draw(templates(name, called)) for name in called]
    metadata = draw(st.fixed_dictionaries({}, optional={"name": texts, "generateName": texts, "namespace": texts}))
    labels = draw(st.dictionaries(texts, texts, max_size=2))
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": kind,
        "metadata": metadata | ({"labels": labels} if labels else {}),
        "spec": spec,
    }
