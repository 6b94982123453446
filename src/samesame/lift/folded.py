"""Folds over one range, of which the bodies are compared.

A sum is taken apart into the sums of its terms before it is compared, and then 2σ(2z) − 1 and tanh z, which are one
function of each element, are terms that nothing brings together any more. Where both sides fold in the same way over as
many elements, it is enough that what they fold is the same for each of these.
"""

from __future__ import annotations

from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal, shapes_differ
from samesame.formula.expr import Fold, index, substitute
from samesame.formula.tensor import Tensor
from samesame.lift.halves import over


def bodies_equal(left: Tensor, right: Tensor, *, budget: Budget) -> Proved | NotProved:
    """A proof that what both sides fold is the same, element by element."""
    unlike = shapes_differ(left, right)
    if unlike:
        return NotProved(unlike)
    indices = tuple(index(n) for n in left.shape)
    x, y = (whole[indices] for whole in (left, right))
    if not isinstance(x, Fold) or not isinstance(y, Fold) or x.monoid != y.monoid:
        return NotProved("the two are no folds of one kind")
    if [v.extent for v in x.bound] != [w.extent for w in y.bound] or any(v.extent.free for v in x.bound):
        return NotProved("the two fold over unlike ranges")
    body = substitute(y.body, dict(zip(y.bound, x.bound, strict=True)))
    inside = (*indices, *x.bound)
    return prove_tensors_equal(over(inside, x.body), over(inside, body), budget=budget)
