"""Fused operators of torch, found again in forms: softmax, and attention.

Forms have no such operators, so that rules can look inside. Where a form still holds one whole, torch's own kernel is
the best way to compute it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samesame.optimize import forms as f
from samesame.optimize.forms import Form, Infinity
from samesame.optimize.rules import parts_of

HIDDEN = f.number(Infinity)


@dataclass(frozen=True, slots=True)
class Softmax:
    """exp(x − max x) / Σ exp(x − max x) over axes; zero, if `hiding`, where a row is −∞ throughout."""

    x: Form
    axes: tuple[str, ...]
    whole: Form
    hiding: bool = False


def with_softmax(factors: Sequence[Form]) -> list[Form | Softmax]:
    """The factors with each exp(x − max x) and 1/Σ exp(x − max x) as one."""
    for inverse in factors:
        total = inverse.arguments[0] if inverse.operator == "power" and inverse.attributes[0] == -1 else None
        if total is None or total.operator != "fold" or total.attributes[0] != "sum":
            continue
        raised, axes = total.arguments[0], total.attributes[1]
        if raised not in factors or raised.operator != "fn" or raised.attributes[0] != "exp":
            continue
        lowered = raised.arguments[0]
        if lowered.operator == "minus" and lowered.arguments[1] is f.fold("max", axes, lowered.arguments[0]):
            rest = list(factors)
            rest.remove(inverse)                           # one of each: a·aᵀ of a softmax a has two of these
            rest.remove(raised)
            return [Softmax(lowered.arguments[0], axes, f.times(raised, inverse)), *with_softmax(rest)]
    return [_hiding(x) or x for x in factors]


def _hiding(form: Form) -> Softmax | None:
    """Softmax with zeros in rows that are hidden whole."""
    if form.operator != "where" or form.arguments[1] is not f.ZERO:
        return None
    condition, _, weights = form.arguments
    operator, (over, *_), below = (parts_of(weights) if weights.operator == "times" else ("", ((),), ()))
    found = with_softmax(below) if operator and not over else []
    if len(found) != 1 or not isinstance(found[0], Softmax):
        return None
    inner = found[0]
    hidden = f.compare("=", f.fold("max", inner.axes, inner.x), HIDDEN)
    return Softmax(inner.x, inner.axes, form, True) if condition is hidden else None


@dataclass(frozen=True, slots=True)
class Attention:
    """Softmax over `s` of scale · Σ_e query·key, seen through a mask, times values: what torch's operator takes."""

    query: Form
    key: Form
    value: Form
    scale: Form
    mask: Form | None
    causal: bool
    heads: tuple[str, ...]                           # axes of all three, without those below
    group: tuple[str, ...]                           # heads of queries for each of keys
    t: str
    s: str
    e: str
    v: str


def attention(weights: Softmax, value: Form) -> Attention | None:
    """The attention that weights and values make; None where it is none that torch has."""
    x, mask, causal, row = weights.x, None, False, None
    if x.operator == "where" and x.arguments[2] is HIDDEN:
        condition, x, _ = x.arguments
        row = _below(condition, weights.axes[0])
        mask, causal = (None, True) if row else (condition, False)
    elif x.operator == "plus" and len(x.arguments) == 2:
        mask, x = sorted(x.arguments, key=lambda part: parts_of(part)[0] == "contract")
    operator, attributes, below = parts_of(x)
    if operator == "contract" and not attributes[0]:             # a number times the product
        inner = [part for part in below if part.axes]
        if len(inner) == 1 and parts_of(inner[0])[0] == "contract":
            _, attributes, more = parts_of(inner[0])
            below = (*(part for part in below if not part.axes), *more)
    if operator != "contract" or len(attributes[0]) != 1 or len(weights.axes) != 1 or weights.hiding == (mask is None):
        return None
    (e,), (s,) = attributes[0], weights.axes
    query = f.times(*(part for part in below if part.axes and s not in part.axes))
    key = f.times(*(part for part in below if s in part.axes))
    scale = f.times(*(part for part in below if not part.axes))
    heads = tuple(axis for axis in query.axes if axis in key.axes and axis != e)
    rows = [axis for axis in query.axes if axis not in key.axes]
    read = [axis for part in f.walk(query) if part.operator == "load" for place in part.attributes[1:]
            for axis in place.axes]
    last = {axis: place for place, axis in reversed(list(enumerate(read)))}
    t = row or max(rows, key=lambda a: last.get(a, len(read)), default=None)       # as tensors of heads are laid out
    group = tuple(axis for axis in rows if axis != t)
    columns = [axis for axis in value.axes if axis not in (*heads, s)]
    fits = set(key.axes) == {*heads, s, e} and {*heads, s} <= set(value.axes) and e in query.axes
    if t is None or t not in rows or not fits or len(columns) != 1 or len(group) > 1 or len(heads) < 1:
        return None
    return Attention(query, key, value, scale, mask, causal, heads, group, t, s, e, columns[0])


def _below(condition: Form, s: str) -> str | None:
    """The axis t of the condition s ≤ t."""
    if condition.operator != "compare" or condition.attributes != ("≤",):
        return None
    ends = [part.attributes[0].axis if part.operator == "position" else None for part in condition.arguments]
    return ends[1] if ends[0] == s else None
