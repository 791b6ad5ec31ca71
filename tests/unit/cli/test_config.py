"""`couler config` says which settings hold, and `--profile` chooses among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from couler_py.settings import load
from tests.unit.cli.conftest import Couler

FILE = """
namespace = "team-a"
labels = {team = "ml"}

[profiles.prod]
namespace = "prod"
image_pull_secrets = ["registry"]

[policy]
allow_images = ["python:*"]
"""


@pytest.fixture(autouse=True)
def settings(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "couler.toml").write_text(FILE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "config"))
    monkeypatch.setenv("COULER_ARTIFACTS", "s3://bucket/team")


def test_what_is_set_is_shown_with_where_it_comes_from(couler: Couler, here: Path) -> None:
    shown = couler("config")
    assert shown.code == 0
    assert [line.split() for line in shown.out.splitlines() if line] == [
        ["profile", "none"],
        ["project", str(here)],
        ["namespace", "team-a", "couler.toml:2"],
        ["artifacts", "s3://bucket/team", "COULER_ARTIFACTS"],
        ["labels.team", "ml", "couler.toml:3"],
        ["policy", "couler.toml:9"],
        ["allow_images", '["python:*"]'],
    ]


def test_defaults_are_shown_on_demand(couler: Couler) -> None:
    assert [line.split() for line in couler("config", "--all").out.splitlines() if "limit" in line] == [
        ["logs.limit", "100MB", "default"]
    ]


@pytest.mark.parametrize("arguments", [("--profile", "prod", "config"), ("config", "--profile", "prod")])
def test_a_profile_is_chosen_before_or_after_the_command(couler: Couler, arguments: tuple[str, ...]) -> None:
    found = json.loads(couler(*arguments, "--json").out)
    assert found["profile"] == "prod"
    assert found["settings"]["namespace"] == {"value": "prod", "from": "couler.toml:6"}
    assert found["settings"]["image_pull_secrets"] == {"value": ["registry"], "from": "couler.toml:7"}
    assert found["policies"] == [{"from": "couler.toml:9", "rules": {"allow_images": ["python:*"]}}]


def test_the_choice_ends_with_the_command(couler: Couler) -> None:
    couler("config", "--profile", "prod")
    assert load().profile == ""


def test_a_profile_that_is_nowhere_is_refused(couler: Couler) -> None:
    shown = couler("config", "--profile", "prd")
    assert shown.code == 2
    assert "error[CLR133]: there is no profile 'prd'" in shown.err
    assert "did you mean 'prod'? there are prod" in shown.err


def test_another_folder_has_settings_of_its_own(couler: Couler, here: Path) -> None:
    (here / "other").mkdir()
    (here / "other" / "couler.toml").write_text('namespace = "other"\n')
    found = json.loads(couler("config", "other", "--json").out)
    assert (found["root"], found["settings"]["namespace"]["value"]) == (str(here / "other"), "other")


def test_a_folder_that_isn_t_there_is_refused(couler: Couler) -> None:
    shown = couler("config", "namespace")
    assert shown.code == 2
    assert "'namespace' does not exist" in shown.err
