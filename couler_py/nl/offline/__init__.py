"""The front end without a model: a grammar over words, which says what it used and what it didn't."""

from __future__ import annotations

from couler_py.nl.offline.drafting import draft as draft
from couler_py.nl.offline.refining import refine as refine
