"""What errors of drivers mean: whether it is worth another try, and what people are told."""

from __future__ import annotations

import errno

import aiohttp
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from couler_py.store.remote import problems


def refusal(code: str, status: int, message: str = "x") -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Put"
    )


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (refusal("SignatureDoesNotMatch", 403), "the signature is wrong"),
        (refusal("InvalidAccessKeyId", 403), "refuses these credentials"),
        (refusal("ExpiredToken", 400), "have expired"),
        (refusal("RequestTimeTooSkewed", 403), "clocks"),
        (refusal("AccessDenied", 403), "s3:PutObject"),
        (refusal("403", 403), "s3:PutObject"),
        (refusal("401", 401), "refuses these credentials"),
        (refusal("NoSuchBucket", 404), "no such bucket"),
        (refusal("QuotaExceeded", 507), "no room"),
        (NoCredentialsError(), "no credentials were found"),
        (OSError(errno.ENOSPC, "full"), "no room"),
        (ValueError("what the driver says\nand more"), "what the driver says"),
    ],
)
def test_what_stays_wrong_is_said_at_once(error: Exception, says: str) -> None:
    found = problems.read(error)
    assert says in found.text
    assert not found.passes
    assert not found.missing


@pytest.mark.parametrize(
    "error",
    [
        refusal("SlowDown", 503),
        refusal("InternalError", 500),
        refusal("", 429),
        refusal("502", 502),
        refusal("RequestTimeout", 400),
        refusal("BadDigest", 400),
        ConnectionResetError(),
        TimeoutError(),
        EndpointConnectionError(endpoint_url="http://x"),
        aiohttp.ClientPayloadError("cut off"),
        aiohttp.ServerDisconnectedError(),
    ],
)
def test_what_may_pass_is_worth_another_try(error: Exception) -> None:
    assert problems.read(error).passes


def test_the_cause_counts_where_a_driver_hides_it() -> None:
    hidden = OSError(errno.EIO, "something")
    hidden.__cause__ = refusal("SlowDown", 503)
    assert problems.read(hidden).passes
    hidden = PermissionError("Forbidden")
    hidden.__cause__ = refusal("RequestTimeTooSkewed", 403)
    assert "clocks" in problems.read(hidden).text


@pytest.mark.parametrize("error", [FileNotFoundError("x"), refusal("404", 404), refusal("NoSuchKey", 404)])
def test_an_object_that_is_not_there_is_told_from_all_else(error: Exception) -> None:
    assert problems.read(error).missing


def test_what_may_be_a_secret_is_left_out() -> None:
    text = problems.read(ValueError("failed: https://me:hidden@host/x?sig=hidden&y=hidden now")).text
    assert text == "failed: https://host/x now"
