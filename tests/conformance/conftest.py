"""Assertions of the harness show what differs, as those of tests do."""

import pytest

pytest.register_assert_rewrite("tests.conformance.harness")
