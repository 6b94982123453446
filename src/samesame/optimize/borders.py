"""Borders that repeat what is inside, as concatenations: mirrored at the edges, or the edges drawn out.

What is computed is kept first, or each part of the concatenation would compute its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samesame.formula.expr import Unsupported
from samesame.optimize.operators import cat, cut, expand
from samesame.optimize.reading import Reader, Value, is_computed, row
from samesame.optimize.shuffles import flip

Border = Callable[[Reader, Value, int, int, int, int], Value]


def mirrored(r: Reader, x: Value, d: int, width: int, edge: int, first: int) -> Value:
    """What is beside the edge, from the place `first` on, backwards."""
    return flip(r, cut(r, x, d, first, first + width), [d])


def drawn_out(r: Reader, x: Value, d: int, width: int, edge: int, first: int) -> Value:
    """As many times the edge."""
    return expand(r, cut(r, x, d, edge, edge + 1), [n if k != d else width for k, n in enumerate(r.shape(x))])


def bordered(r: Reader, x: Value, widths: Sequence[int], border: Border) -> Value:
    """The last dimension's widths come first."""
    if min(widths, default=0) < 0:
        raise Unsupported("a border that takes away")
    x = r.kept(x) if is_computed(x) else x
    for k, (before, behind) in enumerate(zip(widths[::2], widths[1::2], strict=True)):
        d = x.rank - 1 - k
        last = r.size(x.dims[d]) - 1
        parts = [border(r, x, d, before, 0, 1)] if before else []
        parts += [x, *([border(r, x, d, behind, last, last - behind)] if behind else [])]
        x = cat(r, parts, d) if len(parts) > 1 else x
    return x


for dims in (1, 2, 3):
    row(f"aten.reflection_pad{dims}d")(lambda r, x, widths: bordered(r, x, widths, mirrored))
    row(f"aten.replication_pad{dims}d")(lambda r, x, widths: bordered(r, x, widths, drawn_out))
