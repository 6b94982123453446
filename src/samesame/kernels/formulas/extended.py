"""What infinities decide in a formula.

Kernels write −∞ into masked lanes, start maxima with it, and rescale by exp(old − new) while both may still be −∞. Over
the reals proper none of that has a value, and over floats −∞ − (−∞) and 0·∞ are NaN. So a value here is a tag (minus,
finite, plus) besides its number, as `formula/definite.py` says. Only on that ground is an infinity taken out of a
formula: −∞ + x is −∞ for an x that is never +∞, c·(−∞) is −∞ for c > 0, and x = −∞ is false for an x that is finite.
What −∞ − (−∞) or 0·(−∞) would decide stays in the formula, and a formula in which an infinity stays is not proved.

Elements of tensors count as finite: an input that holds an infinity or NaN is outside of what is said.
"""

from __future__ import annotations

from samesame.formula.definite import EVIDENT, NUMBER, Signs
from samesame.formula.expr import FALSE, TRUE, Compare, Expr
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, IndexProver


def known_by_prover(prover: IndexProver, facts: Facts) -> Signs:
    """What is known of expressions in which no index is bound that the facts are about."""
    return Signs(holds=lambda condition: prover.proves(facts, integers.tidied(condition)))


def infinite_tag(expr: Expr) -> int | None:
    """The tag of a value that is certainly infinite; None for others."""
    found = EVIDENT.tags(expr)
    return next(iter(found)) if found and len(found) == 1 and found != NUMBER else None


def decided(compare: Compare) -> Expr | None:
    """A comparison with an infinity, where the other side is known to be finite or infinite."""
    a, b = EVIDENT.tags(compare.left), EVIDENT.tags(compare.right)
    if a is None or b is None or len(a) != 1 or len(b) != 1 or (a, b) == (NUMBER, NUMBER):
        return None
    (x,), (y,) = a, b
    return TRUE if {"<": x < y, "≤": x <= y, "=": x == y}[compare.op] else FALSE
