"""The CRDs' CEL rules by hand say what cel-python says."""

from __future__ import annotations

from typing import Any

import celpy
import pytest
from celpy.adapter import json_to_cel
from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.argo.lint.expressions import BODIES, CHECKS, LOCATIONS
from couler_py.backends.argo.lint.rules.schema_rules import rules_of_the_spec
from couler_py.backends.argo.schema import PLURALS, schema


def rules(part: Any) -> set[str]:
    if isinstance(part, list):
        return set().union(*map(rules, part))
    if not isinstance(part, dict):
        return set()
    own = {rule["rule"] for rule in part.get("x-kubernetes-validations", ()) if isinstance(rule, dict)}
    return own.union(*map(rules, part.values()))


def test_every_rule_of_the_crds_is_known_and_no_other() -> None:
    assert set().union(*(rules(schema(kind)) for kind in PLURALS)) == set(CHECKS)


def program(rule: str) -> Any:
    environment = celpy.Environment()
    return environment.program(environment.compile(rule))


# Made beforehand: compiling moves Python's recursion limit, which hypothesis watches while tests run.
PROGRAMS = {rule: program(rule) for rule in CHECKS}


def test_the_rules_of_the_spec_are_the_same_in_every_kind() -> None:
    assert {kind: rules_of_the_spec(kind) == rules_of_the_spec() for kind in PLURALS} == dict.fromkeys(PLURALS, True)


def mapping(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


some = st.just({"key": "a"})
template = mapping(timeout=st.sampled_from(["", "1h"]), activeDeadlineSeconds=st.just(3), **dict.fromkeys(BODIES, some))
task = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "1a", "a1", ""])},
    optional={"depends": st.sampled_from(["", "a"]), "dependencies": st.just(["a"]), "continueOn": some},
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "self.s3": mapping(name=st.just("a"), **dict.fromkeys(LOCATIONS, some)),
    "self.realtime": st.fixed_dictionaries(
        {"value": st.sampled_from(["1", "{{resourcesDuration.cpu}}"])}, optional={"realtime": st.booleans()}
    ),
    "self.depends": task,
    "self.count": mapping(count=st.just("1"), end=st.just("2"), start=st.just("0")),
    "self.manifest": mapping(manifest=st.just("a"), manifestFrom=some, action=st.just("get")),
    "self.all": st.lists(template, max_size=3),
}


@pytest.mark.parametrize("rule", CHECKS)
@given(data=st.data())
def test_a_rule_by_hand_agrees_with_cel(rule: str, data: st.DataObject) -> None:
    value = data.draw(next(strategy for start, strategy in VALUES.items() if start in rule))
    by_hand = not list(CHECKS[rule](value))
    assert by_hand == bool(PROGRAMS[rule].evaluate({"self": json_to_cel(value)}))
