"""What both cases of a choice share stands outside of it, where a sum is over cases.

    Σ_k {A(k) + b if c(k) else A(k)}                    Σ_k A(k) + Σ_k {b if c(k) else 0}

One program of several that share a sum also adds the bias, or what the output held: the sum of the parts is no choice
any more, and may join with the sum over the parts. Over the extended reals this is exact: on both sides the same terms
are added up, and 0 adds nothing to any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from samesame.formula.expr import Add, Expr, Index, Where, add, where
from samesame.kernels.formulas.running import same


def by_what_cases_share(body: Expr, bound: Sequence[Index]) -> tuple[Expr, Expr] | None:
    """What both cases of a choice add, and the choice of what is left; None where they share no sum over the indices,
    or the choice does not hang on these."""
    if not isinstance(body, Where) or body.condition.free.isdisjoint(bound):
        return None
    shared, mine, yours = list[Expr](), list[Expr](), list(terms_of(body.otherwise))
    for term in terms_of(body.then):
        twin = next((k for k, other in enumerate(yours) if same(term, other)), None)
        (mine if twin is None else shared).append(term if twin is None else yours.pop(twin))
    return (add(*shared), where(body.condition, add(*mine), add(*yours))) if shared else None


def terms_of(expr: Expr) -> tuple[Expr, ...]:
    return expr.terms if isinstance(expr, Add) else (expr,)
