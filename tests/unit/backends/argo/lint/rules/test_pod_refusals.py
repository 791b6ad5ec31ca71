"""What Kubernetes refuses of pods, claims and budgets: every mistake here was seen to fail on a real controller."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.ir.quantity import quantity
from tests.unit.backends.argo.lint.rules.cases import Case, check


def _container(text: str) -> str:
    return f"templates:\n- {{name: main, container: {{image: a, command: [b], {text}}}}}"


def _template(text: str) -> str:
    return f"templates:\n- {{name: main, container: {{image: a, command: [b]}}, {text}}}"


def _spec(text: str) -> str:
    return f"{text}\ntemplates:\n- {{name: main, container: {{image: a, command: [b]}}}}"


def _image(text: str) -> Case:
    spec = f"templates:\n- {{name: main, container: {{image: ‸'{text}', command: [b]}}}}"
    return Case("CLR483", f"the image of the template 'main' can't be {text!r}", spec)


MAIN = "the template 'main'"
CASES = {
    "an image with a space": _image("busy box"),
    "an image with a space in front": _image(" busybox"),
    "an image in capitals": _image("BusyBox"),
    "an image with two tags": _image("a:b:c"),
    "an unknown pull policy": Case(
        "CLR479", f"`imagePullPolicy` of {MAIN} can't be 'Sometimes'", _container("imagePullPolicy: ‸Sometimes")
    ),
    "a variable with a value and a source": Case(
        "CLR479",
        f"the variable 'A' of {MAIN} has both `value` and `valueFrom`",
        _container("env: [{name: A, value: x, ‸valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"),
    ),
    "a variable with two sources": Case(
        "CLR479",
        f"the variable 'A' of {MAIN} has both `fieldRef` and `secretKeyRef`",
        _container(
            "env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, ‸secretKeyRef: {name: a, key: b}}}]"
        ),
    ),
    "a variable from nothing": Case(
        "CLR479",
        f"the variable 'A' of {MAIN} says nothing of what it is",
        _container("env: [{name: A, ‸valueFrom: {}}]"),
    ),
    "a variable of an unknown field": Case(
        "CLR479",
        f"the variable 'A' of {MAIN} can't be the field 'metadata.nam'",
        _container("env: [{name: A, valueFrom: {fieldRef: {fieldPath: ‸metadata.nam}}}]"),
    ),
    "a variable with an equals sign": Case(
        "CLR479", f"a variable of {MAIN} can't be called 'A=B'", _container("env: [{name: ‸A=B, value: x}]")
    ),
    "variables from nothing": Case(
        "CLR479", f"`envFrom` of {MAIN} says nothing of what it is", _container("envFrom: [‸{prefix: x}]")
    ),
    "a port that there isn't": Case(
        "CLR479", f"`containerPort` of {MAIN} can't be 99999", _container("ports: [{containerPort: ‸99999}]")
    ),
    "a probe of a quoted number": Case(
        "CLR479",
        f"the port of `livenessProbe` of {MAIN} can't be '8080'",
        _container("livenessProbe: {tcpSocket: {port: ‸'8080'}}"),
    ),
    "a probe that does nothing": Case(
        "CLR479",
        f"`readinessProbe` of {MAIN} says nothing of what it is",
        _container("‸readinessProbe: {periodSeconds: 3}"),
    ),
    "a probe with less than no time": Case(
        "CLR479",
        f"`initialDelaySeconds` of {MAIN} is -3, less than nothing",
        _container("livenessProbe: {exec: {command: [a]}, initialDelaySeconds: ‸-3}"),
    ),
    "a liveness that needs two": Case(
        "CLR479",
        f"`successThreshold` of `livenessProbe` of {MAIN} is more than 1",
        _container("livenessProbe: {exec: {command: [a]}, successThreshold: ‸2}"),
    ),
    "two things at the start": Case(
        "CLR479",
        f"`postStart` of {MAIN} has both `exec` and `httpGet`",
        _container("lifecycle: {postStart: {exec: {command: [a]}, ‸httpGet: {port: 80}}}"),
    ),
    "less than no memory": Case(
        "CLR479", f"{MAIN} asks for -1Gi of 'memory'", _container("resources: {limits: {memory: ‸-1Gi}}")
    ),
    "more than the limit": Case(
        "CLR479",
        f"{MAIN} requests 2Gi of 'memory', and its limit is 1024Mi",
        _container("resources: {limits: {memory: 1024Mi}, requests: {memory: ‸2Gi}}"),
    ),
    "a resource that there isn't": Case(
        "CLR479", f"{MAIN} asks for 'gpu', which is no resource", _container("resources: {limits: {gpu: ‸1}}")
    ),
    "half a GPU": Case(
        "CLR479",
        f"{MAIN} asks for 0.5 of 'nvidia.com/gpu', of which there are only whole ones",
        _container("resources: {limits: {nvidia.com/gpu: ‸'0.5'}}"),
    ),
    "a GPU without a limit": Case(
        "CLR479",
        f"{MAIN} requests 'nvidia.com/gpu' without a limit",
        _container("resources: {requests: {nvidia.com/gpu: ‸1}}"),
    ),
    "a privileged container without more rights": Case(
        "CLR479",
        f"{MAIN} is `privileged` and can't have more rights",
        _container("securityContext: {privileged: true, allowPrivilegeEscalation: ‸false}"),
    ),
    "a part of a volume outside of it": Case(
        "CLR479",
        f"`subPath` of {MAIN} leads out of its volume: '../x'",
        "volumes: [{name: v, emptyDir: {}}]\n" + _container("volumeMounts: [{name: v, mountPath: /v, subPath: ‸../x}]"),
    ),
    "a sidecar in capitals": Case(
        "CLR479",
        f"the sidecar 'Side_Car' of {MAIN} can't be called so",
        _template("sidecars: [{name: ‸Side_Car, image: a}]"),
    ),
    "two containers of one name": Case(
        "CLR479",
        f"the init container 'x' of {MAIN} has the name of another container",
        _template("sidecars: [{name: x, image: a}], initContainers: [{name: ‸x, image: a}]"),
    ),
    "a node selector with a space": Case(
        "CLR479",
        f"the node selector of {MAIN} has 'c d', which is no value of a label",
        _template("nodeSelector: {a: ‸c d}"),
    ),
    "a toleration by an unknown operator": Case(
        "CLR479", f"`operator` of {MAIN} can't be 'Equals'", _template("tolerations: [{key: a, operator: ‸Equals}]")
    ),
    "a toleration with a value too many": Case(
        "CLR479",
        f"a toleration of {MAIN} is for `Exists`, and has a value",
        _template("tolerations: [{key: a, operator: Exists, value: ‸b}]"),
    ),
    "an affinity by an unknown operator": Case(
        "CLR479",
        f"`operator` of {MAIN} can't be 'Equals'",
        _template(
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
            "[{matchExpressions: [{key: a, operator: ‸Equals, values: [b]}]}]}}}"
        ),
    ),
    "a patch that isn't YAML": Case(
        "CLR479",
        f"the `podSpecPatch` of {MAIN} isn't YAML: did not find expected node content",
        _template("podSpecPatch: '{\"containers\": [‸'"),
    ),
    "a patch that is a list": Case(
        "CLR479", f"the `podSpecPatch` of {MAIN} is no mapping", _template("podSpecPatch: ‸'[1]'")
    ),
    "a patch of nobody's container": Case(
        "CLR479",
        f"the `podSpecPatch` of {MAIN} has an item of `containers` without a `name`",
        _template("podSpecPatch: ‸'containers: [{resources: {}}]'"),
    ),
    "a patch of all templates": Case(
        "CLR479", "the `podSpecPatch` of the defaults is no mapping", _spec("templateDefaults: {podSpecPatch: ‸hello}")
    ),
    "a volume of two kinds": Case(
        "CLR479",
        "the volume 'v' is both `emptyDir` and `secret`",
        _spec("volumes: [{name: v, emptyDir: {}, ‸secret: {secretName: x}}]"),
    ),
    "a volume in capitals": Case(
        "CLR479", "a volume can't be called 'My_Vol'", _spec("volumes: [{name: ‸My_Vol, emptyDir: {}}]")
    ),
    "a host without an address": Case(
        "CLR479", "'localhost' is no address", _spec("hostAliases: [{ip: ‸localhost, hostnames: [a]}]")
    ),
    "an unknown way to ask for names": Case(
        "CLR479", "`dnsPolicy` of the workflow can't be 'Never'", _spec("dnsPolicy: ‸Never")
    ),
    "nobody to ask for names": Case("CLR479", "`dnsPolicy: None` without servers to ask", _spec("dnsPolicy: ‸None")),
    "a negative user": Case("CLR479", "`runAsUser` of the workflow is -5", _spec("securityContext: {runAsUser: ‸-5}")),
    "a claim without a size": Case(
        "CLR479",
        "the volume claim 'w' says no size",
        _spec("volumeClaimTemplates: [‸{metadata: {name: w}, spec: {accessModes: [ReadWriteOnce]}}]"),
    ),
    "a claim of an unknown mode": Case(
        "CLR479",
        "the volume claim 'w' can't have the access mode 'Read'",
        _spec(
            "volumeClaimTemplates: "
            "[{metadata: {name: w}, spec: {accessModes: [‸Read], resources: {requests: {storage: 1Gi}}}}]"
        ),
    ),
    "a budget that says both": Case(
        "CLR479",
        "a disruption budget says what must be there or what may be gone, not both",
        _spec("podDisruptionBudget: {minAvailable: 1, maxUnavailable: ‸1}"),
    ),
    "a budget in words": Case(
        "CLR479",
        "`minAvailable` can't be '50 percent'",
        _spec("podDisruptionBudget: {minAvailable: ‸50 percent}"),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)


SOUND = {
    "images": _spec("")
    + "".join(
        f"\n- {{name: i{index}, container: {{image: '{image}', command: [b]}}}}"
        for index, image in enumerate(
            (
                "localhost:5000/a/b_c/d__e:v1.0_X-2",
                "Reg.IO:80/x",
                f"a/b:Tag@sha256:{'0' * 64}",
                "[::1]:5000/a",
                "{{inputs.parameters.x}}",
            )
        )
    ).replace("name: i4,", "name: i4, inputs: {parameters: [{name: x, value: a}]},"),
    "variables": _container(
        "env: [{name: A.b-c, value: ''}, {name: B, value: '', "
        "valueFrom: {fieldRef: {fieldPath: \"metadata.labels['x']\"}}}], envFrom: [{prefix: P_, secretRef: {name: x}}]"
    ),
    "ports and probes": _container(
        "ports: [{containerPort: 80, name: http}], readinessProbe: {httpGet: {port: http}, successThreshold: 2}, "
        "livenessProbe: {tcpSocket: {port: 8080}}, startupProbe: {grpc: {port: 1}}"
    ),
    "amounts": _container(
        "resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}, "
        "requests: {cpu: 100m, memory: 1e3, nvidia.com/gpu: 1, hugepages-2Mi: 2Mi}}"
    ),
    "patches": _template("podSpecPatch: '{\"terminationGracePeriodSeconds\": {{workflow.name}} }'"),
    "a patch in lines": _template('podSpecPatch: "# why\\ncontainers:\\n- name: main\\n  tty: true\\n"'),
    "settings": _spec(
        "dnsPolicy: None\ndnsConfig: {nameservers: [1.1.1.1]}\nhostAliases: [{ip: '::1', hostnames: [a]}]\n"
        "podDisruptionBudget: {minAvailable: 50%}\ntolerations: [{operator: Exists}]\n"
        "nodeSelector: {kubernetes.io/os: linux}\nvolumes: [{name: v}]\n"
        "podMetadata: {labels: {a: '{{workflow.name}}'}, annotations: {x/y: any thing}}"
    ),
}


@pytest.mark.parametrize("spec", SOUND.values(), ids=SOUND.keys())
def test_what_kubernetes_takes_is_no_finding(spec: str) -> None:
    assert [each.message for each in Case("", "", spec).findings] == []


@given(st.integers(0, 10**9), st.sampled_from(["", "k", "M", "Ki", "Mi", "m", "e3"]))
def test_amounts_are_read_as_kubernetes_reads_them(number: int, scale: str) -> None:
    factors: dict[str, Fraction | int] = {
        "": 1,
        "k": 10**3,
        "M": 10**6,
        "Ki": 2**10,
        "Mi": 2**20,
        "m": Fraction(1, 1000),
        "e3": 1000,
    }
    assert quantity(f"{number}{scale}") == number * factors[scale]


@given(st.text(max_size=12))
def test_any_text_is_an_amount_or_none(text: str) -> None:
    assert quantity(text) is None or quantity(text) >= quantity("-1e999")  # type: ignore[operator]


def test_long_texts_are_read_in_one_go() -> None:
    long = "1" * 200_000
    spec = _container(f"resources: {{limits: {{cpu: {long}x}}}}").replace("image: a", f"image: a{'-' * 200_000}!")
    steps = f"[[{{name: s, template: none, withSequence: {{count: 1, format: '%{'0' * 200_000}'}}}}]]"
    case = Case("", "", f"{spec}\n- {{name: t, steps: {steps}}}")
    assert [each.code for each in case.findings if each.severity == "error"] == ["CLR483"]
