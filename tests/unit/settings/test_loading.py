"""Settings come from several places, and a later one wins, key by key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from couler_py.settings import Settings, SettingsError, load, using


class Place:
    """A project in a folder of its own, with a user's configuration beside it."""

    def __init__(self, folder: Path):
        self.root = folder / "project"
        self.config = folder / "config"
        self.environ = {"XDG_CONFIG_HOME": str(self.config)}
        (self.root / "flows").mkdir(parents=True)
        (self.config / "couler").mkdir(parents=True)

    def write(self, name: str, text: str) -> None:
        target = self.config / "couler" / "couler.toml" if name == "user" else self.root / name
        target.write_text(text)

    def load(self, profile: str | None = None, **environ: str) -> Settings:
        return load(self.root / "flows", profile=profile, environ={**self.environ, **environ})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path)
    monkeypatch.chdir(made.root)
    return made


def test_without_any_file_the_defaults_hold(place: Place) -> None:
    assert place.load() == Settings()


def test_each_source_wins_over_those_before(place: Place) -> None:
    place.write(
        "user", 'namespace = "user"\nengine = "user"\nimage = "user"\nartifacts = "s3://user"\nruntime = "docker"\n'
    )
    place.write(
        "pyproject.toml",
        '[tool.couler]\nnamespace = "py"\nengine = "py"\nimage = "py"\nartifacts = "s3://py"\n',
    )
    place.write(
        "couler.toml",
        'namespace = "f"\nengine = "f"\nimage = "file"\n[profiles.prod]\nnamespace = "p"\nengine = "profile"\n',
    )
    found = place.load("prod", COULER_NAMESPACE="environment")
    assert (found.namespace, found.engine, found.image, found.artifacts, found.runtime) == (
        "environment",
        "profile",
        "file",
        "s3://py",
        "docker",
    )
    assert found.origins == {
        "namespace": "COULER_NAMESPACE",
        "engine": "couler.toml:6",
        "image": "couler.toml:3",
        "artifacts": "pyproject.toml:5",
        "runtime": f"{place.config}/couler/couler.toml:5",
    }
    assert found.root == str(place.root)


def test_tables_are_merged_and_lists_replaced(place: Place) -> None:
    place.write("user", 'labels = {team = "a", tier = "1"}\nimage_pull_secrets = ["one", "two"]\n')
    place.write("couler.toml", 'labels = {team = "b"}\nimage_pull_secrets = ["three"]\n')
    found = place.load()
    assert found.labels == {"team": "b", "tier": "1"}
    assert found.image_pull_secrets == ("three",)


PROFILES = 'profile = "dev"\n[profiles.dev]\nnamespace = "d"\n[profiles.prod]\nnamespace = "p"\n[profiles.test]\n'


@pytest.mark.parametrize(
    ("argument", "variable", "namespace"), [(None, "", "d"), (None, "prod", "p"), ("prod", "test", "p")]
)
def test_a_profile_is_chosen_by_argument_then_environment_then_file(
    place: Place, argument: str | None, variable: str, namespace: str
) -> None:
    place.write("couler.toml", PROFILES)
    assert place.load(argument, COULER_PROFILE=variable).namespace == namespace


def test_using_chooses_for_every_load_inside(place: Place) -> None:
    place.write("couler.toml", PROFILES)
    with using("prod"):
        assert place.load().profile == "prod"
        assert place.load("test").profile == "test"
    assert place.load().profile == "dev"


def test_a_profile_may_stand_in_several_files(place: Place) -> None:
    place.write("user", '[profiles.prod]\nnamespace = "user"\nservice_account = "me"\n')
    place.write("couler.toml", '[profiles.prod]\nnamespace = "team"\n')
    found = place.load("prod")
    assert (found.namespace, found.service_account) == ("team", "me")


def test_the_environment_speaks_every_type(place: Place) -> None:
    found = place.load(
        COULER_OFFLINE="true",
        COULER_CACHE_BUDGET="20GiB",
        COULER_RESOURCES_CPU="500m",
        COULER_RESOURCES_GPU="1",
        COULER_LABELS="team=ml,tier=1",
        COULER_IMAGES='{"python:3.11" = "mirror/python:3.11"}',
        COULER_IMAGE_PULL_SECRETS="one, two",
        COULER_FIND_LINKS='["/wheels"]',
        COULER_SECRETS_MOUNTED="/run/a:/run/b",
    )
    assert found.offline is True
    assert (found.cache.budget, found.resources.cpu, found.resources.gpu) == ("20GiB", "500m", 1)
    assert found.labels == {"team": "ml", "tier": "1"}
    assert found.images == {"python:3.11": "mirror/python:3.11"}
    assert (found.image_pull_secrets, found.find_links) == (("one", "two"), ("/wheels",))
    assert found.secrets.mounted == ("/run/a", "/run/b")


def test_paths_count_from_the_file_that_names_them(place: Place) -> None:
    place.write("user", 'artifacts = "store"\n[events]\nprometheus = "metrics"\n')
    place.write("couler.toml", '[events]\nfiles = ["out/events.jsonl"]\n')
    found = place.load()
    assert found.artifacts == str(place.config / "couler" / "store")
    assert found.events.prometheus == str(place.config / "couler" / "metrics")
    assert found.events.files == (str(place.root / "out" / "events.jsonl"),)


def test_the_nearest_folder_with_a_file_of_settings_is_the_root(place: Place) -> None:
    place.write("couler.toml", 'namespace = "outer"\n')
    place.write("flows/couler.toml", 'namespace = "inner"\n')
    assert place.load().namespace == "inner"


def test_a_folder_above_where_everybody_may_write_is_no_project(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    shared.chmod(0o1777)
    (shared / "couler.toml").write_text('index_url = "https://stranger.example.com"\n')
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert load(shared / "mine", environ=environ).index_url == ""


def test_a_changed_file_is_read_again(place: Place) -> None:
    place.write("couler.toml", 'namespace = "a"\n')
    assert place.load().namespace == "a"
    place.write("couler.toml", 'namespace = "bb"\n')
    assert place.load().namespace == "bb"


# ---- what is refused


def refused(load: Callable[[], Settings]) -> tuple[str, str, str]:
    with pytest.raises(SettingsError) as caught:
        load()
    [finding] = caught.value.diagnostics
    assert finding.code == "CLR133"
    return str(finding.source or ""), finding.message, finding.help


@pytest.mark.parametrize(
    ("text", "line", "message", "way_out"),
    [
        ('\nnamspace = "x"\n', 2, "there is no key 'namspace'", "did you mean 'namespace'? there are "),
        ("[resources]\ncpus = 1\n", 2, "there is no key 'resources.cpus'", "did you mean 'cpu'? there are cpu, mem"),
        ('[profiles.prod]\nspace = "x"\n', 2, "there is no key 'profiles.prod.space'", "did you mean 'namespace'"),
        ("namespace = 1\n", 1, "namespace: expected `str`, got `int`", ""),
        ("[labels]\na = 'x'\nb = 2\n", 1, "labels: expected `str`, got `int`", ""),
        ('runtime = "vm"\n', 1, "runtime: invalid enum value 'vm'", ""),
        ('[events]\n[[events.webhooks]]\nurl = "a"\n[[events.webhooks]]\nurl = 2\n', 5, "events.webhooks.1.url: ", ""),
        ('[logs]\nlimit = "lots"\n', 2, "logs.limit: 'lots' is not a size, such as '512', '100M' or '20GiB'", ""),
        ('a = \n', 1, "couler.toml can't be read: Invalid value (at line 1, column 5)", ""),
        ('[secrets]\nmounted = ["/home/me"]\n', 1, "[secrets] can't stand in a project's", "write it into the user's"),
        ('[profiles.x.secrets]\nkeyring = true\n', 1, "[secrets] can't stand in a project's file", ""),
        ('[events]\nfiles = ["../x"]\n', 2, "events.files: '../x' leads outside the project", "name a file inside it"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_named_with_line_key_and_way_out(
    place: Place, text: str, line: int, message: str, way_out: str
) -> None:
    place.write("couler.toml", text)
    where, said, help_ = refused(place.load)
    assert where == f"couler.toml:{line}"
    assert said.startswith(message)
    assert help_.startswith(way_out)


def test_a_link_inside_the_project_leads_no_event_outside(place: Place, tmp_path: Path) -> None:
    (place.root / "out").symlink_to(tmp_path)
    place.write("couler.toml", '[events]\nfiles = ["out/.bashrc"]\n')
    assert "leads outside the project" in refused(place.load)[1]


def test_a_line_in_a_table_of_pyproject_is_found(place: Place) -> None:
    place.write("pyproject.toml", '[project]\nname = "x"\n[tool.couler.resources]\nmemory = "1Gi"\ncpus = 1\n')
    assert refused(place.load)[0] == "pyproject.toml:5"


def test_a_profile_that_is_nowhere_is_refused(place: Place) -> None:
    place.write("couler.toml", "[profiles.prod]\n[profiles.dev]\n")
    where, said, help_ = refused(lambda: place.load("prd"))
    assert (where, said, help_) == ("", "there is no profile 'prd'", "did you mean 'prod'? there are prod, dev")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("COULER_OFFLINE", "yes", "COULER_OFFLINE is 'yes', which TOML doesn't take as a value"),
        ("COULER_RUNTIME", "vm", "COULER_RUNTIME: runtime: invalid enum value 'vm'"),
        ("COULER_LABELS", "team", "COULER_LABELS is not a table: write it as a=1,b=2 or as in TOML"),
        ("COULER_LOGS_LIMIT", "many", "COULER_LOGS_LIMIT: logs.limit: 'many' is not a size"),
    ],
)
def test_a_wrong_variable_is_named(place: Place, name: str, value: str, message: str) -> None:
    assert refused(lambda: place.load(**{name: value}))[1].startswith(message)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.mkdir(), "couler.toml can't be read: Is a directory"),
        (os.mkfifo, "couler.toml can't be read: it is no file"),
        (lambda path: path.symlink_to("/dev/zero"), "couler.toml can't be read: it is no file"),
        (lambda path: path.write_bytes(b"#" * 2_000_000), "couler.toml can't be read: it is longer than 1,048,576 b"),
        (lambda path: path.write_text(f"a = {'[' * 100_000}"), "couler.toml can't be read: it is nested too deeply"),
        (lambda path: path.write_bytes(b"\xff"), "couler.toml isn't UTF-8, which TOML is"),
    ],
)
@pytest.mark.parametrize("as_policy", [False, True])
def test_what_is_no_file_of_settings_is_said_and_not_waited_for(
    make: Callable[[Path], object], said: str, as_policy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if as_policy:
        (tmp_path / "couler.toml").write_text('policy = "odd.toml"')
        make(tmp_path / "odd.toml")
        with pytest.raises(SettingsError, match=r"the policy odd\.toml can't be read: "):
            load(tmp_path)
        return
    make(tmp_path / "couler.toml")
    with pytest.raises(SettingsError) as refused:
        load(tmp_path)
    assert said in str(refused.value)
