"""A bucket of S3, or of a server that speaks as S3 does, by s3fs.

Where the server is, and the credentials, are found as every program that speaks S3 finds them: AWS_* of the
environment (AWS_ENDPOINT_URL too), the profiles of ~/.aws, the role of the machine. What we ask of the server is
the part of S3 that others have too: no checksums but MD5, no conditional writes, no deletion of many at once.
"""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import hashlib
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import s3fs

from couler_py.store.remote import multipart
from couler_py.store.remote.drivers import Blob, Entry
from couler_py.store.remote.location import Location
from couler_py.store.remote.problems import Halted, read
from couler_py.store.remote.reading import pieces
from couler_py.store.remote.work import Work

T = TypeVar("T")

CONNECT, READ = 10.0, 60.0
"""Seconds to wait for a connection, and for the next bytes on one."""


class S3:
    """Objects of a bucket. What is retried, is by `Work.patiently` alone."""

    def __init__(self, location: Location, work: Work):
        self._location = location
        self._bucket = location.bucket
        self._halt = work.halt
        # An instance of its own: fsspec shares instances with the program around, which may set other things.
        self._system = s3fs.S3FileSystem(
            skip_instance_cache=True,
            use_listings_cache=False,
            config_kwargs={
                "connect_timeout": CONNECT,
                "read_timeout": READ,
                "max_pool_connections": 32,
                "retries": {"total_max_attempts": 1},
                # Other servers than Amazon's know no trailing checksums.
                "request_checksum_calculation": "when_required",
                "response_checksum_validation": "when_required",
            },
        )
        self._system.retries = 1

    def entry(self, name: str) -> Entry | None:
        try:
            facts = self._call("head_object", Key=self._key(name))
        except Exception as error:
            if read(error).missing:
                return None
            raise
        return Entry(name, facts["ContentLength"], facts["LastModified"].timestamp())

    def read(self, name: str, start: int, end: int) -> bytes:
        return self._wait(self._read(name, start, end))

    async def _read(self, name: str, start: int, end: int) -> bytes:
        answer = await self._system._call_s3(
            "get_object", Bucket=self._bucket, Key=self._key(name), Range=f"bytes={start}-{end - 1}"
        )
        async with answer["Body"] as body:
            data: bytes = await body.read()
        return data

    def write(self, name: str, data: bytes) -> None:
        self._call("put_object", Key=self._key(name), Body=data, ContentMD5=_md5(data))

    def upload(self, name: str, blob: Blob, work: Work) -> None:
        if blob.size > multipart.SMALLEST:
            multipart.upload(self, name, blob, work, self._location.url(name))
            return
        data = b"".join(pieces(blob, work))
        work.patiently(lambda: self.write(name, data), self._location.url(name))

    def entries(self, prefix: str) -> Iterator[Entry]:
        cut = len(self._key(""))
        more: dict[str, Any] = {}
        while True:
            page = self._call("list_objects_v2", Prefix=self._key(prefix), **more)
            for found in page.get("Contents", ()):
                yield Entry(found["Key"][cut:], found["Size"], found["LastModified"].timestamp())
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, name: str) -> None:
        self._call("delete_object", Key=self._key(name))

    def tidy(self, before: float) -> None:
        more: dict[str, Any] = {}
        while True:
            page = self._call("list_multipart_uploads", Prefix=self._key("sha256/"), **more)
            for found in page.get("Uploads", ()):
                if found["Initiated"].timestamp() < before:
                    self._call("abort_multipart_upload", Key=found["Key"], UploadId=found["UploadId"])
            if not page.get("IsTruncated"):
                return
            more = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]}

    # ---- uploads in parts: see `multipart.Parts`

    def begin(self, name: str) -> str:
        return str(self._call("create_multipart_upload", Key=self._key(name))["UploadId"])

    def part(self, name: str, upload: str, number: int, data: bytes) -> str:
        answer = self._call(
            "upload_part", Key=self._key(name), UploadId=upload, PartNumber=number, Body=data, ContentMD5=_md5(data)
        )
        return str(answer["ETag"])

    def parts(self, name: str, upload: str) -> dict[int, multipart.Part]:
        found: dict[int, multipart.Part] = {}
        more: dict[str, Any] = {}
        while True:
            page = self._call("list_parts", Key=self._key(name), UploadId=upload, **more)
            for part in page.get("Parts", ()):
                found[part["PartNumber"]] = multipart.Part(part["Size"], part["ETag"])
            if not page.get("IsTruncated"):
                return found
            more = {"PartNumberMarker": page["NextPartNumberMarker"]}

    def complete(self, name: str, upload: str, tags: list[str]) -> None:
        listed = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]
        self._call("complete_multipart_upload", Key=self._key(name), UploadId=upload, MultipartUpload={"Parts": listed})

    def abort(self, name: str, upload: str) -> None:
        self._call("abort_multipart_upload", Key=self._key(name), UploadId=upload)

    # ---- calls

    def _key(self, name: str) -> str:
        return self._location.key(name)

    def _call(self, method: str, **given: Any) -> Any:
        return self._wait(self._system._call_s3(method, Bucket=self._bucket, **given))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work on the loop of fsspec, and drop it when the transfers are to end."""
        future = asyncio.run_coroutine_threadsafe(work, self._system.loop)
        while True:
            try:
                return future.result(0.2)
            except concurrent.futures.TimeoutError:
                if future.done():  # just now, or with a TimeoutError of its own
                    return future.result()
                if self._halt.is_set():
                    future.cancel()
                    raise Halted from None


def _md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
