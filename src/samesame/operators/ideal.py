"""Ideal readings: what an operator means apart from its guard against an extreme.

Some operators deviate from their definition where that would be undefined or would overflow: attention gives zeros for
a row of which a mask hides everything (0/0 by definition), softplus returns its argument above a threshold. Both
guards are part of the exact meaning. A program that spells the definition out has no guard, and is still what people
mean by "the same": so when a proof fails with the exact meanings, it may be tried with the ideal ones, `with
idealised():`. Each guard left out is recorded as a reading, and the proof then holds under that condition.

A proof with the exact meanings may need the condition all the same. Two programs are the same where both have a value,
and where a mask hides a row the one with a guard gives 0 and the other has none. Whether that was used is seen with
another number in place of the 0, `with filled_anyhow():`. What is still proved hangs on no guard.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from samesame.formula.assumptions import Said
from samesame.formula.expr import ZERO, Expr, Leaf, Load
from samesame.operators.numbers import record
from samesame.operators.provisos import beyond
from samesame.operators.table import packet

ALL_BUT = 1e-8                                         # by how much a softplus may be more than its line

_ideal: ContextVar[bool] = ContextVar("ideal", default=False)
_filled: ContextVar[list[str] | None] = ContextVar("filled", default=None)

ANYTHING = "anything"                                  # the name of a number
EMPTY_ROWS = "every row of an attention mask lets something through"
NO_EMPTY_ROW = Said("guard", EMPTY_ROWS)

# Operators that give 0 for a row of which a mask hides everything.
FILLING = frozenset(
    f"aten.{name}"
    for name in [
        "scaled_dot_product_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_attention_math",
        "_safe_softmax",
    ]
)
# Operators with any such guard, so that a second attempt is made only where there is something to leave out.
GUARDED = FILLING | {"aten.softplus", "aten.softplus_backward", "aten.binary_cross_entropy"}


def is_guarded(operator: str) -> bool:
    """Whether an operator, of any overload, has such a guard."""
    return packet(operator) in GUARDED


@contextmanager
def idealised() -> Iterator[None]:
    """Inside, meanings leave their guards out."""
    token = _ideal.set(True)
    try:
        yield
    finally:
        _ideal.reset(token)


def is_ideal() -> bool:
    """Are guards left out?"""
    return _ideal.get()


def leaves_out(condition: Said) -> bool:
    """Whether a guard is to be left out; if so, the condition under which that makes no difference is recorded."""
    if _ideal.get():
        record(condition)
    return _ideal.get()


def line_left_out(what: str, beta: float | Expr, threshold: float | Expr) -> bool:
    """Whether that a softplus is a line above its threshold is to be left out, where it all but is one."""
    if isinstance(beta, Expr) or isinstance(threshold, Expr) or beta <= 0 or threshold < 20:
        return False
    less = math.exp(-threshold) / min(beta, 1.0)
    return less <= ALL_BUT and leaves_out(beyond(what, less))


def is_filling(operator: str) -> bool:
    """Whether an operator, of any overload, gives 0 for a row of which a mask hides everything."""
    return packet(operator) in FILLING


@contextmanager
def filled_anyhow() -> Iterator[list[str]]:
    """Inside, such a row may be given any number; the list has an entry for each time that one was asked for."""
    asked = list[str]()
    token = _filled.set(asked)
    try:
        yield asked
    finally:
        _filled.reset(token)


def filling() -> Expr:
    """What such a row is given."""
    asked = _filled.get()
    if asked is None:
        return ZERO
    asked.append(ANYTHING)
    return Load(Leaf(ANYTHING, ()), ())
