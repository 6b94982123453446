"""Tensors some of whose elements are −∞, as flash decoding leaves the maximum of a split that has no element.

    m[i, j, k] = {max_{t<…} s[i, j, …] if 0 < lengths[i] − 16·k else −∞}

Such a formula is parted: the condition under which an element is shown, a finite number that is, and that number. Each
of the others is −∞. The condition is one on places, sizes and integers that were given, so that whoever reads the
tensor can count with it as with a mask. Nothing is parted where an element is not proved to be the one or the other:
the greatest of nothing is no number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from samesame.formula.expr import (
    FALSE,
    TRUE,
    ZERO,
    Expr,
    Fold,
    Lambda,
    Load,
    NegInf,
    Opaque,
    Where,
    and_,
    not_,
    or_,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.tensor import Tensor, tensor
from samesame.kernels.formulas.defined import Definedness, may_divide_by_nothing
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, IndexProver, with_fact
from samesame.kernels.launch import PLACE, Memory
from samesame.kernels.tiles.memory import along_line, is_contiguous


@dataclass(frozen=True)
class Parted:
    """A tensor's elements: finite where the condition `shown` over `PLACE` holds, and then those of `numbers`; else −∞.
    """

    shown: Expr
    numbers: Tensor


def parted(whole: Tensor, layout: Memory, given: Collection[str]) -> Parted | None:
    """Where the elements of a tensor that lies so are −∞, if some may be, as integers of the `given` tensors tell; None
    where that is not known."""
    indices, body = whole.element()
    infinite = whole.kind == "real" and any(isinstance(e, NegInf) for e in walk(body))
    if not infinite or not is_contiguous(layout) or is_unknown(body):
        return None
    found = cases(integers.tidied(body), (), given, Definedness(IndexProver()))
    if found is None or found[0] is TRUE:
        return None
    shown, number = found
    numbers = tensor(whole.shape, lambda *i: substitute(number, dict(zip(indices, i, strict=True))))
    at_place = substitute(without_bounds(shown), dict(zip(indices, along_line(layout, PLACE), strict=True)))
    return Parted(integers.tidied(at_place), numbers)


def is_unknown(body: Expr) -> bool:
    """Whether a value may be no number for other reasons than an infinity that stands in it."""
    return may_divide_by_nothing(body) or any(isinstance(e, Opaque) and e.kind == "real" for e in walk(body))


def cases(
    value: Expr, facts: Facts, given: Collection[str], definedness: Definedness
) -> tuple[Expr, Expr] | None:
    """The condition under which a value is finite, and the value there; where it does not hold it is −∞. None where
    that is not known."""
    if isinstance(value, NegInf):
        return FALSE, ZERO
    if not isinstance(value, Where) or not is_told_by(value.condition, given):
        return (TRUE, value) if definedness.is_finite(value, facts) else None
    c = value.condition
    then = cases(value.then, with_fact(facts, c), given, definedness)
    otherwise = cases(value.otherwise, with_fact(facts, not_(c)), given, definedness)
    if then is None or otherwise is None:
        return None
    shown = or_(and_(c, then[0]), and_(not_(c), otherwise[0])) if then[0] is not otherwise[0] else then[0]
    return shown, where(c, then[1], otherwise[1])


def is_told_by(condition: Expr, given: Collection[str]) -> bool:
    """Whether a condition is one on places, sizes and single integers of these tensors."""
    return not any(
        isinstance(e, Fold | Lambda | Opaque | NegInf)
        or (isinstance(e, Load) and (e.kind == "real" or e.leaf.name not in given))
        for e in walk(condition)
    )


def without_bounds(condition: Expr) -> Expr:
    """The condition with its tensors as they are called alone: not with what is taken of their elements."""
    told = rebuild(condition, without_bounds)
    return Load(replace(told.leaf, bounds=None), told.indices) if isinstance(told, Load) else told
