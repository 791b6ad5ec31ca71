"""A store of artifacts on a real server: OpenStack Swift by its S3 interface, which checks signatures."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from couler_py.ir.expr import TaskArtifact
from couler_py.ir.model import ArtifactArgument, Task, Workflow
from couler_py.store import artifacts, content
from couler_py.store.home import Home, open_home
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import DamagedError, Remote, RemoteError, parse
from couler_py.store.remote.location import blob_name
from couler_py.store.remote.multipart import part_size
from couler_py.store.remote.work import Patience
from tests.cluster.swift import BUCKET, Swift
from tests.cutting import Cutting, cutting
from tests.engines.local.conftest import Drivers
from tests.engines.local.flows import flow, graph
from tests.engines.local.test_remote import reads, writes

pytestmark = pytest.mark.cluster  # its packages are root's to install

IMPATIENT = Patience(tries=4, first=0.01, longest=0.05)
MIB = 1 << 20


@pytest.fixture
def url(swift_url: str) -> str:
    return swift_url


@pytest.fixture
def server(swift: Swift, swift_url: str) -> Swift:
    """The server, at which this test's environment points."""
    return swift


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def key(url: str, digest: str) -> dict[str, str]:
    """Where boto3 finds what has a digest."""
    return {"Bucket": BUCKET, "Key": parse(url).key(blob_name(digest))}


class Stores:
    """Opens the store for homes, and closes what it opened."""

    def __init__(self, url: str, folder: Path):
        self.url = url
        self._folder = folder
        self._opened: list[Remote] = []

    def home(self, name: str = "home") -> Home:
        return open_home(self._folder / name)

    def __call__(self, name: str = "home", url: str = "") -> Remote:
        remote = Remote(parse(url or self.url), self.home(name), IMPATIENT)
        self._opened.append(remote)
        remote.open()
        return remote

    def close(self) -> None:
        for remote in self._opened:
            remote.close()


@pytest.fixture
def stores(url: str, tmp_path: Path) -> Iterator[Stores]:
    made = Stores(url, tmp_path)
    yield made
    made.close()


def large(path: Path, size: int) -> Path:
    """A file whose pieces all differ."""
    with path.open("wb") as file:
        for number in range(0, size, MIB):
            file.write(hashlib.sha256(str(number).encode()).digest() * (min(MIB, size - number) // 32))
        file.write(b"x" * (size % 32))
    return path


def there_and_back(stores: Stores, path: Path, copy: Path) -> ArtifactRef:
    ref = artifacts.keep(stores.home(), path)
    stores().put(ref)
    stores("other").get(ref)
    artifacts.give(stores.home("other"), ref, copy)
    return ref


# ---- there and back


@pytest.mark.parametrize("size", [0, 1, 8 * MIB, 8 * MIB + 1])
def test_a_file_comes_back_as_it_was(size: int, stores: Stores, tmp_path: Path) -> None:
    there_and_back(stores, large(tmp_path / "file", size), tmp_path / "copy")
    assert content.digest_of(str(tmp_path / "copy")) == content.digest_of(str(tmp_path / "file"))


def test_a_hundred_megabytes_go_in_parts_and_come_back(stores: Stores, server: Swift, tmp_path: Path) -> None:
    ref = there_and_back(stores, large(tmp_path / "file", 100 * MIB), tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_size == 100 * MIB
    head = server.client().head_object(**key(stores.url, ref.digest))
    assert head["ETag"].endswith('-13"')  # in so many parts


def test_a_folder_comes_back_as_it_was(stores: Stores, tmp_path: Path) -> None:
    made = tmp_path / "made"
    (made / "sub" / "empty").mkdir(parents=True)
    for number in range(200):
        (made / "sub" / f"{number} ü").write_text(str(number % 150))
    (made / "link").symlink_to("sub/1 ü")
    there_and_back(stores, made, tmp_path / "copy")
    listing = "cd '{}' && find . -type f -exec sha256sum {{}} + | sort; find . -type d | sort; find . -type l | sort"
    both = [subprocess.check_output(["sh", "-c", listing.format(made)]) for made in (made, tmp_path / "copy")]
    assert both[0] == both[1]


def test_an_altered_object_is_found(stores: Stores, server: Swift) -> None:
    ref = artifacts.keep_bytes(stores.home(), b"hello")
    stores().put(ref)
    server.client().put_object(**key(stores.url, ref.digest), Body=b"jello")
    with pytest.raises(DamagedError, match=f"{stores.url}/{blob_name(ref.digest)} was altered"):
        stores("other").get(ref)


def test_what_no_run_needs_is_deleted(stores: Stores, server: Swift, tmp_path: Path) -> None:
    remote = stores()
    kept, gone = (artifacts.keep_bytes(stores.home(), data) for data in (b"kept", b"gone!"))
    remote.put(kept)
    remote.put(gone)
    assert remote.sweep({kept.digest}, grace=-60.0).size == 5
    stores("other").get(kept)
    found = server.client().list_objects_v2(Bucket=BUCKET, Prefix=parse(stores.url).key("sha256/"))["Contents"]
    assert [each["Key"] for each in found] == [key(stores.url, kept.digest)["Key"]]


# ---- what is refused, before anything relies on it


@pytest.mark.parametrize(
    ("variables", "place", "says"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, f"s3://{BUCKET}", "the signature is wrong"),
        ({"AWS_ACCESS_KEY_ID": "nobody:x"}, f"s3://{BUCKET}", "the signature is wrong"),
        (
            {"AWS_ACCESS_KEY_ID": "other:reader", "AWS_SECRET_ACCESS_KEY": "looking"},
            f"s3://{BUCKET}",
            "may not do that",
        ),
        ({}, "s3://no-such-bucket", "there is no such bucket"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, f"s3://{BUCKET}", "Could not connect to the endpoint"),
    ],
)
def test_what_keeps_a_store_from_being_used_is_said_at_once(
    variables: dict[str, str], place: str, says: str, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RemoteError, match=says) as refused:
        stores(url=place)
    assert "testing" not in str(refused.value)


def test_a_clock_that_is_wrong_is_said_so(url: str, tmp_path: Path) -> None:
    program = f"""
        import datetime, time
        import botocore.auth, botocore.compat
        real = botocore.compat.get_current_datetime
        botocore.auth.get_current_datetime = lambda *a, **k: real(*a, **k) + datetime.timedelta(hours=1)
        from couler_py.store.home import open_home
        from couler_py.store.remote import Remote, RemoteError, parse
        remote = Remote(parse({url!r}), open_home({str(tmp_path / "home")!r}))
        try:
            remote.open()
        except RemoteError as error:
            print(error)
        remote.close()
    """
    said = subprocess.check_output([sys.executable, "-c", textwrap.dedent(program)], text=True)
    assert "the clocks of this machine and of the store differ" in said


# ---- connections that break


@pytest.fixture
def proxy(server: Swift, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cutting]:
    with cutting(server.endpoint) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.endpoint)
        yield made


def test_an_upload_goes_on_over_broken_connections(stores: Stores, proxy: Cutting, tmp_path: Path) -> None:
    ref = artifacts.keep(stores.home(), large(tmp_path / "file", 40 * MIB))
    remote = stores()
    proxy.after, proxy.cuts = 3 * MIB, 3
    remote.put(ref)
    assert proxy.broken == 3
    # Only the parts whose connections broke went twice.
    assert proxy.up < (40 + 3 * 8 + 1) * MIB


def test_a_download_goes_on_over_broken_connections(stores: Stores, proxy: Cutting, tmp_path: Path) -> None:
    ref = artifacts.keep(stores.home(), large(tmp_path / "file", 40 * MIB))
    stores().put(ref)
    remote = stores("other")
    proxy.down, proxy.after, proxy.cuts = 0, 3 * MIB, 3
    remote.get(ref)
    assert proxy.broken == 3
    assert proxy.down < (40 + 3 * 8 + 1) * MIB


def test_a_connection_that_never_holds_is_an_error_in_the_end(stores: Stores, proxy: Cutting, tmp_path: Path) -> None:
    ref = artifacts.keep(stores.home(), large(tmp_path / "file", 20 * MIB))
    remote = stores()
    proxy.after, proxy.cuts = MIB, 1000
    with pytest.raises(RemoteError, match=rf"{blob_name(ref.digest)}: .*\(tried 4 times\)"):
        remote.put(ref)
    proxy.cuts = 0
    stores().put(ref)
    stores("other").get(ref)


# ---- disks that are full


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24M", "none", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_disk_that_is_full_is_said_so_and_left_with_the_room_it_had(
    stores: Stores, small: Path, tmp_path: Path
) -> None:
    ref = artifacts.keep(stores.home(), large(tmp_path / "file", 40 * MIB))
    stores().put(ref)
    remote = stores("small/home")
    before = os.statvfs(small).f_bfree
    with pytest.raises(RemoteError, match=r"has no room for the 41943040 bytes of s3://.*: make room"):
        remote.get(ref)
    assert os.statvfs(small).f_bfree >= before - 16


# ---- many at once, and one that is killed


def test_many_processes_put_the_same_and_different_files(stores: Stores, server: Swift, tmp_path: Path) -> None:
    url = stores.url
    shared = large(tmp_path / "shared", 20 * MIB)
    program = f"""
        import sys
        from couler_py.store import artifacts
        from couler_py.store.home import open_home
        from couler_py.store.remote import Remote, parse
        number, home = sys.argv[1:]
        home = open_home(home)
        remote = Remote(parse({url!r}), home)
        remote.open()
        for ref in (artifacts.keep(home, {str(shared)!r}), artifacts.keep_bytes(home, number.encode())):
            remote.put(ref)
        remote.close()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    # Two processes to a home, so that both kinds of company are tried.
    running = [subprocess.Popen([*command, str(n), str(tmp_path / f"home-{n // 2}")]) for n in range(8)]
    assert [each.wait() for each in running] == [0] * 8
    remote = stores("reader")
    for digest, size in [(content.digest_of(str(shared)), 20 * MIB)] + [
        (hashlib.sha256(str(n).encode()).hexdigest(), 1) for n in range(8)
    ]:
        remote.get(ArtifactRef("file", digest, size))
    assert server.client().list_multipart_uploads(Bucket=BUCKET, Prefix=parse(url).prefix).get("Uploads", []) == []


def two_steps(tmp_path: Path, size: int) -> Workflow:
    place = tmp_path / "out"
    first = writes(f"echo x >> {tmp_path}/made; cp {large(tmp_path / 'content', size)} {place}", place)
    second = reads(f"sha256sum < {tmp_path}/in", tmp_path / "in")
    data = ArtifactArgument("data", TaskArtifact("a", "o"))
    return flow(first, second, graph(Task("a", "write"), Task("b", "read", artifacts=(data,))))


def test_a_run_that_is_killed_while_it_sends_goes_on_with_the_next_part(
    url: str, server: Swift, home: Path, proxy: Cutting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_ARTIFACTS", url)
    size = 160 * MIB
    drivers = Drivers(home)
    first = drivers.run(two_steps(tmp_path, size))
    first.until(kind="id")
    proxy.wait_for_up(40 * MIB)
    first.kill()
    sent = proxy.up
    assert 40 * MIB <= sent < size
    proxy.up = 0
    summary = drivers.resume(first.run).finish()
    drivers.close()
    assert summary["status"] == "Succeeded", summary
    # At most the parts that were under way when it was killed are sent a second time.
    assert proxy.up < size - sent + 5 * part_size(size)
    assert (tmp_path / "made").read_text() == "x\n"
    digest = content.digest_of(str(tmp_path / "content"))
    assert server.client().head_object(**key(url, digest))["ContentLength"] == size


def test_a_run_that_is_interrupted_while_it_sends_ends_at_once_and_goes_on(
    url: str, server: Swift, home: Path, proxy: Cutting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_ARTIFACTS", url)
    drivers = Drivers(home)
    first = drivers.run(two_steps(tmp_path, 160 * MIB))
    first.until(kind="id")
    proxy.wait_for_up(40 * MIB)
    first.send(signal.SIGINT)
    assert first.finish()["status"] == "Stopped"
    assert proxy.up < 160 * MIB
    summary = drivers.resume(first.run).finish()
    drivers.close()
    assert summary["status"] == "Succeeded", summary
    assert (tmp_path / "made").read_text() == "x\n"


def test_the_memory_of_a_transfer_does_not_grow_with_the_file(url: str, tmp_path: Path) -> None:
    program = f"""
        import resource, sys
        from couler_py.store import artifacts
        from couler_py.store.home import open_home
        from couler_py.store.records import ArtifactRef
        from couler_py.store.remote import Remote, parse
        path, here, there = sys.argv[1:]
        def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        remote = Remote(parse({url!r}), open_home(here)); remote.open()
        before = most()
        ref = artifacts.keep(open_home(here), path)
        remote.put(ref)
        other = Remote(parse({url!r}), open_home(there)); other.open()
        other.get(ref)
        remote.close(); other.close()
        print(most() - before)
    """
    path = large(tmp_path / "file", 200 * MIB)
    command = [sys.executable, "-c", textwrap.dedent(program), str(path), str(tmp_path / "a"), str(tmp_path / "b")]
    assert int(subprocess.check_output(command)) < 150  # MiB
