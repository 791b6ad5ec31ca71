"""A strategic merge patch of a pod spec, with the meaning that Kubernetes gives it."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.airflow.patches import PatchError, patch_of, patched
from couler_py.ir.expr import Input, Text

POD: dict[str, Any] = {
    "nodeSelector": {"disk": "ssd"},
    "containers": [{"name": "base", "env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": "1"}}}],
    "tolerations": [{"key": "gpu"}],
}


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ({"nodeSelector": {"zone": "a"}}, {"nodeSelector": {"disk": "ssd", "zone": "a"}}),
        ({"nodeSelector": {"disk": None}}, {"nodeSelector": {}}),
        ({"nodeSelector": {"$patch": "replace", "zone": "a"}}, {"nodeSelector": {"zone": "a"}}),
        ({"tolerations": [{"key": "spot"}]}, {"tolerations": [{"key": "spot"}]}),
        ({"hostNetwork": True}, {"hostNetwork": True}),
        (
            {"containers": [{"name": "base", "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "3"}]}]},
            {
                "containers": [
                    {
                        "name": "base",
                        "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "3"}],
                        "resources": {"limits": {"cpu": "1"}},
                    }
                ]
            },
        ),
        ({"containers": [{"name": "base", "$patch": "delete"}]}, {"containers": []}),
    ],
)
def test_a_patch(patch: dict[str, Any], changed: dict[str, Any]) -> None:
    assert patched(POD, patch) == POD | changed


def test_the_container_that_argo_calls_main_is_the_base() -> None:
    assert patch_of("containers:\n- name: main\n  tty: true\n") == {"containers": [{"name": "base", "tty": True}]}


@pytest.mark.parametrize("text", ["[1]", "a: [", Text(("{}", Input("x")))], ids=["a list", "broken", "values"])
def test_what_is_no_patch(text: Any) -> None:
    with pytest.raises(PatchError):
        patch_of(text)


def test_an_item_without_its_key() -> None:
    with pytest.raises(PatchError, match="'containers' has no 'name'"):
        patched(POD, {"containers": [{"tty": True}]})
