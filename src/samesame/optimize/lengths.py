"""Lengths: how large a form is as it is written, where what is read twice stands there twice.

Forms of many steps are small, as each step is one object, however often the next one reads it. Their formulas are not:
each fold there has a variable of its own, so that twenty steps that read the one before twice are a million folds. What
is made of formulas (drawings, proofs) is asked of short ones.
"""

from __future__ import annotations

from collections.abc import Callable

from samesame.optimize.forms import Form, walk

PROVABLE = 300                                       # folds in a formula that a proof is asked of


def written(form: Form, counted: Callable[[Form], int] = lambda _: 1) -> int:
    """How many operators the form has, or how much of what is counted."""
    lengths: dict[Form, int] = {}
    for x in walk(form):
        lengths[x] = counted(x) + sum(lengths[y] for y in x.arguments)
    return lengths[form]


def folds(form: Form) -> int:
    """How many folds it has."""
    return written(form, lambda x: x.operator == "fold")
