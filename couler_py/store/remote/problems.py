"""What can go wrong with a store, read from the errors of its driver: whether it may pass, and the way out."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator

import msgspec

from couler_py.ir.diagnostics import CoulerError


class RemoteError(CoulerError):
    """Something that couldn't be put into a store, or had from it; the message names the address and the way out."""


class MissingError(RemoteError):
    """Something that isn't in the store."""


class DamagedError(RemoteError):
    """Content that isn't what its digest says."""


class Halted(Exception):  # noqa: N818 - not an error: the run was asked to end
    """The transfer was ended because its run is."""


class Problem(msgspec.Struct, frozen=True):
    """What an error of a driver means. One that `passes` is worth another try; `missing`: the object isn't there."""

    text: str
    passes: bool = False
    missing: bool = False


CLOCK = (
    "the clocks of this machine and of the store differ by more than the store allows: set this machine's "
    "(timedatectl shows it)"
)
KEYS = "the store refuses these credentials: look at where the driver takes them from (environment, its own files)"
NOT_SIGNED = (
    "the signature is wrong: the secret key doesn't belong to the access key. Look at AWS_SECRET_ACCESS_KEY, or the "
    "profile in ~/.aws/credentials"
)
RIGHTS = (
    "these credentials may not do that. A store needs the rights to read, write and list objects "
    "(s3:GetObject, s3:PutObject, s3:ListBucket, s3:AbortMultipartUpload; s3:DeleteObject for `couler gc`)"
)
BUCKET = "there is no such bucket: make it, or correct the address"
EXPIRED = "the credentials have expired: get new ones (aws sso login, or whatever gave you these), then go on"
NONE_FOUND = (
    "no credentials were found: set those of the driver (for S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a "
    "profile in ~/.aws, or the machine's role)"
)
FULL = "the store has no room for it, or a quota is used up"

CODES = {
    "SignatureDoesNotMatch": NOT_SIGNED,
    "InvalidAccessKeyId": KEYS,
    "AuthorizationHeaderMalformed": KEYS,
    "InvalidToken": KEYS,
    "ExpiredToken": EXPIRED,
    "ExpiredTokenException": EXPIRED,
    "TokenRefreshRequired": EXPIRED,
    "RequestTimeTooSkewed": CLOCK,
    "RequestExpired": CLOCK,
    "AccessDenied": RIGHTS,
    "AllAccessDisabled": RIGHTS,
    "AccountProblem": RIGHTS,
    "NoSuchBucket": BUCKET,
    "QuotaExceeded": FULL,
    "ServiceQuotaExceededException": FULL,
    "InsufficientStorage": FULL,
}
"""By the code of S3's errors, which OSS and others have taken over; see AWS's page "Error responses"."""

PASSING_CODES = {
    "SlowDown",
    "RequestTimeout",
    "InternalError",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
    "RequestLimitExceeded",
    "OperationAborted",
    "BadDigest",  # bytes were changed on their way
    "IncompleteBody",
    "XAmzContentSHA256Mismatch",
}

PASSING_TYPES = {
    # botocore, aiohttp, http.client, azure-core, oss2, requests, urllib3
    "EndpointConnectionError",
    "ConnectionClosedError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "HTTPClientError",
    "ResponseStreamingError",
    "IncompleteReadError",
    "ClientConnectionError",
    "ClientPayloadError",
    "IncompleteRead",
    "ServiceRequestError",
    "ServiceResponseError",
    "RequestError",
    "ChunkedEncodingError",
    "ProtocolError",
    "FSTimeoutError",
}

NO_CREDENTIALS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "DefaultCredentialsError",
}
_SECRETS = re.compile(r"(?<=//)[^/@\s]+@|\?[^\s'\"]*")
"""What may be a secret in a text: a name before a host, the query of an address."""


def read(error: BaseException) -> Problem:
    """What an error of a driver means."""
    chain = list(_chain(error))
    for each in chain:
        code, status = _code(each), _status(each)
        if code in CODES:
            return Problem(CODES[code])
        if code in PASSING_CODES or status == 429 or status >= 500:
            return Problem(_told(each), passes=status != 507)
        names = {kind.__name__ for kind in type(each).__mro__}
        if names & NO_CREDENTIALS:
            return Problem(NONE_FOUND)
        if names & PASSING_TYPES or isinstance(each, ConnectionError | TimeoutError):
            return Problem(_told(each), passes=True)
    for each in chain:
        status = _status(each)
        if status == 401:
            return Problem(KEYS)
        if status == 403 or isinstance(each, PermissionError):
            return Problem(RIGHTS)
        if status == 404 or isinstance(each, FileNotFoundError):
            return Problem("it isn't there", missing=True)
        if isinstance(each, OSError) and each.errno in (errno.ENOSPC, errno.EDQUOT):
            return Problem(FULL)
    return Problem(_told(chain[0]))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _code(error: BaseException) -> str:
    """The word by which a store names an error: botocore's, oss2's or Azure's."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return str(response.get("Error", {}).get("Code", ""))
    for name in ("error_code", "code"):
        found = getattr(error, name, None)
        if isinstance(found, str):
            return found
    return ""


def _status(error: BaseException) -> int:
    """The status of the HTTP response, 0 where there is none."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) or 0)
    for name in ("status_code", "status", "code"):
        found = getattr(error, name, None)
        if isinstance(found, int):
            return found
    return 0


def _told(error: BaseException) -> str:
    """What an error says, in one line and without what may be a secret."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return _SECRETS.sub("", text)[:300]
