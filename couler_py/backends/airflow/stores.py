"""Places in named stores, as the data that whoever moves files is given: a URI for fsspec, and its options.

The options are those of fsspec's drivers (s3fs, gcsfs, adlfs, ossfs, http). Keys are references to secrets of the
cluster, which only the runner's container gets: where the worker moves files, it has keys of its own.
"""

from __future__ import annotations

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.scope import Scope
from couler_py.ir.expr import Text, TextLike
from couler_py.ir.model import Source
from couler_py.ir.storage import GCS, OSS, S3, Azure, HTTPLocation, SecretRef, Storage
from couler_py.printer.layout import Doc, Group, Named
from couler_py.printer.literal import literal, quoted


def location(emission: Emission, storage: Storage, scope: Scope, step: str, source: Source | None) -> Doc | None:
    """A place in a store; None, with a finding, for one that the runner doesn't know."""
    parts = _parts(storage, emission.options.artifacts)
    if parts is None:
        _refuse(emission, storage, step, source)
        return None
    uri, options, secrets = parts
    if secrets and emission.options.operators != "kubernetes":
        emission.problem(
            "CLR514",
            f"the keys of a store of {step!r} are a secret of the cluster, and the worker, which moves files, has none",
            step=step,
            source=source,
            help="leave the keys out, and let the workers' environment have them (AWS_ACCESS_KEY_ID, FSSPEC_S3_KEY)",
        )
    found: list[Doc] = [Named((quoted("@uri"), ": "), expressions.value(uri, scope))]
    if options:
        found.append(Named((quoted("@options"), ": "), literal(options)))
    if secrets:
        refs = {name: {"name": ref.name, "key": ref.key} for name, ref in secrets.items()}
        found.append(Named((quoted("@secrets"), ": "), literal(refs)))
    return Group("{", tuple(found), "}")


Parts = tuple[TextLike, dict[str, object], dict[str, SecretRef]]


def _parts(storage: Storage, store: str) -> Parts | None:
    match storage:
        case S3(key=key) if storage == S3(key):
            return _joined(f"{store.rstrip('/')}/", key), {}, {}
        case S3(bucket=str(bucket)) if bucket and not (storage.role_arn or storage.extra):
            given = {"key": storage.access_key, "secret": storage.secret_key, "token": storage.session_token}
            options: dict[str, object] = {}
            if storage.endpoint:
                options["endpoint_url"] = f"{'http' if storage.insecure else 'https'}://{storage.endpoint}"
            if storage.region:
                options["client_kwargs"] = {"region_name": storage.region}
            return _joined(f"s3://{bucket}/", storage.key), options, _there(given)
        case GCS(bucket=str(bucket)) if bucket and not (storage.service_account_key or storage.extra):
            return _joined(f"gs://{bucket}/", storage.key), {}, {}
        case OSS(bucket=str(bucket)) if bucket and not (storage.security_token or storage.extra):
            given = {"key": storage.access_key, "secret": storage.secret_key}
            options = {"endpoint": storage.endpoint} if storage.endpoint else {}
            return _joined(f"oss://{bucket}/", storage.key), options, _there(given)
        case Azure(container=str(holder)) if holder and storage.endpoint and not storage.extra:
            account = storage.endpoint.partition("://")[2].partition(".")[0]
            secrets = _there({"account_key": storage.account_key})
            return _joined(f"abfs://{holder}/", storage.blob), {"account_name": account}, secrets
        case HTTPLocation() if not (storage.headers or storage.username or storage.password or storage.extra):
            return storage.url, {}, {}
        case _:
            return None


def _there(given: dict[str, SecretRef | None]) -> dict[str, SecretRef]:
    return {name: ref for name, ref in given.items() if ref is not None}


def _joined(before: str, key: TextLike) -> TextLike:
    return before + key if isinstance(key, str) else Text((before, *key.parts))


def _refuse(emission: Emission, storage: Storage, step: str, source: Source | None) -> None:
    kind = str(storage.__struct_config__.tag)
    emission.problem(
        "CLR514",
        f"a file of {step!r} is in a store of the kind {kind!r} that can't be reached from a DAG as it is described",
        step=step,
        source=source,
        help="name the bucket and, of its settings, only endpoint, region and keys; else read the store in a step",
    )
