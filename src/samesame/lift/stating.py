"""Contracts that nobody stated, tried where more is proved with them.

What a kernel relies on is often plain from its example: slots that are distinct, lengths of 1 at least, a temperature
above zero, a row of whole groups. Each such contract is tried where a proof is missing, or a difference is found on
data that the example has nothing of; it stays where more is proved under it, and is printed as a need. The example
keeps it, so that it is never empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Load, Size, Where, rebuild

if TYPE_CHECKING:
    from samesame.lift.program import Attempt

MOST_DIVISIONS = 3  # contracts of each kind that are tried
MOST_PLACES = 2  # tensors that say where stores go
MOST_RATIOS, PACKED = 4, 64  # and of ratios, up to so many in one


def under_contracts(attempt: Callable[[Sequence[str]], Attempt]) -> Attempt:
    """The attempt under contracts that the example keeps, where more is proved with these."""
    found, stated = places_apart(attempt(()), attempt)
    found, stated = from_zero_on(found, stated, attempt)
    found, stated = from_one_on(found, stated, attempt)
    found, stated = above_zero(found, stated, attempt)
    return under_divisions(found, lambda more: attempt((*stated, *more)))


def from_zero_on(
    first: Attempt, stated: list[str], again: Callable[[Sequence[str]], Attempt]
) -> tuple[Attempt, list[str]]:
    """The attempt where integers that choose are no less than 0, if the reference differs on others, and the example
    has none: a mask is meant to be 0 or 1, and a position to be one. Of those that are computed with nobody knows."""
    case = first.verdict.against_counterexample or {}
    formulas = [f.expr[1] for kernel, _ in first.launched for f in kernel.formulas if f.expr]
    values = set[str]().union(*map(used_as_values, formulas))
    names = [name for name, drawn in case.get("drawn", {}).items()
             if name not in values and first.has_none_below_zero(name, drawn)]
    contracts = [*stated, *(f"0 <= {name}" for name in names)]
    found = attempted_again(again, contracts) if names else None
    if found is None or found.verdict.against == "different":
        return first, stated
    return found, contracts


def from_one_on(
    first: Attempt, stated: list[str], again: Callable[[Sequence[str]], Attempt]
) -> tuple[Attempt, list[str]]:
    """The attempt where data that says how long rows are, as an index or in a mask, is 1 at least, if a row of nothing
    leaves no number, or an infinity, or lanes of 0/0 beside the row, the example has none, and more is proved with it:
    not of a tensor without which as much is."""
    kernels = [kernel for kernel, _ in first.launched]
    read = (leaf for kernel in kernels for leaf in (*kernel.data, *sorted(kernel.loads)))
    names = dict.fromkeys(leaf.removesuffix("*") for leaf in read)
    contracts = [*stated, *(f"1 <= {name}" for name in names if first.has_none_below_one(name))]
    found = attempted_again(again, contracts) if is_doubtful(first) and len(contracts) > len(stated) else None
    if found is None or found.rank <= first.rank:
        return first, stated
    return with_fewer(found, contracts, first, len(stated), again)


def above_zero(
    first: Attempt, stated: list[str], again: Callable[[Sequence[str]], Attempt]
) -> tuple[Attempt, list[str]]:
    """The attempt where reals are above 0, as temperatures and probabilities are, of tensors that hold none but such in
    the example, if more is proved with it, or nothing differs any more: that it does without is said, too."""
    differs = first.verdict.against == "different"
    drawn = (first.verdict.against_counterexample or {}).get("drawn", {})
    named = [name for name, _ in first.captured.inputs if first.has_all_above_zero(name)]
    named = [name for name in named if not differs or not np.all(np.asarray(drawn.get(name, 1)) > 0)]
    contracts = [*stated, *(f"0 < {name}" for name in named)]
    found = attempted_again(again, contracts) if named and is_doubtful(first) else None
    if found is None or found.verdict.against == "different" or not (differs or found.rank > first.rank):
        return first, stated
    return with_fewer(found, contracts, first, len(stated), again)


def is_doubtful(found: Attempt) -> bool:
    """Whether it may hang on what tensors hold: what is compared is not the same, or a value may be no number."""
    obligations = (o for kernel, _ in found.launched for o in kernel.obligations)
    doubtful = any(o.name in ("undefined", "value") and o.state == "undecided" for o in obligations)
    return doubtful or found.verdict.against in ("different", "undecided")


def with_fewer(
    found: Attempt, contracts: list[str], first: Attempt, kept: int, again: Callable[[Sequence[str]], Attempt]
) -> tuple[Attempt, list[str]]:
    """The attempt without contracts behind the `kept` ones of the first attempt that are not needed for what it shows;
    if that differed, it is said."""
    for contract in contracts[kept:]:
        fewer = [one for one in contracts if one is not contract]
        other = attempted_again(again, fewer) if len(fewer) > kept else None
        if other is not None and other.verdict.against != "different" and other.rank >= found.rank:
            found, contracts = other, fewer
    if first.verdict.against == "different":
        needs = " and ".join(contracts[kept:])
        found.verdict.notes.append(f"Where {needs} does not hold, the kernel and its reference differ.")
    return found, contracts


def used_as_values(whole: Expr) -> set[str]:
    """The tensors of which elements are part of what is computed, and not of conditions and indices alone."""
    found = set[str]()

    def go(e: Expr) -> Expr:
        match e:
            case Load():
                found.add(e.leaf.name.removesuffix("*"))
            case Where(_, then, otherwise):
                go(then)
                go(otherwise)
            case _ if e.kind != "bool":
                rebuild(e, go)
        return e

    go(whole)
    return found


def places_apart(first: Attempt, again: Callable[[Sequence[str]], Attempt]) -> tuple[Attempt, list[str]]:
    """The attempt where tensors that say where stores go have no two equal elements, or none among those that say a
    place, if the example's are so and more is proved with it; and the contracts that say so."""
    best, stated = first, list[str]()
    names = dict.fromkeys(name for kernel, _ in first.launched for name in kernel.places)
    for name in list(names)[:MOST_PLACES] if not first.is_done else ():
        ways = [f"distinct({name})", f"distinct({name}[{name} >= 0])", f"ascending({name})"]
        if first.has_some_below_zero(name):             # which may be more than one of another example
            ways[:2] = ways[1::-1]
        for contract in ways:
            found = attempted_again(again, [*stated, contract])
            if found is not None and found.rank > best.rank:
                best, stated = found, [*stated, contract]
                break
    return best, stated


def under_divisions(first: Attempt, again: Callable[[Sequence[str]], Attempt]) -> Attempt:
    """The attempt under contracts on what divides sizes, or what they are where the host code has worked a number out
    of them, where more is proved with these, and as few as that takes. What fails at the example's own sizes fails with
    them, too."""
    divisions = list(dict.fromkeys(c for kernel, _ in first.launched for c in kernel.divisions))
    offered = [*first.captured.solved[:MOST_DIVISIONS], *divisions[:MOST_DIVISIONS]]
    if first.is_done or breaks_at(first, first.captured.sizes):
        return first
    best, stated = first, list[str]()
    for contracts in (offered, *([one] for one in offered if len(offered) > 1)):
        found = attempted_again(again, contracts)
        if found is not None and (found.rank, -len(contracts)) > (best.rank, -len(stated)):
            best, stated = found, contracts
        if best is first:
            break
    for ratio in ratios(first.captured) if best.breaks else ():
        found = attempted_again(again, [*stated, ratio])
        if found is not None and not found.breaks and found.rank > best.rank:
            return found
    return best


def attempted_again(again: Callable[[Sequence[str]], Attempt], contracts: Sequence[str]) -> Attempt | None:
    """The attempt under these contracts; None where there are none, or the host code does not name their sizes."""
    try:
        return again(contracts) if contracts else None
    except Refused:
        return None


def ratios(captured: Any) -> list[str]:
    """Contracts that one size is so many of another, as it is in the example: packed words against the numbers in them.
    What tensors that are given have to do with one another nobody says otherwise. Two parameters of the function itself
    may be any, and so may two dimensions of one tensor."""
    sizes: Mapping[str, int] = captured.sizes
    beside = [{n.name for n in dims if isinstance(n, Size)} for dims in (
        captured.parameters.values(), *(view.shape for _, view in captured.inputs))]
    pairs = ((a, b, n // m) for a, n in sizes.items() for b, m in sizes.items() if n % m == 0 and 1 < n // m <= PACKED
             and not any({a, b} <= names for names in beside))
    found = sorted(pairs, key=lambda pair: pair[2] & (pair[2] - 1) != 0)        # powers of two are meant more often
    return [f"{a} == {times}*{b}" for a, b, times in found[:MOST_RATIOS]]


def breaks_at(attempt: Attempt, sizes: Mapping[str, int]) -> bool:
    """Whether an obligation fails, or the reference differs, at these sizes."""
    cases = [o.counterexample for kernel, _ in attempt.launched for o in kernel.obligations]
    cases.append(attempt.verdict.against_counterexample)
    return any(case is not None and case.get("sizes") == sizes for case in cases)
