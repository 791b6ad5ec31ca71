"""The IR as JSON: nothing lost, nothing let through, the same bytes everywhere."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given

from couler_py.ir import FORMAT, IRError, Source, Suspend, Template, Workflow, digest, from_json, json_schema, to_json
from couler_py.ir.model import Document, Function, Native, Piece
from couler_py.ir.pod import Templated
from tests.strategies import random_ir, workflows

WAIT = Workflow("w", "wait", (Template("wait", Suspend(duration=1)),))


def test_json_nested_without_end_is_refused() -> None:
    with pytest.raises(IRError, match="nested too deeply"):
        from_json("[" * 100_000)
    deep = '{"type":"not","operand":' * 5_000 + "{}" + "}" * 5_000
    with pytest.raises(IRError, match="nested too deeply"):
        from_json(to_json(WAIT).replace('"duration": 1', f'"duration": {deep}'))


@given(workflows())
def test_there_and_back_is_the_same(workflow: Workflow) -> None:
    text = to_json(workflow)
    assert from_json(text) == workflow
    assert to_json(from_json(text)) == text


def test_a_document_there_and_back_is_the_same() -> None:
    natives = (Native("argo", "/spec/x", value=None), Native("argo", "/spec/y", was=[1]))
    document = Document("CronWorkflow", WAIT, metadata={"name": "w"}, natives=natives)
    assert from_json(to_json(document)) == document


@pytest.fixture(scope="module")
def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json_schema())


def test_the_schema_takes_every_document(validator: jsonschema_rs.Validator) -> None:
    @given(workflows())
    def law(workflow: Workflow) -> None:
        validator.validate(json.loads(to_json(workflow)))

    law()


def test_the_schema_refuses_an_unknown_field(validator: jsonschema_rs.Validator) -> None:
    document = json.loads(to_json(WAIT))
    document["workflow"]["templates"][0]["body"]["durations"] = 1
    assert not validator.is_valid(document)


def replaced(word: str, other: str) -> str:
    return to_json(WAIT).replace(f'"{word}"', f'"{other}"')


def changed(**fields: object) -> str:
    return json.dumps(json.loads(to_json(WAIT)) | fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: Input data was truncated"),
        (b"\xff", "not JSON"),
        ("[]", f'not a workflow: expected an object with "format": "{FORMAT}"'),
        ("{}", f'not a workflow: expected an object with "format": "{FORMAT}"'),
        (changed(format="couler-ir/0"), f"the format is 'couler-ir/0'; this version reads '{FORMAT}'"),
        (changed(more=1), "not a valid workflow: Object contains unknown field `more`"),
        (changed(workflow=None), 'expected exactly one of "workflow" and "document"'),
        (replaced("duration", "durations"), r"unknown field `durations` - at `\$.workflow.templates\[0\].body`"),
        (replaced("suspend", "suspended"), r"Invalid value 'suspended' - at `\$.workflow.templates\[0\].body.type`"),
        (to_json(WAIT).replace('"name": "w"', '"name": 1'), r"Expected `str`, got `int` - at `\$.workflow.name`"),
    ],
)  # fmt: skip
def test_json_that_is_no_workflow_is_refused_with_the_place(text: str | bytes, message: str) -> None:
    with pytest.raises(IRError, match=message):
        from_json(text)


def test_the_digest_of_a_template_is_its_content_not_its_name_or_place() -> None:
    def step(name: str, line: int, text: str = "def f(): pass") -> Template:
        body = Function("f", (Piece(text, "flow.py", line),))
        return Template(name, body, display=name.upper(), source=Source("flow.py", line))

    assert digest(step("a", 1)) == digest(step("b", 99))
    assert digest(step("a", 1)) != digest(step("a", 1, "def f(): return 1"))


@given(workflows())
def test_the_digest_survives_json(workflow: Workflow) -> None:
    again = from_json(to_json(workflow))
    assert isinstance(again, Workflow)
    assert [digest(template) for template in again.templates] == [digest(template) for template in workflow.templates]


def test_the_order_of_keys_of_a_json_value_doesnt_change_the_digest() -> None:
    def step(value: dict[str, int]) -> Template:
        return Template("t", Suspend(), metrics=Templated(value))

    assert digest(step({"a": 1, "b": 2})) == digest(step({"b": 2, "a": 1}))


PROGRAM = """
import hashlib
from couler_py.ir import to_json
from couler_py.passes.check import check
from tests.strategies import random_ir
text = "".join(to_json(random_ir(seed)) + repr(check(random_ir(seed))) for seed in range(40))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_same_program_gives_the_same_bytes_whatever_the_hash_seed(checkout: Path) -> None:
    def run(seed: str) -> str:
        environment = dict(os.environ, PYTHONHASHSEED=seed, PYTHONPATH=str(checkout))
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, cwd=checkout, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run("1") == run("2")


def test_the_bytes_of_a_workflow_dont_change_unnoticed() -> None:
    """Whoever changes this changes what old files mean: see FORMAT."""
    assert to_json(WAIT) == (
        '{\n  "format": "couler-ir/1",\n  "workflow": {\n    "name": "w",\n    "entrypoint": "wait",\n'
        '    "templates": [\n      {\n        "name": "wait",\n        "body": {\n          "type": "suspend",\n'
        '          "duration": 1\n        }\n      }\n    ]\n  }\n}\n'
    )
    assert len({hashlib.sha256(to_json(random_ir(seed)).encode()).hexdigest() for seed in range(20)}) == 20
