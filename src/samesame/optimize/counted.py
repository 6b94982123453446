"""Integers that are computed, and then taken for reals: how far they reach.

Formulas are over numbers of any size, and kernels add up reals in whatever order is fast: `(a - b).float() + c` is one
sum of three. That is right of integers that float32 has, up to 2²⁴, in every order; of seconds since 1970 it is not, as
each of them is rounded before they are subtracted. So what is computed of integers becomes a real within a form only
where all that may come of it on the way is no larger; positions along axes, counts of truths and tables are known to
be. Else the operator that makes it real stays a call of torch, and kernels make the integers for it, as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from math import inf, prod

from samesame.operators.positions import EXACT
from samesame.optimize.forms import TRUTHS, Form, walk
from samesame.optimize.specification import Tensor

COUNTED = EXACT["float32"]                           # 2²⁴: up to here it has every integer
CHOSEN = frozenset({"load", "number", "where", "extremum", "concat", "cast", "lookup"})    # one of several, as it is


def is_counted(form: Form, size: Callable[[Iterable[str]], int], tensors: Mapping[str, Tensor]) -> bool:
    """Whether integers are those that something holds, or all that is computed on the way to them is counted by
    float32."""
    chosen = {x for x in walk(form, arguments=_chosen) if x.operator not in CHOSEN}
    return all(reach(x, size, tensors) <= COUNTED for x in chosen)


def _chosen(x: Form) -> tuple[Form, ...]:
    """What an operator chooses from."""
    if x.operator not in CHOSEN:
        return ()
    return x.arguments[1:] if x.operator == "where" else x.arguments[:1] if x.operator == "lookup" else x.arguments


def reach(form: Form, size: Callable[[Iterable[str]], int], tensors: Mapping[str, Tensor]) -> float:
    """No element, and no part of a sum of them in any order, is larger than this."""
    known: dict[Form, float] = {}
    for x in walk(form):
        parts = [known[y] for y in x.arguments]
        match x.operator:
            case "number":
                value, powers = x.attributes
                known[x] = inf if isinstance(value, str) else abs(value) * prod(
                    float(size([axis])) ** exponent for axis, exponent in powers)
            case "load":
                known[x] = max(map(abs, tensors[x.attributes[0]].ends or (inf,)))
            case "position":
                place = x.attributes[0]
                known[x] = abs(place.start(lambda axis: size([axis]))) + sum(
                    abs(p.factor) * size(p.over) * (size([p.axis]) - 1) for p in place.parts)
            case "plus" | "minus":
                known[x] = sum(parts)
            case "times":
                known[x] = reduce(_product, parts)
            case "fold":
                known[x] = _product(parts[0], size(x.attributes[1])) if x.attributes[0] == "sum" else parts[0]
            case "where":
                known[x] = max(parts[1:])
            case "lookup":
                known[x] = parts[0]
            case "extremum" | "concat" | "cast":
                known[x] = max(parts)
            case _:
                known[x] = 1 if x.operator in TRUTHS else inf
    return known[form]


def _product(one: float, other: float) -> float:
    """Nothing times anything is nothing."""
    return one * other if one and other else 0.0
