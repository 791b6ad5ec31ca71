"""What can be set: one struct a table. Every key is documented in docs/guides/configuration.md."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from couler_py.settings.policy import Policy, PolicySource

Runtime: TypeAlias = Literal["process", "podman", "docker", "container"]
EventKind: TypeAlias = Literal["started", "succeeded", "failed", "skipped", "blocked", "stopped"]
CachePolicy: TypeAlias = Literal["foresight", "none", "all", "fifo", "lru", "lfu", "gdsf", "couler"]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    pass


class ResourceDefaults(_Table, frozen=True):
    """`[resources]`: what a step asks for where it says nothing. Quantities as in Kubernetes ("500m", "2Gi")."""

    cpu: str | int | float = ""
    memory: str = ""
    gpu: Annotated[int, msgspec.Meta(ge=0)] = 0


class Toleration(_Table, frozen=True):
    """`[[tolerations]]`: a taint of nodes that pods may run in spite of. `seconds` is how long they stay."""

    key: str = ""
    operator: Literal["Exists", "Equal", ""] = ""
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute", ""] = ""
    seconds: int | None = None


class LocalSettings(_Table, frozen=True):
    """`[local]`: what the engine `local` is told. `config_maps` are those that steps may refer to here."""

    config_maps: dict[str, dict[str, str]] = {}


class AirflowSettings(_Table, frozen=True):
    """`[airflow]`: which Airflow, and who calls. The password is no setting: it comes from the environment.

    `server` is the URL of its api-server, `dags_folder` the folder that it reads DAGs from, as this machine sees it.
    `certificate_authority` is a file of certificates to trust.
    """

    server: str = ""
    username: str = ""
    dags_folder: str = ""
    certificate_authority: str = ""


class CacheSettings(_Table, frozen=True):
    """`[cache]`: `budget` is the size that cached outputs may have, as "20GiB"; "" is no bound.

    `policy` chooses what is kept where there isn't room for all: see docs/guides/caching.md.
    """

    budget: str = ""
    policy: CachePolicy = "foresight"


class LogSettings(_Table, frozen=True):
    """`[logs]`: `limit` is the size of one attempt's log, as "100MB"; its beginning and end are kept."""

    limit: str = "100MB"


class RetrySettings(_Table, frozen=True):
    """`[retry]`: `platform` is how many further attempts steps get after faults of the platform, as a lost node."""

    platform: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0


class SecretSettings(_Table, frozen=True):
    """`[secrets]`: `mounted` are folders of the form DIR/NAME/KEY, `keyring` asks the keyring of the desktop too.

    Only the user's own file and the environment can say this: a project must not point at a folder of keys.
    """

    mounted: tuple[str, ...] = ()
    keyring: bool = False


class Webhook(_Table, frozen=True):
    """`[[events.webhooks]]`: an address that each event is posted to.

    `secret` is the NAME/KEY that signs what is sent. `only` names kinds of events; none means all. `tasks = false`
    leaves out those of single tasks. `timeout` is in seconds.
    """

    url: str
    secret: str = ""
    only: tuple[EventKind, ...] = ()
    tasks: bool = True
    timeout: Seconds = 10.0


class OpenLineage(_Table, frozen=True):
    """`[events.openlineage]`: where lineage events go: an address (with a bearer token NAME/KEY), or a file."""

    url: str = ""
    file: str = ""
    token: str = ""
    namespace: str = "couler"
    timeout: Seconds = 10.0


class EventSettings(_Table, frozen=True):
    """`[events]`: what happens in runs, told to others. `prometheus` is a folder of textfile metrics."""

    files: tuple[str, ...] = ()
    webhooks: tuple[Webhook, ...] = ()
    openlineage: OpenLineage = OpenLineage()
    prometheus: str = ""


class Keys(_Table, frozen=True):
    """The keys of every source."""

    engine: str = ""
    namespace: str = ""
    service_account: str = ""
    image: str = ""
    images: dict[str, str] = {}
    image_pull_secrets: tuple[str, ...] = ()
    artifacts: str = ""
    runtime: Runtime | None = None
    resources: ResourceDefaults = ResourceDefaults()
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    include: tuple[str, ...] = ()
    index_url: str = ""
    extra_index_urls: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    offline: bool = False
    local: LocalSettings = LocalSettings()
    airflow: AirflowSettings = AirflowSettings()
    cache: CacheSettings = CacheSettings()
    logs: LogSettings = LogSettings()
    retry: RetrySettings = RetrySettings()
    secrets: SecretSettings = SecretSettings()
    events: EventSettings = EventSettings()


class Profile(Keys, frozen=True):
    """`[profiles.NAME]`: keys that hold where the profile is chosen, and further policies."""

    policy: str | tuple[str, ...] | Policy = ()


class File(Profile, frozen=True):
    """A whole file of settings. `profile` is the one that is chosen where nothing else says so."""

    profile: str = ""
    profiles: dict[str, Profile] = {}


class Settings(Keys, frozen=True):
    """What holds: see `couler_py.settings.load`.

    `origins` says for each key ("resources.cpu") where its value comes from ("couler.toml:3", "COULER_RESOURCES_CPU");
    what is left at its default isn't in it. `root` is the project's folder, "" where there is none. All policies of
    all sources hold at once.
    """

    profile: str = ""
    policies: tuple[PolicySource, ...] = ()
    origins: dict[str, str] = {}
    root: str = ""
