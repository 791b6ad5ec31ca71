"""Where an artifact lives, when that isn't the engine's default store. Vocabulary: Argo's artifact locations.

`extra` holds further fields of an imported location in Argo's own words.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.ir.expr import TextLike
from couler_py.ir.templated import Templated


class SecretRef(msgspec.Struct, frozen=True, tag="secret", forbid_unknown_fields=True, omit_defaults=True):
    """One key of a secret in the target's secret store. The value itself is never in the IR."""

    name: str
    key: str
    optional: bool = False


class _Storage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class S3(_Storage, frozen=True, tag="s3"):
    """A file or folder in an S3 bucket. Without keys, the engine's own credentials are used.

    >>> S3("data/train.csv", bucket="team-a", secret_key=SecretRef("s3", "secret")).bucket
    'team-a'
    """

    key: TextLike
    bucket: str = ""
    endpoint: str = ""
    region: str = ""
    insecure: bool = False
    access_key: SecretRef | None = None
    secret_key: SecretRef | None = None
    session_token: SecretRef | None = None
    role_arn: str = ""
    use_sdk_credentials: bool = False
    extra: Templated | None = None


class GCS(_Storage, frozen=True, tag="gcs"):
    """A file or folder in a bucket of Google Cloud Storage."""

    key: TextLike
    bucket: str = ""
    service_account_key: SecretRef | None = None
    extra: Templated | None = None


class OSS(_Storage, frozen=True, tag="oss"):
    """A file or folder in a bucket of Alibaba Cloud's Object Storage Service."""

    key: TextLike
    bucket: str = ""
    endpoint: str = ""
    access_key: SecretRef | None = None
    secret_key: SecretRef | None = None
    security_token: str = ""
    extra: Templated | None = None


class Azure(_Storage, frozen=True, tag="azure"):
    """A file or folder in a container of Azure Blob Storage."""

    blob: TextLike
    container: str = ""
    endpoint: str = ""
    account_key: SecretRef | None = None
    use_sdk_credentials: bool = False
    extra: Templated | None = None


class HDFS(_Storage, frozen=True, tag="hdfs"):
    """A file or folder of an HDFS cluster; `addresses` are its name nodes as "host:port"."""

    path: TextLike
    addresses: tuple[str, ...] = ()
    user: str = ""
    force: bool = False
    data_transfer_protection: str = ""
    krb_c_cache: SecretRef | None = None
    krb_keytab: SecretRef | None = None
    krb_username: str = ""
    krb_realm: str = ""
    krb_service_principal: str = ""
    extra: Templated | None = None


class Git(_Storage, frozen=True, tag="git"):
    """Input only."""

    repo: TextLike
    revision: TextLike = ""
    depth: int | None = None
    branch: str = ""
    single_branch: bool = False
    disable_submodules: bool = False
    insecure_ignore_host_key: bool = False
    username: SecretRef | None = None
    password: SecretRef | None = None
    ssh_private_key: SecretRef | None = None
    extra: Templated | None = None


class HTTPLocation(_Storage, frozen=True, tag="http"):
    """A file behind an address: fetched with GET as input, sent with PUT as output."""

    url: TextLike
    headers: tuple[tuple[str, TextLike], ...] = ()
    username: SecretRef | None = None
    password: SecretRef | None = None
    extra: Templated | None = None


class RawData(_Storage, frozen=True, tag="raw"):
    """Input only: the content itself."""

    data: TextLike


class LocalPath(_Storage, frozen=True, tag="local"):
    """A path on the machine that runs the workflow. Local engine only."""

    path: str


Storage: TypeAlias = S3 | GCS | OSS | Azure | HDFS | Git | HTTPLocation | RawData | LocalPath
Archive: TypeAlias = Literal["", "none", "tar", "zip"]
