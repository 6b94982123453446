"""Arithmetic before a look-up, where a table has fewer elements than are looked up in it.

An image is enlarged by reading two columns of a row for each pixel and taking a mean of these, and the same of the next
row; each row of the small image is read for many of the large one. The mean of columns is one of the table's rows as
well, computed once for each and looked up: x[i] + y[i] is (x + y)[i].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from samesame.optimize.forms import TRUTHS, Form, Place, along, lookup

PLAIN = frozenset({"load", "lookup"})                # of one alone nothing is computed


def of_tables(
    function: Callable[..., Form], forms: Sequence[Form], size: Callable[[Iterable[str]], int],
    renamed: Callable[[Form, Mapping[str, Place]], Form],
) -> Form | None:
    """A function of each element of real forms as one look-up in what it makes of their tables; None where that
    computes no fewer, or where they are looked up at different places."""
    looked = [x for x in forms if x.operator == "lookup"]
    if not looked or (len(looked) == 1 and looked[0].arguments[0].operator in PLAIN):
        return None
    (axis,), (_, i) = looked[0].attributes, looked[0].arguments
    tables = list[Form]()
    for x in forms:
        table, own = (x.arguments[0], x.attributes[0]) if x.operator == "lookup" else (x, None)
        if (own and (x.arguments[1] is not i or size([own]) != size([axis]))) or (own != axis and axis in table.axes):
            return None
        tables.append(renamed(table, {own: along(axis)}) if own and own != axis else table)
    whole = function(*tables)
    if axis not in whole.axes or whole.operator in TRUTHS:
        return None
    found = lookup(axis, whole, i)
    return found if size(whole.axes) < size(found.axes) else None
