"""The fixture `podman`: a runtime for containers with an image, its store apart from that of who works on this machine.

Installed and made where it is missing, which needs root and takes about a minute once a machine; later runs take what
lies in $COULER_CONTAINERS_HOME (default ~/.cache/couler-containers).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import ssl
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGES = ("podman", "runc", "catatonit", "containernetworking-plugins", "iptables", "debootstrap")
IMAGE = "docker.io/library/python:3.11"
NAMES = (IMAGE, "docker.io/library/busybox:latest", "docker.io/library/alpine:3.20")
"""What the one image is called: it has Python, a shell and the usual programs."""
CHECKOUT = Path(__file__).parents[2]
RUNNER = CHECKOUT / "images" / "runner"
TRAIN = CHECKOUT / "images" / "train-cpu"
SYSTEM = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What holds everywhere: on some virtual machines crun refuses hybrid cgroups, and the usual limits can't be raised.
SETTINGS = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"""
STORE = """
[storage]
driver = "overlay"
graphroot = "{home}/store"
runroot = "{home}/run"
"""


@dataclass(frozen=True)
class Podman:
    """Podman as the tests use it."""

    home: Path
    image: str = IMAGE

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which podman finds its settings and its store."""
        return {
            "CONTAINERS_CONF": str(self.home / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.home / "storage.conf"),
        }

    def __call__(self, *words: str) -> str:
        """What a command prints. Fails where it does."""
        done = subprocess.run(
            ["podman", *words], capture_output=True, text=True, check=False, env=os.environ | self.environment
        )
        if done.returncode:
            pytest.fail(f"podman {' '.join(words)}: {done.stderr}", pytrace=False)
        return done.stdout

    def names(self, run: str) -> list[str]:
        """The containers of a run, whatever they do."""
        return self("ps", "--all", "--filter", f"label=dev.couler.run={run}", "--format", "{{.Names}}").split()


@pytest.fixture(scope="session")
def podman_of_the_machine() -> Podman:
    """Podman, installed, with an image. Skips where we may not install it, and says so."""
    if os.geteuid() != 0 or (shutil.which("podman") is None and shutil.which("apt-get") is None):
        pytest.skip("podman can be installed for these tests by root, on a machine with apt-get")
    home = Path(os.environ.get("COULER_CONTAINERS_HOME") or Path.home() / ".cache" / "couler-containers")
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = Podman(home)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install()
        (home / "containers.conf").write_text(SETTINGS)
        (home / "storage.conf").write_text(STORE.format(home=home))
        if IMAGE not in found("images", "--format", "{{.Repository}}:{{.Tag}}").split():
            make_image(found)
    return found


def install() -> None:
    """Install what is missing."""
    if all(map(shutil.which, ("podman", "runc", "catatonit", "iptables", "debootstrap"))):
        return
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "-qq"]
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run([*apt, *words], capture_output=True, text=True, check=False, env=quiet)
        if done.returncode:
            pytest.fail(f"podman can't be installed: {done.stderr}", pytrace=False)


def make_image(podman: Podman) -> None:
    """Make the image from Debian's packages, or from what the cluster's script has made of them."""
    cluster = Path(os.environ.get("COULER_CLUSTER_HOME") or Path.home() / ".cache" / "couler-cluster")
    made = next(iter(cluster.glob("*/images/python.tar")), None)
    if made is not None:
        podman("load", "--quiet", "--input", str(made))
    else:
        folder = podman.home / "image"
        shutil.rmtree(folder, ignore_errors=True)
        wanted = "--include=python3,python3-venv,ca-certificates"
        subprocess.run(
            ["debootstrap", "--variant=minbase", wanted, "bookworm", str(folder)], check=True, capture_output=True
        )
        (folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        for unused in (
            "var/cache/apt/archives",
            "var/lib/apt/lists",
            "usr/share/doc",
            "usr/share/man",
            "usr/share/locale",
        ):
            shutil.rmtree(folder / unused, ignore_errors=True)
        archive = podman.home / "image.tar"
        subprocess.run(["tar", "-C", str(folder), "-cf", str(archive), "."], check=True)
        podman("import", "--quiet", "--change", f"ENV {SYSTEM}", "--change", 'CMD ["/bin/sh"]', str(archive), IMAGE)
        archive.unlink()
        shutil.rmtree(folder)
    for name in NAMES:
        podman("tag", IMAGE, name)


def runner_image(podman: Podman) -> str:
    """The image of `images/runner`, built anew where its folder has changed since."""
    return _built(podman, "couler-runner", RUNNER)


def train_image(podman: Podman) -> str:
    """The image of `images/train-cpu` with PyPI's PyTorch, and with this package and what that needs.

    Building it fetches gigabytes, so it isn't built anew for each change of this package: who wants that as it is here
    mounts the checkout.
    """
    wanted = ["--build-arg", "TORCH_INDEX=https://pypi.org/simple", "--build-arg", "COULER=/checkout[train]"]
    for name in ("couler_py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        wanted += ["--volume", f"{CHECKOUT / name}:/checkout/{name}:ro"]
    needs = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["dependencies"]
    return _built(podman, "couler-train", TRAIN, *wanted, holds="\n".join(needs))


def _built(podman: Podman, name: str, folder: Path, *words: str, holds: str = "") -> str:
    """An image, named after its folder and what else it holds, and built where there is none of that name."""
    contents = b"".join(each.read_bytes() for each in sorted(folder.iterdir())) + holds.encode()
    name = f"docker.io/library/{name}:{hashlib.sha256(contents).hexdigest()[:12]}"
    if name in podman("images", "--format", "{{.Repository}}:{{.Tag}}").split():
        return name
    # The package index is reached as this machine reaches it, with the certificates that it trusts.
    settings = podman.home / "pip.conf"
    settings.write_text("[global]\ncert = /trusted.crt\n")
    trusted = Path(ssl.get_default_verify_paths().openssl_cafile).resolve()
    seen = ["--volume", f"{trusted}:/trusted.crt:ro", "--volume", f"{settings}:/etc/pip.conf:ro"]
    # The image of the tests has no history, which only a build in one layer forgives.
    base = ["--layers=false", "--network", "host", "--build-arg", f"BASE={IMAGE}"]
    podman("build", *base, *(seen if trusted.exists() else ()), *words, "--tag", name, str(folder))
    return name


@pytest.fixture
def podman(podman_of_the_machine: Podman, monkeypatch: pytest.MonkeyPatch) -> Podman:
    """Podman for one test, which finds it as everybody would."""
    for name, value in podman_of_the_machine.environment.items():
        monkeypatch.setenv(name, value)
    return podman_of_the_machine
