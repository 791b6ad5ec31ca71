"""Secrets: peers' row of Couler's API. No value of one is ever in a workflow, a name or a message."""

import base64
from pathlib import Path
from typing import Any

import pytest

import couler_py.argo as couler
from couler_py import api
from couler_py.backends.base import NotOffered
from couler_py.backends.local.client import LocalClient
from couler_py.dsl.problems import RecordingError
from couler_py.dsl.secrets import hand_over, named_in, pending
from couler_py.ir import to_json
from couler_py.ir.pod import Templated, Volume
from couler_py.ir.storage import SecretRef
from couler_py.store.home import open_home
from couler_py.store.secrets import read_secret
from tests.unit.dsl.verbs.programs import built

VALUE = "hunter2-{{x}}"


def test_the_default_name_is_random_and_tells_nothing_of_the_data() -> None:
    one, two = couler.create_secret({"p": VALUE}), couler.create_secret({"p": VALUE})
    assert one != two
    assert one.startswith("couler-")
    assert len(one) == len("couler-") + 16


def test_the_data_is_in_no_form_in_the_workflow() -> None:
    secret = couler.create_secret({"password": VALUE})
    couler.run_container("a", secret=secret, env={"X": secret["password"]})
    text = to_json(built())
    assert VALUE not in text
    assert base64.b64encode(VALUE.encode()).decode() not in text
    assert secret in text


def test_a_dry_run_prints_stars_and_makes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    secret = couler.create_secret({"password": VALUE}, name="db", dry_run=True)
    assert capsys.readouterr().out == (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: default\n"
        "type: Opaque\ndata:\n  password: '***'\n"
    )
    assert pending([secret]) == ()


def test_an_existing_secret_is_a_reference_alone() -> None:
    secret = couler.obtain_secret(["user", "password"], name="db")
    assert secret["user"] == SecretRef("db", "user")
    assert pending(["db"]) == ()


def test_a_secret_can_be_a_volume() -> None:
    secret = couler.create_secret({"tls.key": VALUE}, name="tls")
    couler.add_volume(couler.Volume("keys", secret=secret))
    couler.run_container("a", volume_mounts=[couler.VolumeMount("keys", "/keys", read_only=True)])
    assert built().volumes == (Volume("keys", Templated({"secret": {"secretName": "tls"}})),)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(RecordingError, match="has no key 'user'"):
        couler.obtain_secret(["password"], name="db")["user"]


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        ({}, {}),
        ("x", {}),
        ({"a": 1}, {}),
        ({1: "a"}, {}),
        ({"a": "b"}, {"use_existing": True}),
        ({"a": "b"}, {"name": "A_b"}),
    ],
)
def test_what_is_no_secret_is_refused_without_saying_its_value(data: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(RecordingError, match="CLR186"):
        couler.create_secret(data, **settings)


def test_a_mistake_in_a_value_does_not_show_it() -> None:
    with pytest.raises(RecordingError) as error:
        couler.create_secret({"password": b"hunter2"})  # type: ignore[dict-item]
    assert "hunter2" not in str(error.value)


def test_data_is_handed_over_once_and_only_for_workflows_that_name_it() -> None:
    used, other = couler.create_secret({"a": VALUE}), couler.create_secret({"b": VALUE})
    couler.run_container("a", secret=used)
    names = named_in(built())
    kept = []
    hand_over(names, kept.append)
    assert [secret.data for secret in kept] == [{"a": VALUE}]
    assert (pending([used]), len(pending([other]))) == ((), 1)


def test_a_store_that_fails_keeps_the_data_waiting() -> None:
    secret = couler.create_secret({"a": VALUE})

    def full(_: object) -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        hand_over([secret], full)
    assert len(pending([secret])) == 1


def test_the_local_engine_keeps_what_a_run_names(tmp_path: Path) -> None:
    secret = couler.create_secret({"password": VALUE})
    couler.run_container("a", secret=secret)
    client = LocalClient(tmp_path / "home")
    api.hand_over_secrets(built(), client)
    assert read_secret(open_home(tmp_path / "home"), secret) == {"password": VALUE}


def test_an_engine_that_takes_no_secrets_says_so() -> None:
    secret = couler.create_secret({"password": VALUE})
    couler.run_container("a", secret=secret)
    with pytest.raises(NotOffered, match="obtain_secret"):
        api.hand_over_secrets(built(), object())  # type: ignore[arg-type]
