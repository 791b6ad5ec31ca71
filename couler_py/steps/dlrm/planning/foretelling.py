"""What `dlrm.plan` will say, before a run: from what is written down and what ran here, without the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.steps.dlrm.planning.planned import lines, planned


def foretold(given: Mapping[str, Any], home: str | None) -> list[str]:
    """The lines of the plan for what the step is given; see `couler_py.steps.foretelling`."""
    if "asked" not in given:
        return ["what is asked is known in the run alone"]
    return [*lines(planned(given["asked"], home=home)), "sizes of tables are known when the shards are there"]
