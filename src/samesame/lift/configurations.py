"""The configurations of an autotuner, as far as they compute different things.

A tuner picks one of its configurations on the device, so what a wrapper returns is known only if it does not depend on
which. Configurations of one launch whose formulas are proved equal, whatever the inputs are, count as one; of those
that are left, one for each launch is a way in which the wrapper may run, and a claim about the wrapper is a claim about
each of them, under the conditions of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from samesame.formula.effort import WORK, Budget
from samesame.formula.equal import Proved, integers_in_range, prove_tensors_equal
from samesame.formula.expr import Expr, Lambda, Unsupported
from samesame.formula.tensor import tensor_over
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.verdict import Formula, KernelVerdict

BUDGET = Budget(seconds=2.0, solver=500 * WORK)
MOST_WAYS = 16


def ways(lifted: Mapping[int, Sequence[KernelVerdict]]) -> Iterator[dict[int, KernelVerdict]]:
    """Each way in which the launches, by their number in the host's order, may run. Raises Unsupported where there are
    too many."""
    different = {call: told_apart(verdicts) for call, verdicts in sorted(lifted.items())}
    if prod(map(len, different.values())) > MOST_WAYS:
        raise Unsupported("the configurations of several launches compute different things")
    for chosen in product(*different.values()):
        yield dict(zip(different, chosen, strict=True))


def told_apart(verdicts: Sequence[KernelVerdict]) -> list[KernelVerdict]:
    """One of each kind, the first one first."""
    found: list[KernelVerdict] = []
    for verdict in verdicts:
        if not any(verdict is one or are_equal(verdict, one) for one in found):
            found.append(verdict)
    return found


def are_equal(a: KernelVerdict, b: KernelVerdict) -> bool:
    """Whether two configurations are proved to store the same; where they do so for some inputs only, each stays."""
    alike = a.held == b.held and a.ranges == b.ranges and not a.unsupported and not b.unsupported
    if not alike or [f.tensor for f in a.formulas] != [f.tensor for f in b.formulas]:
        return False
    return all(f.expr and g.expr and proved(f, g) for f, g in zip(a.formulas, b.formulas, strict=True))


def proved(f: Formula, g: Formula) -> bool:
    if canonical(closed(f)) is canonical(closed(g)):
        return True  # for all inputs, also where a proof has to assume that there is a value
    try:
        found = prove_tensors_equal(tensor_over(*f.expr), tensor_over(*g.expr), budget=BUDGET)
    except Unsupported:
        return False
    return isinstance(found, Proved) and found.unconditional(integers_in_range(f.expr[1], g.expr[1]))


def closed(formula: Formula) -> Expr:
    indices, expr = formula.expr
    return Lambda(indices, expr)
