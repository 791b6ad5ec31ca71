"""Where artifacts live: every kind of store that the IR knows."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document.containers import each_of, secret, secret_field, written_secret
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    extra,
    flag_field,
    strings,
    text_field,
    whole_field,
    with_extra,
    word_field,
)
from couler_py.backends.argo.document.texts import UNSAID, Root, text, word, written
from couler_py.ir.storage import GCS, HDFS, OSS, S3, Azure, Git, HTTPLocation, RawData, Storage

_S3 = Table(
    S3,
    text_field("key", "key"),
    word_field("bucket", "bucket"),
    word_field("endpoint", "endpoint"),
    word_field("region", "region"),
    flag_field("insecure", "insecure"),
    secret_field("accessKeySecret", "access_key"),
    secret_field("secretKeySecret", "secret_key"),
    secret_field("sessionTokenSecret", "session_token"),
    word_field("roleARN", "role_arn"),
    flag_field("useSDKCreds", "use_sdk_credentials"),
)
_GCS = Table(
    GCS,
    text_field("key", "key"),
    word_field("bucket", "bucket"),
    secret_field("serviceAccountKeySecret", "service_account_key"),
)
_OSS = Table(
    OSS,
    text_field("key", "key"),
    word_field("bucket", "bucket"),
    word_field("endpoint", "endpoint"),
    secret_field("accessKeySecret", "access_key"),
    secret_field("secretKeySecret", "secret_key"),
    word_field("securityToken", "security_token"),
)
_AZURE = Table(
    Azure,
    text_field("blob", "blob"),
    word_field("container", "container"),
    word_field("endpoint", "endpoint"),
    secret_field("accountKeySecret", "account_key"),
    flag_field("useSDKCreds", "use_sdk_credentials"),
)
_HDFS = Table(
    HDFS,
    text_field("path", "path"),
    Field("addresses", "addresses", strings(word), lambda value, root: list(value), ()),
    word_field("hdfsUser", "user"),
    flag_field("force", "force"),
    word_field("dataTransferProtection", "data_transfer_protection"),
    secret_field("krbCCacheSecret", "krb_c_cache"),
    secret_field("krbKeytabSecret", "krb_keytab"),
    word_field("krbUsername", "krb_username"),
    word_field("krbRealm", "krb_realm"),
    word_field("krbServicePrincipalName", "krb_service_principal"),
)
_GIT = Table(
    Git,
    text_field("repo", "repo"),
    text_field("revision", "revision"),
    whole_field("depth", "depth"),
    word_field("branch", "branch"),
    flag_field("singleBranch", "single_branch"),
    flag_field("disableSubmodules", "disable_submodules"),
    flag_field("insecureIgnoreHostKey", "insecure_ignore_host_key"),
    secret_field("usernameSecret", "username"),
    secret_field("passwordSecret", "password"),
    secret_field("sshPrivateKeySecret", "ssh_private_key"),
)


def _header(given: JSON, root: Root) -> Any:
    name, value = word(given.get("name"), root), text(given.get("value"), root)
    return UNSAID if given.keys() != {"name", "value"} or UNSAID in (name, value) else (name, value)


_HTTP = Table(
    HTTPLocation,
    text_field("url", "url"),
    Field(
        "headers",
        "headers",
        each_of(_header),
        lambda value, root: [{"name": name, "value": written(each, root)} for name, each in value],
        (),
    ),
)


def _http(data: JSON, root: Root) -> HTTPLocation:
    """An address; a user's name and password are the one way to sign in that the IR knows."""
    attributes, rest = _HTTP.taken(data, root)
    auth = rest.get("auth")
    basic = auth.get("basicAuth") if isinstance(auth, dict) and auth.keys() == {"basicAuth"} else None
    names = {"usernameSecret": "username", "passwordSecret": "password"}
    if isinstance(basic, dict) and basic and basic.keys() <= names.keys():
        secrets = {names[key]: secret(value, root) for key, value in basic.items()}
        if UNSAID not in secrets.values():
            attributes |= secrets
            del rest["auth"]
    return HTTPLocation(**({"url": ""} | attributes), **extra(rest, root))


def _written_http(given: HTTPLocation, root: Root) -> JSON:
    found = _HTTP.write(given, root)
    basic = {
        key: written_secret(value, root)
        for key, value in (("usernameSecret", given.username), ("passwordSecret", given.password))
        if value is not None
    }
    if basic:
        found["auth"] = {"basicAuth": basic}
    return with_extra(found, given.extra, root)


_TABLES: dict[str, tuple[Table[Any], str]] = {
    "s3": (_S3, "key"),
    "gcs": (_GCS, "key"),
    "oss": (_OSS, "key"),
    "azure": (_AZURE, "blob"),
    "hdfs": (_HDFS, "path"),
    "git": (_GIT, "repo"),
}
_KINDS = {table.struct: kind for kind, (table, _) in _TABLES.items()}


def storage(rest: JSON, root: Root) -> Storage | None:
    """The store that an artifact names, taken out of its remaining fields; None where it names none that is known."""
    for kind in (*_TABLES, "http", "raw"):
        data = rest.get(kind)
        if not isinstance(data, dict):
            continue
        if kind == "raw":
            content = text(data.get("data"), root)
            if data.keys() != {"data"} or content is UNSAID:
                continue
            found: Storage = RawData(content)  # type: ignore[arg-type]
        elif kind == "http":
            found = _http(data, root)
        else:
            table, needed = _TABLES[kind]
            found = table.read(data, root, **{needed: ""})
        del rest[kind]
        return found
    return None


def written_storage(given: Storage | None, root: Root) -> JSON:
    """The store again, under the name of its kind."""
    if given is None:
        return {}
    if isinstance(given, RawData):
        return {"raw": {"data": written(given.data, root)}}
    if isinstance(given, HTTPLocation):
        return {"http": _written_http(given, root)}
    kind = _KINDS.get(type(given))
    return {} if kind is None else {kind: _TABLES[kind][0].write_all(given, root)}
