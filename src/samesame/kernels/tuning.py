"""Kernels that an autotuner runs again and again on the same tensors, until it has chosen a configuration.

That does no harm where a run leaves nothing that the next one uses: where the kernel does not read what it writes,
where the tuner puts back what was there (`restore_value`, a hook of the configuration), or resets it to zero, which it
held, and where a second run would store the same: f(f(x)) = f(x). Else the result of the first call is another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samesame.formula.binders import rebuilt
from samesame.formula.effort import WORK, Budget
from samesame.formula.equal import NotProved, Proved, integers_in_range, prove_tensors_equal
from samesame.formula.expr import Expr, Index, Load, Unsupported, substitute
from samesame.formula.tensor import tensor_over
from samesame.kernels.launch import Memory
from samesame.kernels.obligations import STORES, Kernel, timed
from samesame.kernels.tiles.detile import Write
from samesame.kernels.verdict import Formula, Obligation

BUDGET = Budget(seconds=1.0, solver=300 * WORK)


def tuning(kernel: Kernel, formulas: Sequence[Formula]) -> Obligation | None:
    """That the runs of a tuner do not change the result; None where there is no tuner that tries several
    configurations."""
    launch = kernel.machine.launch
    if launch.put_back is None:
        return None
    with timed(Obligation("tuning", "proved", "the runs by which the tuner chooses do not change the result")) as found:
        left = {
            name: writes[0]
            for name, writes in kernel.outputs.items()
            if uses_what_it_left(kernel, writes) and not is_put_back(kernel, writes[0].memory)
        }
        if left:
            needed = stays_where(kernel, formulas, left)
            again = f"{', '.join(left)} is read and written, and not put back between the tuner's runs"
            if needed != ():
                found.place = str(next(iter(left.values())).access.place)
            if needed is None:
                found.state, found.detail = "violated", again
                found.counterexample = {"sizes": dict(launch.example), "line": found.place}
            elif needed:
                found.state = "undecided"
                found.detail = f"{again}, which is proved to do no harm only where {', '.join(needed)}"
    return found


def stays_where(kernel: Kernel, formulas: Sequence[Formula], left: Mapping[str, Write]) -> tuple[str, ...] | None:
    """On which conditions each formula, applied to what a run has left, is what that run has stored; None where that is
    not proved."""
    known = {f.tensor: f for f in formulas if f.expr is not None}
    if set(known) != set(kernel.outputs) or any(write.memory.contents != "values" for write in left.values()):
        return None  # a formula in which the number that was there stands, not what a run leaves
    for name, write in left.items():
        if any(a.memory.storage == write.memory.storage and a.memory.name != name for a in kernel.reads):
            return None
    needed: dict[str, None] = {}
    for formula in known.values():
        found = run_again(formula, [known[name] for name in left])
        if not isinstance(found, Proved):
            return None
        if not found.unconditional(integers_in_range(formula.expr[1])):
            needed |= dict.fromkeys(map(str, found.conditions))
    return tuple(needed)


def uses_what_it_left(kernel: Kernel, writes: Sequence[Write]) -> bool:
    """Whether a second run of the kernel reads what the first one has written."""
    storages = {w.memory.storage or w.memory.name for w in writes}
    updated = any(w.access.kind not in STORES for w in writes)
    return updated or any((read.memory.storage or read.memory.name) in storages for read in kernel.reads)


def is_put_back(kernel: Kernel, memory: Memory) -> bool:
    """Whether the memory holds the same before each run."""
    launch = kernel.machine.launch
    reset, restored = launch.put_back or ((), ())
    own = {
        parameter
        for parameter, given in launch.arguments.items()
        if isinstance(given, Memory) and (given.storage or given.name) == (memory.storage or memory.name)
    }
    return bool(own & set(restored)) or (bool(own & set(reset)) and memory.contents == 0)


def run_again(formula: Formula, left: Sequence[Formula]) -> Proved | NotProved:
    """A proof that a formula is the same over tensors as these formulas leave them."""
    indices, expr = formula.expr
    try:
        twice = tensor_over(indices, applied(expr, {f.tensor: f.expr for f in left}))
        return prove_tensors_equal(tensor_over(indices, expr), twice, budget=BUDGET)
    except Unsupported as unsupported:
        return NotProved(str(unsupported))


def applied(expr: Expr, results: Mapping[str, tuple[tuple[Index, ...], Expr]]) -> Expr:
    """An expression with results in place of elements of tensors. Raises Unsupported where one is read by offsets."""
    if isinstance(expr, Load) and expr.leaf.name.removesuffix("*") in results and expr.leaf.name.endswith("*"):
        raise Unsupported(f"{expr.leaf.name} is read by its offsets")
    inner = rebuilt(expr, lambda e: applied(e, results))
    if isinstance(inner, Load) and inner.leaf.name in results:
        indices, result = results[inner.leaf.name]
        return substitute(result, dict(zip(indices, inner.indices, strict=True)))
    return inner
