"""Where an artifact lives, in Argo's words for each kind of store."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.ir.model import Source
from couler_py.ir.storage import (
    GCS,
    HDFS,
    OSS,
    S3,
    Azure,
    Git,
    HTTPLocation,
    LocalPath,
    RawData,
    SecretRef,
    Storage,
)
from couler_py.kubernetes import Render
from couler_py.kubernetes.containers import secret_key

JSON = dict[str, Any]


def storage(emission: Emission, given: Storage, render: Render, step: str, source: Source | None) -> JSON:
    """The location, under the name of its kind; a path of this machine is a finding."""
    match given:
        case S3():
            return {
                "s3": _filled(
                    key=render(given.key),
                    bucket=given.bucket,
                    endpoint=given.endpoint,
                    region=given.region,
                    insecure=given.insecure,
                    accessKeySecret=_secret(given.access_key),
                    secretKeySecret=_secret(given.secret_key),
                    sessionTokenSecret=_secret(given.session_token),
                    roleARN=given.role_arn,
                    useSDKCreds=given.use_sdk_credentials,
                )
            }
        case GCS():
            return {
                "gcs": _filled(
                    key=render(given.key),
                    bucket=given.bucket,
                    serviceAccountKeySecret=_secret(given.service_account_key),
                )
            }
        case OSS():
            return {
                "oss": _filled(
                    key=render(given.key),
                    bucket=given.bucket,
                    endpoint=given.endpoint,
                    accessKeySecret=_secret(given.access_key),
                    secretKeySecret=_secret(given.secret_key),
                    securityToken=given.security_token,
                )
            }
        case Azure():
            return {
                "azure": _filled(
                    blob=render(given.blob),
                    container=given.container,
                    endpoint=given.endpoint,
                    accountKeySecret=_secret(given.account_key),
                    useSDKCreds=given.use_sdk_credentials,
                )
            }
        case HDFS():
            return {
                "hdfs": _filled(
                    path=render(given.path),
                    addresses=list(given.addresses),
                    hdfsUser=given.user,
                    force=given.force,
                    dataTransferProtection=given.data_transfer_protection,
                    krbCCacheSecret=_secret(given.krb_c_cache),
                    krbKeytabSecret=_secret(given.krb_keytab),
                    krbUsername=given.krb_username,
                    krbRealm=given.krb_realm,
                    krbServicePrincipalName=given.krb_service_principal,
                )
            }
        case Git():
            return {
                "git": _filled(
                    repo=render(given.repo),
                    revision=render(given.revision),
                    depth=given.depth,
                    branch=given.branch,
                    singleBranch=given.single_branch,
                    disableSubmodules=given.disable_submodules,
                    insecureIgnoreHostKey=given.insecure_ignore_host_key,
                    usernameSecret=_secret(given.username),
                    passwordSecret=_secret(given.password),
                    sshPrivateKeySecret=_secret(given.ssh_private_key),
                )
            }
        case HTTPLocation():
            return {"http": _http(given, render)}
        case RawData():
            return {"raw": {"data": render(given.data)}}
        case LocalPath():
            emission.unsupported("artifact_local", step, source)
            return {}


def _http(given: HTTPLocation, render: Render) -> JSON:
    found: JSON = {"url": render(given.url)}
    if given.headers:
        found["headers"] = [{"name": name, "value": render(value)} for name, value in given.headers]
    if given.username is not None or given.password is not None:
        found["auth"] = {
            "basicAuth": _filled(usernameSecret=_secret(given.username), passwordSecret=_secret(given.password))
        }
    return found


def _secret(ref: SecretRef | None) -> JSON | None:
    return None if ref is None else secret_key(ref)


def _filled(**fields: Any) -> JSON:
    """The fields that say something: empty texts, lists, false and None are left out."""
    return {name: value for name, value in fields.items() if value or (value == 0 and type(value) is int)}
