"""Forms as a browser draws them: MathML of what a form means at an index for each of its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samesame.formula.expr import Leaf, Unsupported
from samesame.formula.mathml import mathml_tensor
from samesame.formula.tensor import tensor
from samesame.optimize.forms import Form, base, formula


def drawn(
    form: Form, extents: Mapping[str, int], axes: Sequence[str] = (), leaves: Mapping[str, Leaf] | None = None,
    name: str = "t",
) -> str:
    """The form, named so, as a <math> element; its indices are in the order of these axes, or of its own. Empty where
    it has no formula."""
    order = tuple(axes) or form.axes
    sizes = tuple(extents[axis] if axis in extents else extents[base(axis)] for axis in order)
    try:
        return mathml_tensor(name, tensor(sizes, lambda *at: formula(
            form, dict(zip(order, at, strict=True)), extents, leaves)))
    except Unsupported:
        return ""
