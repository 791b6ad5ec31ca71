"""Addresses of stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.store.remote import LocationError, parse
from couler_py.store.remote.location import blob_name


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket/team/a/", "s3://bucket/team/a"),
        ("gs://bucket/x", "gs://bucket/x"),
        ("oss://bucket/x", "oss://bucket/x"),
        ("az://container/x", "az://container/x"),
        ("file:///srv/artifacts/", "file:///srv/artifacts"),
        ("file://localhost/srv/my%20store", "file:///srv/my store"),
        ("/srv/artifacts", "file:///srv/artifacts"),
        ("store", "file:///srv/team/store"),
        ("../store", "file:///srv/store"),
    ],
)
def test_an_address_or_a_path_names_a_place(text: str, means: str) -> None:
    assert str(parse(text, "/srv/team")) == means


def test_a_relative_path_is_one_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(parse("store")) == f"file://{tmp_path}/store"


def test_what_a_place_is_written_as_means_the_same_place() -> None:
    for text in ("s3://bucket/a/b", "file:///srv/my store"):
        assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIAHIDDEN:hidden@bucket/x",
        "s3://hidden@bucket",
        "az://container/x?sig=hidden",
        "gs://bucket/x#hidden",
        "file://user:hidden@/srv",
    ],
)
def test_an_address_that_may_hold_a_secret_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(LocationError) as refused:
        parse(text)
    assert "hidden" not in str(refused.value).lower()
    assert "usual places" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "address such as s3://"),
        ("ftp://host/x", "no kind of store"),
        ("s3:bucket", "it is written s3://bucket/prefix"),
        ("s3:/bucket/x", "it is written s3://bucket/prefix"),
        ("s3://", "names no bucket"),
        ("s3://../x", "names no bucket"),
        ("s3://bucket/a/../b", "a prefix is names"),
        ("s3://bucket/a//b", "a prefix is names"),
        ("s3://bucket/a b", "a prefix is names"),
        ("s3://bucket/{{x}}", "a prefix is names"),
        ("file://server/share", "absolute path"),
        ("file:relative\0", "address such as"),
    ],
)
def test_what_is_no_address_is_refused(text: str, why: str) -> None:
    with pytest.raises(LocationError, match=why):
        parse(text)


def test_keys_are_made_of_digests_alone() -> None:
    digest = "ab" + "c" * 62
    assert parse("s3://bucket/team").key(blob_name(digest)) == f"team/sha256/ab/{'c' * 62}"
    assert parse("s3://bucket").url(blob_name(digest)) == f"s3://bucket/sha256/ab/{'c' * 62}"
