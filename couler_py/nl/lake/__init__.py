"""The code lake: steps and workflows that were written before, found again for what is described now.

An entry (`entries.py`) is a signature and a docstring, with source where its author shares it; it is read from a file
without running it (`reading.py`), kept as JSON in a folder that a team may share, and found by its words and,
with embeddings, by its meaning (`ranking.py`).
"""

from __future__ import annotations

from couler_py.nl.lake.entries import Entry as Entry
from couler_py.nl.lake.entries import Found as Found
from couler_py.nl.lake.entries import LakeError as LakeError
from couler_py.nl.lake.entries import keep as keep
from couler_py.nl.lake.looking import all_entries as all_entries
from couler_py.nl.lake.ranking import search as search
from couler_py.nl.lake.reading import read as read
