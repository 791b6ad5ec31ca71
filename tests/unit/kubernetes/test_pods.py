"""Kubernetes' objects from the IR's pod structs."""

from __future__ import annotations

from couler_py.ir.expr import Input, Text
from couler_py.ir.pod import (
    Container,
    Dns,
    DnsOption,
    EnvVar,
    FieldRef,
    PodSettings,
    Resources,
    Substitution,
    Templated,
    Toleration,
)
from couler_py.ir.storage import SecretRef
from couler_py.kubernetes import container, dns, pod_fields, resources, templated


def shown(text: str | Text) -> str:
    return (
        text if isinstance(text, str) else "".join(part if isinstance(part, str) else "<value>" for part in text.parts)
    )


def test_quantities_are_requests_and_limits_at_once_unless_a_limit_says_otherwise() -> None:
    asked = Resources(cpu="500m", memory="1Gi", memory_limit="2Gi", cpu_limit="", gpu=2)
    assert resources(asked) == {
        "requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "2"},
        "limits": {"memory": "2Gi", "nvidia.com/gpu": "2"},
    }


def test_nothing_asked_for_gives_nothing() -> None:
    assert resources(Resources()) == {}


def test_secrets_stay_references() -> None:
    given = Container(
        "i", env=(EnvVar("A", SecretRef("s", "k")), EnvVar("B", FieldRef("metadata.name")), EnvVar("C", "x"))
    )
    assert container(given, shown)["env"] == [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "C", "value": "x"},
    ]


def test_substitutions_stand_where_their_pointers_say() -> None:
    given = Templated(
        {"a/b": ["", "x"], "c": {"~d": ""}},
        (
            Substitution("/a~1b/0", Text(("v=", Input("p")))),
            Substitution("/c/~0d", Text((Input("p"),))),
        ),
    )
    assert templated(given, shown) == {"a/b": ["v=<value>", "x"], "c": {"~d": "<value>"}}
    assert given.value == {"a/b": ["", "x"], "c": {"~d": ""}}


def test_placement() -> None:
    settings = PodSettings(
        node_selector=(("zone", "a"),), tolerations=(Toleration("gpu", "Exists", effect="NoSchedule"),), scheduler="s"
    )
    assert pod_fields(settings, shown) == {
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "schedulerName": "s",
    }


def test_dns() -> None:
    given = Dns("None", ("1.1.1.1",), ("x.y",), (DnsOption("ndots", "1"), DnsOption("edns0")))
    assert dns(given) == {
        "dnsPolicy": "None",
        "dnsConfig": {
            "nameservers": ["1.1.1.1"],
            "searches": ["x.y"],
            "options": [{"name": "ndots", "value": "1"}, {"name": "edns0"}],
        },
    }
