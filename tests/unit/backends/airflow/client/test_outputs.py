"""Files among what tasks gave."""

from __future__ import annotations

from couler_py.backends.airflow.client.outputs import files


def test_files_of_a_run_are_known_by_where_they_lie() -> None:
    run = "scheduled__2026-01-01T02:00:00+00:00"
    place = "s3://bucket/runs/nightly/scheduled__2026-01-01T02%3A00%3A00%2B00%3A00/make/-1-1/data"
    gave = {"data": place, "text": "a/b", "count": 3, "other": place.replace("nightly", "daily")}
    assert dict(files(gave, "nightly", run)) == {"data": place}
