"""The paper's policy: importance I(u) of an artifact (Couler, arXiv 2403.07608, section IV and Algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from couler_py.passes.cache.classic import make_room
from couler_py.passes.cache.shelf import Kept, Shelf
from couler_py.passes.cache.trace import Artifact

UNIT = 1 << 30
"""The paper gives no unit of memory; its stores have 10 to 30 GB, so V(u) is in GiB here."""


class Importance:
    """I(u) = α·log(1 + L(u)) + β·F(u)² − e^(−V(u)), over `n` layers of the graph before and behind the artifact u.

    - L(u) = Σ_i Σ_j A_ij·(w_i + d_i·d_j) over the jobs before u, as far back as `n` layers and cut where an artifact is
      cached: A the adjacency, d the degrees, w what job i takes: its seconds. Those of u itself are counted once.
    - F(u) = Σ_i (r_ui / κ_ui)·(ζ_ui + 1) over the jobs behind u: κ their distance, ζ = diag(d) − A the Laplacian, r is
      1 for who reuses u: whoever is behind it and, where the future is known, is still to come.
    - V(u) is the memory of u.

    As printed, −e^(−V) *rises* with V: a large artifact is penalised least, and size isn't set against what it saves.
    And ζ_ui is −1 for who reads u directly, who so adds nothing to F. The formula is kept as it stands, to compare
    with; `by_degree=True` takes the degree of job i for ζ_ui, which may be what was meant. `foresight` is the policy
    to use.
    """

    name = "couler"
    bounded = True

    def __init__(self, alpha: float = 1.0, beta: float = 1.0, n: int = 3, *, by_degree: bool = False):
        self.alpha, self.beta, self.n, self.by_degree = alpha, beta, n, by_degree
        self._readers: tuple[int, dict[str, list[str]]] | None = None

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """The formula knows no uses of the past."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """While there is room, take in; else let go the least important, scored again after each that went."""
        readers = self._read_by(shelf.artifacts)
        coming = {key for expected in shelf.future for key, chance in expected.items() if chance > 0}
        wanted = coming if shelf.future else None
        for each in made:
            make_room(shelf, each, lambda kept: self.score(kept.artifact.key, shelf, readers, wanted), drop_new=True)

    def score(
        self, key: str, shelf: Shelf, readers: Mapping[str, Sequence[str]], wanted: set[str] | None = None
    ) -> float:
        """I(u). `readers` are by key the artifacts that are made from it, `wanted` those that are still to be made."""
        known = shelf.artifacts
        rebuild = self._rebuild(key, known, readers, shelf.held)
        reuse = self._reuse(key, known, readers, wanted)
        return self.alpha * math.log1p(rebuild) + self.beta * reuse**2 - math.exp(-known[key].size / UNIT)

    def _rebuild(
        self,
        key: str,
        known: Mapping[str, Artifact],
        readers: Mapping[str, Sequence[str]],
        held: Mapping[str, Kept],
    ) -> float:
        """L(u): over the edges i → j of the jobs before u, u's own among them."""
        inside = {key}
        layer = [key]
        for _ in range(self.n):
            layer = [each for job in layer for each in known[job].inputs if each not in held and each not in inside]
            inside.update(layer)
        total = known[key].seconds
        for job in sorted(inside):
            for producer in known[job].inputs:
                weight = known[producer].seconds if producer in inside else 0.0
                total += weight + _degree(producer, known, readers) * _degree(job, known, readers)
        return total

    def _reuse(
        self,
        key: str,
        known: Mapping[str, Artifact],
        readers: Mapping[str, Sequence[str]],
        wanted: set[str] | None,
    ) -> float:
        """F(u): over the jobs behind u. ζ_ui is the entry of the Laplacian: −1 for who reads u directly, else 0."""
        total = 0.0
        seen = {key}
        layer = [key]
        for distance in range(1, self.n + 1):
            layer = sorted({each for job in layer for each in readers.get(job, ()) if each not in seen})
            seen.update(layer)
            for job in layer:
                if wanted is None or job in wanted:
                    printed = -1 if key in known[job].inputs else 0
                    zeta = _degree(job, known, readers) if self.by_degree else printed
                    total += (zeta + 1) / distance
        return total

    def _read_by(self, known: Mapping[str, Artifact]) -> dict[str, list[str]]:
        if self._readers is None or self._readers[0] != len(known):
            found: dict[str, list[str]] = {}
            for each in known.values():
                for producer in each.inputs:
                    found.setdefault(producer, []).append(each.key)
            self._readers = len(known), found
        return self._readers[1]


def _degree(key: str, known: Mapping[str, Artifact], readers: Mapping[str, Sequence[str]]) -> int:
    return len(known[key].inputs) + len(readers.get(key, ()))
