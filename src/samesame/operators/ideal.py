"""Ideal readings: what an operator means apart from its guard against an extreme.

Some operators deviate from their definition where that would be undefined or would overflow: attention gives zeros for
a row of which a mask hides everything (0/0 by definition), softplus returns its argument above a threshold. Both
guards are part of the exact meaning. A program that spells the definition out has no guard, and is still what people
mean by "the same": so when a proof fails with the exact meanings, it may be tried with the ideal ones, `with
idealised():`. Each guard left out is recorded as a reading, and the proof then holds under that condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from samesame.formula.assumptions import Said
from samesame.operators.numbers import record
from samesame.operators.table import packet

_ideal: ContextVar[bool] = ContextVar("ideal", default=False)

# Operators with such a guard, so that a second attempt is made only where there is something to leave out.
GUARDED = frozenset(
    f"aten.{name}"
    for name in [
        "scaled_dot_product_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_attention_math",
        "_safe_softmax",
        "softplus",
        "binary_cross_entropy",
    ]
)


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


def leaves_out(condition: str) -> bool:
    """Whether a guard is to be left out; if so, the condition under which that makes no difference is recorded."""
    if _ideal.get():
        record(Said("guard", condition))
    return _ideal.get()
