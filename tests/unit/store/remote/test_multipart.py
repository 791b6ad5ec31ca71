"""Large files in parts: bounds, what is sent again after a cut, and what isn't."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.store import artifacts
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import Remote, RemoteError
from couler_py.store.remote.location import blob_name
from couler_py.store.remote.multipart import MIB, SMALLEST, part_size
from couler_py.store.remote.problems import Halted
from tests.unit.store.remote.conftest import Opener, home_of

SIZE = 3 * SMALLEST + 5


@pytest.mark.parametrize(
    ("mib", "part"),
    [(0, 8), (8, 8), (8_000, 8), (8_001, 9), (64_000, 64), (640_000, 64), (640_001, 65), (5_242_880, 525)],
)
def test_parts_are_few_enough_for_every_server_and_not_larger_than_that(mib: int, part: int) -> None:
    assert part_size(mib * MIB) == part * MIB
    assert mib * MIB <= 10_000 * part_size(mib * MIB)


@pytest.fixture
def ref(tmp_path: Path) -> ArtifactRef:
    return artifacts.keep_bytes(home_of(tmp_path), os.urandom(SIZE))


def name_of(ref: ArtifactRef) -> str:
    return blob_name(ref.digest)


def uploads(tmp_path: Path) -> list[Path]:
    folder = home_of(tmp_path).path / "tmp" / "uploads"
    return list(folder.iterdir()) if folder.exists() else []


class Counting:
    """Counts the parts that are sent, and breaks at one."""

    def __init__(self, remote: Remote, breaks_at: int | None = None, error: BaseException | None = None):
        self.sent: list[int] = []
        driver: Any = remote._driver
        part = driver.part

        def counting(name: str, upload: str, number: int, data: bytes) -> str:
            if number == breaks_at:
                assert error is not None
                raise error
            tag = part(name, upload, number, data)
            self.sent.append(number)
            return str(tag)

        driver.part = counting


def test_a_large_file_goes_in_parts_and_leaves_no_record(
    bucket: Opener, client: Any, ref: ArtifactRef, tmp_path: Path
) -> None:
    remote = bucket()
    counting = Counting(remote)
    remote.put(ref)
    assert sorted(counting.sent) == [1, 2, 3, 4]
    assert client.head_object(Bucket="data", Key=name_of(ref))["ContentLength"] == SIZE
    assert uploads(tmp_path) == []


@pytest.mark.parametrize("error", [PermissionError("no"), Halted()])
def test_an_upload_that_was_cut_off_goes_on_with_what_is_missing(
    error: BaseException, bucket: Opener, client: Any, ref: ArtifactRef, tmp_path: Path
) -> None:
    first = bucket()
    counted = Counting(first, 3, error)
    with pytest.raises((RemoteError, Halted)):
        first.put(ref)
    first.close()
    again = bucket()
    counting = Counting(again)
    again.put(ref)
    assert sorted(counted.sent + counting.sent) == [1, 2, 3, 4]
    body = client.get_object(Bucket="data", Key=name_of(ref))["Body"].read()
    assert artifacts.keep_bytes(home_of(tmp_path, "other"), body).digest == ref.digest
    assert uploads(tmp_path) == []
    assert client.list_multipart_uploads(Bucket="data").get("Uploads", []) == []


def cut_off(bucket: Opener, ref: ArtifactRef) -> None:
    first = bucket()
    Counting(first, 3, PermissionError("no"))
    with pytest.raises(RemoteError):
        first.put(ref)
    first.close()


def test_a_part_that_is_another_on_the_server_is_sent_again(
    bucket: Opener, client: Any, ref: ArtifactRef, tmp_path: Path
) -> None:
    cut_off(bucket, ref)
    (upload,) = client.list_multipart_uploads(Bucket="data")["Uploads"]
    client.upload_part(
        Bucket="data", Key=upload["Key"], UploadId=upload["UploadId"], PartNumber=1, Body=b"x" * SMALLEST
    )
    again = bucket()
    counting = Counting(again)
    again.put(ref)
    assert 1 in counting.sent
    assert (
        artifacts.keep_bytes(
            home_of(tmp_path, "other"), client.get_object(Bucket="data", Key=name_of(ref))["Body"].read()
        ).digest
        == ref.digest
    )


def test_an_upload_that_the_server_has_forgotten_begins_anew(bucket: Opener, client: Any, ref: ArtifactRef) -> None:
    cut_off(bucket, ref)
    (upload,) = client.list_multipart_uploads(Bucket="data")["Uploads"]
    client.abort_multipart_upload(Bucket="data", Key=upload["Key"], UploadId=upload["UploadId"])
    again = bucket()
    counting = Counting(again)
    again.put(ref)
    assert sorted(counting.sent) == [1, 2, 3, 4]
    assert client.head_object(Bucket="data", Key=name_of(ref))["ContentLength"] == SIZE


@pytest.mark.parametrize("text", [b"", b"{", b'{"url":"s3://else/where","id":"x","part":9000000}', b"[]"])
def test_a_record_that_says_nothing_is_no_record(text: bytes, bucket: Opener, ref: ArtifactRef, tmp_path: Path) -> None:
    cut_off(bucket, ref)
    (record,) = uploads(tmp_path)
    record.write_bytes(text)
    again = bucket()
    counting = Counting(again)
    again.put(ref)
    assert sorted(counting.sent) == [1, 2, 3, 4]


def test_an_upload_that_another_completed_is_complete(
    bucket: Opener, client: Any, ref: ArtifactRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = bucket()
    driver: Any = remote._driver
    complete = driver.complete

    def twice(name: str, upload: str, tags: list[str]) -> None:
        complete(name, upload, tags)
        complete(name, upload, tags)  # as when the first answer got lost

    monkeypatch.setattr(driver, "complete", twice)
    remote.put(ref)
    assert client.head_object(Bucket="data", Key=name_of(ref))["ContentLength"] == SIZE


def test_no_record_names_a_secret(bucket: Opener, ref: ArtifactRef, tmp_path: Path) -> None:
    cut_off(bucket, ref)
    (record,) = uploads(tmp_path)
    assert set(msgspec.json.decode(record.read_bytes())) == {"url", "id", "part"}
