"""What surrounds the pods of a workflow, with Couler's classes: volumes, tolerations, image pull secrets, DNS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, get_args, get_type_hints

import msgspec

from couler_py.dsl.options import quantity
from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.state import state
from couler_py.ir import pod
from couler_py.ir.names import legal


class ImagePullPolicy(Enum):
    """When the engine pulls an image."""

    IfNotPresent = "IfNotPresent"
    Always = "Always"
    Never = "Never"

    @classmethod
    def valid(cls, value: str) -> bool:
        """Whether a text names one."""
        return value in cls.__members__

    @classmethod
    def values(cls) -> list[str]:
        """The names of all."""
        return list(cls.__members__)


class Volume:
    """A volume of every pod that mounts it: a claim that exists, a secret, a ConfigMap, or an empty folder.

    `source` is any other kind in Kubernetes' words, as `{"nfs": {"server": "nas", "path": "/data"}}`.

    >>> Volume("keys", secret="db").source
    {'secret': {'secretName': 'db'}}
    """

    def __init__(
        self,
        name: str,
        claim_name: str | None = None,
        *,
        secret: str | None = None,
        config_map: str | None = None,
        empty_dir: bool = False,
        source: Mapping[str, Any] | None = None,
    ):
        found: list[dict[str, Any]] = []
        if claim_name is not None:
            found.append({"persistentVolumeClaim": {"claimName": claim_name}})
        if secret is not None:
            found.append({"secret": {"secretName": str(secret)}})
        if config_map is not None:
            found.append({"configMap": {"name": config_map}})
        if empty_dir:
            found.append({"emptyDir": {}})
        if source is not None:
            found.append(dict(source))
        if len(found) != 1:
            fail(
                "CLR181",
                f"the volume {name!r} has {len(found) or 'no'} sources",
                help="give one of claim_name, secret, config_map, empty_dir and source",
            )
        self.name = _volume_name(name)
        self.source = found[0]

    def to_ir(self) -> pod.Volume:
        """The volume as the IR says it."""
        return pod.Volume(self.name, pod.Templated(self.source))


class VolumeMount:
    """Where a step finds a volume."""

    def __init__(self, name: str, mount_path: str, *, sub_path: str = "", read_only: bool = False):
        if not mount_path.startswith("/"):
            fail("CLR181", f"the mount path {mount_path!r} is not absolute")
        self.name = _volume_name(name)
        self.mount_path = mount_path
        self.sub_path = sub_path
        self.read_only = read_only

    def to_ir(self) -> pod.VolumeMount:
        """The mount as the IR says it."""
        return pod.VolumeMount(self.name, self.mount_path, self.sub_path, self.read_only)


class VolumeClaimTemplate:
    """A claim that is made when a run starts, and deleted with it. `size` is a quantity ("1Gi")."""

    def __init__(
        self,
        claim_name: str,
        access_modes: Iterable[str] = ("ReadWriteOnce",),
        size: str = "1Gi",
        *,
        storage_class: str = "",
    ):
        if isinstance(access_modes, str):
            fail("CLR181", f"access_modes={access_modes!r} is one text", help=f"give a list: [{access_modes!r}]")
        text = quantity(size)
        if not text:
            fail("CLR181", f"size={size!r} is not a quantity", help='write it as "1Gi"')
        self.claim_name = _volume_name(claim_name)
        self.access_modes = tuple(access_modes)
        self.size = text
        self.storage_class = storage_class

    def to_ir(self) -> pod.VolumeClaim:
        """The claim as the IR says it."""
        return pod.VolumeClaim(self.claim_name, self.size, self.access_modes, self.storage_class)


class Toleration(msgspec.Struct, frozen=True):
    """A taint that pods may run in spite of. `value` is for the operator "Equal", `seconds` for "NoExecute"."""

    key: str = ""
    effect: str = ""
    operator: str = "Exists"
    value: str = ""
    seconds: int | None = None

    def to_ir(self) -> pod.Toleration:
        """The toleration as the IR says it. Raises `RecordingError` for an unknown effect or operator."""
        _check(self.effect, pod.Toleration, "effect")
        _check(self.operator, pod.Toleration, "operator")
        if self.operator == "Exists" and self.value:
            fail("CLR181", "a toleration that Exists has no value", help='use operator="Equal"')
        return pod.Toleration(self.key, self.operator, self.value, self.effect, self.seconds)  # type: ignore[arg-type]


class DnsConfigOption(msgspec.Struct, frozen=True):
    """An option of the resolver."""

    name: str
    value: str | None = None


class DnsConfig:
    """Name servers, search domains and options of the resolver in every pod."""

    def __init__(
        self,
        nameservers: Iterable[str] | None = None,
        options: Iterable[DnsConfigOption] | None = None,
        searches: Iterable[str] | None = None,
    ):
        self.nameservers = tuple(nameservers or ())
        self.options = tuple(options or ())
        self.searches = tuple(searches or ())


def add_volume(volume: Volume) -> None:
    """Give the workflow a volume, for `volume_mounts`. Raises `RecordingError` for another one of the same name.

    >>> couler.add_volume(Volume("data", "training-data"))  # doctest: +SKIP
    """
    made = volume.to_ir()
    here = state()
    known = here.recorder.volumes.get(made.name)
    if known is not None and known != made and made.name not in here.assumed:
        fail("CLR181", f"two different volumes are named {made.name!r}", help="give one of them another name")
    here.assumed.discard(made.name)
    here.recorder.volumes[made.name] = made


def create_workflow_volume(volume: VolumeClaimTemplate) -> None:
    """Give each run a volume of its own. Raises `RecordingError` for another one of the same name.

    >>> couler.create_workflow_volume(VolumeClaimTemplate("scratch", size="10Gi"))  # doctest: +SKIP
    """
    claim = volume.to_ir()
    here = state()
    known = here.recorder.claims.get(claim.name)
    if known is not None and known != claim:
        fail("CLR181", f"two different volumes are named {claim.name!r}", help="give one of them another name")
    if claim.name in here.assumed:
        here.assumed.discard(claim.name)
        del here.recorder.volumes[claim.name]
    here.recorder.claims[claim.name] = claim


def add_toleration(toleration: Toleration) -> None:
    """Let every pod of the workflow run in spite of a taint.

    >>> couler.add_toleration(Toleration("gpu", "NoSchedule", "Exists"))  # doctest: +SKIP
    """
    settings = state().settings
    made = toleration.to_ir()
    if made not in settings.tolerations:
        state().change(tolerations=(*settings.tolerations, made))


def add_image_pull_secret(secret: str) -> None:
    """Pull images with this secret, in every pod of the workflow.

    >>> couler.add_image_pull_secret("registry")
    """
    settings = state().settings
    name = str(secret)
    if not legal("kubernetes", "label", name):
        fail("CLR181", f"{name!r} can't be the name of a secret")
    if name not in settings.image_pull_secrets:
        state().change(image_pull_secrets=(*settings.image_pull_secrets, name))


def set_dns(dns_policy: str | None = None, dns_config: DnsConfig | None = None) -> None:
    """How every pod of the workflow resolves names. Raises `RecordingError` for an unknown policy.

    >>> couler.set_dns("None", DnsConfig(nameservers=["10.0.0.10"]))  # doctest: +SKIP
    """
    policy = dns_policy or ""
    _check(policy, pod.Dns, "policy")
    config = dns_config or DnsConfig()
    if policy == "None" and not config.nameservers:
        fail("CLR181", 'the DNS policy "None" needs name servers', help="give DnsConfig(nameservers=[...])")
    options = tuple(pod.DnsOption(option.name, option.value) for option in config.options)
    state().change(dns=pod.Dns(policy, config.nameservers, config.searches, options))  # type: ignore[arg-type]


def _volume_name(name: str) -> str:
    if not legal("kubernetes", "volume", name):
        fail("CLR181", f"{name!r} can't be the name of a volume", help="use small letters, digits and -, 63 at most")
    return name


def _check(value: str, struct: Any, field: str) -> None:
    known = get_args(get_type_hints(struct)[field])
    if value not in known:
        fail("CLR181", f"there is no {field} {value!r}", help=f"use one of {', '.join(filter(None, known))}")
