"""The laws that forms obey, in one record: what a proof is handed, and what lower files ask of higher ones.

Sums join where their domains do, so adding needs rewriting; rewriting needs powers; powers multiply, and that adds. All
of these stand in files of their own, each above those that it is built on, and what is asked upwards is asked of the
record that the proof holds: `with spending(budget, LAWS)`. A new law is a function, and a line of `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable

from samesame.formula import digits, lookups, matrices, products
from samesame.formula import shares as of_a_whole
from samesame.formula.extrema import maximum_again
from samesame.formula.functions import apply, boolean, exp, log, piece, power
from samesame.formula.pinned import pin_digits
from samesame.formula.rewrite import (
    Draft,
    at_point,
    combine_factors,
    contradiction,
    count_unused,
    drop_implied,
    drop_quotients,
    give_ranges,
    pin,
    shift_to_pivot,
    simplify,
    solve_equalities,
    split_divided,
    start_window_at_zero,
    substitute,
    unroll_small,
)
from samesame.formula.signs import is_generic, is_nonnegative, is_positive
from samesame.formula.terms import Form, Function, Laws

Rule = Callable[[Draft], Draft | Form | None]


def gather(draft: Draft) -> Form | None:
    """Exponents over neighbouring ranges join: products.py."""
    return products.gather(draft) if len(draft.factors) > 1 else None


def known_sums(draft: Draft) -> Form | None:
    """Sums that are known: shares of a whole (shares.py), factors of a matrix (matrices.py)."""
    if not draft.bound:
        return None
    found = of_a_whole.shares(draft)
    return matrices.contracted(draft) if found is None else found


def merge_digits(draft: Draft) -> Form | None:
    """Two bound variables that occur only as h·E + l become one: digits.py."""
    return digits.merge_digits(draft) if len(draft.bound) > 1 else None


RULES: tuple[Rule, ...] = (
    combine_factors,
    gather,
    solve_equalities,
    contradiction,
    lookups.told,                             # where [t[e] = i] holds, x[t[e]] is x[i], and some t is i
    give_ranges,
    pin,
    pin_digits,
    drop_quotients,
    split_divided,
    merge_digits,
    start_window_at_zero,
    shift_to_pivot,
    drop_implied,
    known_sums,
    merge_digits,                             # once more: an implied guard may have stood in the way
    count_unused,
    unroll_small,
)

HEADS: dict[str, Function] = {
    "sum": lambda form: form,
    "piece": piece,
    "exp": exp,
    "log": log,
    "max": maximum_again,
    "prod": products.product_of,
    "factor": products.factor,
    "held exp": exp,                          # refine.py holds them while it takes ranges apart
    "held prod": products.product_of,
}

LAWS = Laws(
    substitute=substitute,
    simplify=simplify,
    at_point=at_point,
    power=power,
    apply=apply,
    boolean=boolean,
    positive=is_positive,
    nonnegative=is_nonnegative,
    generic=is_generic,
    rules=RULES,
    heads=HEADS,
)
