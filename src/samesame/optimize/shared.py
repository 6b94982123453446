"""Functions that several results take of the same numbers are taken once, and what they come to is kept.

Prices and their derivatives take the logarithm, the density and the distribution of one number each; each result is a
loop nest of its own, or a part of one, and would compute them anew. What is kept is a function as a whole, if no larger
one has it wherever it is taken: of log, and of a density of it, both are, if the logarithm is taken elsewhere, too. As
everywhere, it must be sooner read again than computed. What stands under a sum is another matter: see functions.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from samesame.optimize.forms import Form, size_of, walk
from samesame.optimize.names import nameless
from samesame.optimize.specification import Output

NEAR = 1 << 19                                       # elements that are sooner read again than a function is taken
CHEAP = frozenset({"abs", "relu", "sign", "floor", "ceil", "round", "trunc"})


def is_function(x: Form) -> bool:
    """Whether it takes a processor more than an addition or two."""
    return (x.operator == "fn" and x.attributes[0] not in CHEAP) or (
        x.operator == "power" and (x.attributes[0] < 0 or x.attributes[0].denominator > 1))


def is_near(form: Form, extents: Mapping[str, int]) -> bool:
    """Whether it has no more elements than are sooner read again than its functions are taken."""
    return size_of(form.axes, extents) <= NEAR * sum(map(is_function, walk(form)))


def taken_by_several(outputs: Iterable[Output], extents: Mapping[str, int]) -> frozenset[str]:
    """Functions, under any names of axes, that two results or more take: outputs, parts of what is put together, and
    what is computed for a sum of products."""
    results = [part for output in outputs for part in parts(output.form)]
    takers, found = defaultdict[Form, set[int]](set), set[Form]()
    for number, result in enumerate(results):
        for x in walk(result, arguments=within):
            if is_function(x) and is_elementwise(x) and is_near(x, extents):
                takers[x].add(number)
                found |= {x} if x is not result else set()
    several = {x for x in found if len(takers[x]) > 1}
    inner = {y for x in several for y in walk(x) if y is not x and takers[y] <= takers[x]}
    return frozenset(map(nameless, several - inner))


def parts(form: Form) -> list[Form]:
    """The form, and what of it is computed apart: parts that are put together, and factors of a sum."""
    found = [form]
    for x in walk(form):
        if x.operator == "concat":
            found += x.arguments
        elif x.operator == "fold":
            body = x.arguments[0]
            found += body.arguments if body.operator == "times" else ()
    return list(dict.fromkeys(found))


def within(x: Form) -> tuple[Form, ...]:
    """Its arguments, where they are computed in its place."""
    return () if x.operator in ("fold", "concat", "lookup") else x.arguments


def is_elementwise(form: Form) -> bool:
    """Whether it is computed of tensors element by element, and of some tensor."""
    operators = {x.operator for x in walk(form)}
    return "load" in operators and operators.isdisjoint(("fold", "concat", "lookup"))
