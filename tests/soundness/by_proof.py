"""Pairs of programs through the whole of `check`, by proof alone.

`check` draws values first, and values tell nearly every wrong program apart, so that its proofs are hardly tried. Here
all values are said to agree at the outputs, and only the proofs stand between a wrong program and the answer `same`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from pairs.corpus import PAIRS
from pairs.pair import Pair, Twin
from samesame import check
from samesame.relate import relating, roots
from samesame.store import Store
from samesame.versions import versions

SECONDS = 8.0               # for one pair
TWINS: list[tuple[Pair, Twin]] = [(pair, twin) for pair in PAIRS for twin in pair.twins]


def own_store(folder: str) -> Store:
    """A store in this folder, for the rules learnt on the way."""
    prover, semantics = versions()
    return Store.open(Path(folder, "rules.db"), prover=prover, semantics=semantics)


@contextmanager
def by_proof_alone() -> Iterator[None]:
    with (
        patch.object(roots, "agree", lambda *values: True),
        patch.object(relating, "_agree", lambda values, left, right: True),
    ):
        yield


def verdicts(pair: Pair, twin: Twin, store: Store) -> tuple[str, str]:
    """What `check` says of a pair and its wrong twin: with values, and by proof alone.

    The rules of the true pair are learnt first: a rule may no more prove what is false than a proof may.
    """
    check(pair.left, pair.right, pair.inputs, store=store, timeout=SECONDS)
    honest = check(pair.left, twin.right, pair.inputs, store=store, timeout=SECONDS).verdict
    with by_proof_alone():
        return honest, check(pair.left, twin.right, pair.inputs, store=store, timeout=SECONDS).verdict
