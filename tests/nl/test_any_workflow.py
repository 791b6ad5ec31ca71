"""What is checked may be any workflow that compiles, and what is written any that is right."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import couler_py as couler
from benchmarks.nl.descriptions import HERE, half_of, read, read_one
from benchmarks.nl.facts import check, passes
from couler_py.ir.model import Workflow
from tests.strategies import workflows

DEVELOP = read("develop")


def missing(name: str, workflow: object) -> list[str]:
    description = read_one(HERE / half_of(name) / f"{name}.json")
    return [str(finding) for finding in check(description, couler.build(workflow)) if not finding.held]


@settings(max_examples=60, deadline=None)
@given(workflows(), st.sampled_from(DEVELOP))
def test_any_workflow_is_read_and_one_of_chance_is_not_what_was_meant(workflow: Workflow, description) -> None:
    findings = check(description, workflow)
    assert all(finding.held or finding.reason for finding in findings)
    assert not passes(findings) or not (description.roles or description.said)


@couler.step
def download_sales(url: str) -> Path:
    return Path(url)


@couler.step
def clean_sales(sales: Path) -> Path:
    return sales


@couler.step
def aggregate_by_day(sales: Path) -> Path:
    return sales


@couler.step
def merge_regions(folder: Path) -> Path:
    return folder


@couler.step
def upload(merged: Path, to: str) -> None:
    return None


@couler.workflow
def regions(names: list[str] = ["us", "eu", "apac"], target: str = "s3://sales/global"):  # noqa: B006
    def region(name: str) -> Path:
        return aggregate_by_day(clean_sales(download_sales(couler.format("s3://sales/{}", name))))

    upload(merge_regions(couler.map(region, names)), target)


@couler.step
def list_videos(place: str) -> list[str]:
    return []


@couler.step
def extract_frames(video: str) -> Path:
    return Path(video)


@couler.step(gpu=1)
def detect_faces(frames: Path) -> Path:
    return frames


@couler.step
def blur_faces(frames: Path) -> Path:
    return frames


@couler.step
def reassemble_video(frames: Path) -> Path:
    return frames


@couler.workflow
def anonymous(place: str = "gs://videos/in"):
    def one(video: str) -> Path:
        return reassemble_video(blur_faces(detect_faces(extract_frames(video))))

    return couler.map(one, list_videos(place), parallel=5)


@couler.step(cpu=2)
def build_backend() -> str:
    return ""


@couler.step(cpu=2)
def build_frontend() -> str:
    return ""


@couler.step
def run_integration_tests(backend: str, frontend: str) -> None:
    return None


@couler.step
def scan_images(backend: str, frontend: str) -> int:
    return 0


@couler.step
def tag_release(backend: str) -> str:
    return backend


@couler.step
def deploy(region: str, tag: str) -> None:
    return None


@couler.step
def create_jira_issue(findings: int) -> None:
    return None


@couler.workflow(deadline="90m")
def release_train():
    backend, frontend = build_backend(), build_frontend()
    tested = run_integration_tests(backend, frontend)
    critical = couler.after(scan_images(backend, frontend), tested)

    def good() -> None:
        tag = tag_release(backend)
        couler.map(lambda region: deploy(region, tag), ["eu-west-1", "us-east-1"])

    couler.when(critical == 0, good, otherwise=lambda: create_jira_issue(critical))


def test_programs_that_a_person_would_write_are_what_was_meant() -> None:
    assert missing("regions.1", regions) == []
    assert missing("video.1", anonymous) == []
    assert missing("release.1", release_train) == []
