"""Maxima that a proof takes to be over at least one element, and that are.

A proof of formulas knows nothing of what sizes and integers are assumed to be. A launch does: where `⌊(n + 3)/4⌋·k < n`
the split k of a row of n elements has its first one. Elements are looked for at the ends of ranges.
"""

from __future__ import annotations

from collections.abc import Iterable

from samesame.evidence import Refused
from samesame.formula.assumptions import OF_MAXIMA, Assumption, Holds
from samesame.formula.expr import Expr, Fold, Or
from samesame.kernels import clock
from samesame.kernels.formulas.tight import has_one, whole
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, IndexProver, with_fact

SECONDS = 5.0


def without_met(conditions: Iterable[Assumption], prover: IndexProver) -> tuple[Assumption, ...]:
    """The conditions without those on maxima that hold anyway."""
    return tuple(one for one in conditions if not isinstance(one, Holds) or not is_met(one, prover))


def is_met(one: Holds, prover: IndexProver) -> bool:
    """Whether a maximum is over an element wherever the condition speaks of it."""
    facts = with_fact((), integers.tidied(one.where))
    parts = one.that.arguments if isinstance(one.that, Or) else (one.that,)
    try:
        with clock.limited(SECONDS):
            return one.kind in OF_MAXIMA and any(is_some(integers.tidied(part), facts, prover) for part in parts)
    except Refused:
        return False  # in no time


def is_some(some: Expr, facts: Facts, prover: IndexProver) -> bool:
    """Whether a condition holds, or does so for some value of its indices."""
    if isinstance(some, Fold):
        return has_one(prover, *whole(some), facts)
    return prover.proves(facts, some)
