"""Functions that several results take of the same numbers are taken once, and what they come to is kept.

Prices and their derivatives take the logarithm, the density and the distribution of one number each; each result is a
loop nest of its own, or a part of one, and would compute them anew. What is kept is a function as a whole, if no larger
one has it wherever it is taken: of log, and of a density of it, both are, if the logarithm is taken elsewhere, too. As
everywhere, it must be sooner read again than computed. What sums of one row take is another matter: see functions.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

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
    size = size_of(form.axes, extents)
    return size <= NEAR or size <= NEAR * sum(map(is_function, walk(form)))


def taken_by_several(outputs: Iterable[Output], extents: Mapping[str, int]) -> frozenset[str]:
    """Functions, under any names of axes, that two results or more take: outputs, parts of what is put together, and
    what is computed for a sum of products."""
    takers, found, elementwise = defaultdict[str, set[int]](set), dict[str, Form](), dict[Form, bool | None]()
    results = [(part, last_of(output)) for output in outputs for part in parts(output.form, last_of(output))]
    for number, (result, last) in enumerate(results):
        for x in walk(result, arguments=partial(within, last=last)):
            read = {elementwise[y] for y in within(x, last)}           # None of a number, that no tensor is in
            apart = x.operator in APART or False in read
            elementwise[x] = False if apart else True if x.operator == "load" or True in read else None
            if is_function(x) and elementwise[x] and is_near(x, extents):
                takers[nameless(x)].add(number)
                if x is not result:
                    found[nameless(x)] = x
    several = {name: x for name, x in found.items() if len(takers[name]) > 1}
    inner = {name for outer, x in several.items() for y in walk(x) if is_function(y)
             if (name := nameless(y)) != outer and name in several and takers[name] <= takers[outer]}
    return frozenset(several.keys() - inner)


APART = frozenset({"fold", "concat", "lookup"})      # whose arguments are computed for themselves
BESIDE = 4                                           # numbers beside one another are made together


def last_of(output: Output) -> str:
    """The axis along which the output's elements lie beside one another."""
    return next((axis for dim in reversed(output.dims) for axis in reversed(dim)), "")


def is_beside(x: Form, last: str) -> bool:
    """Whether it is two to four numbers beside one another, as the parts of complex numbers are."""
    return x.operator == "concat" and x.attributes[0] == last and len(x.arguments) <= BESIDE and (
        set(x.attributes[1]) == {None})


def parts(form: Form, last: str) -> list[Form]:
    """The form, and what of it is computed apart: parts that are put together, and factors of a sum."""
    apart = [form]
    for x in walk(form):
        if x.operator == "concat" and not is_beside(x, last):
            apart += x.arguments
        elif x.operator == "fold":
            body = x.arguments[0]
            apart += body.arguments if body.operator == "times" else ()
    return list(dict.fromkeys(apart))


def within(x: Form, last: str) -> tuple[Form, ...]:
    """Its arguments, where they are computed in its place."""
    return x.arguments if is_beside(x, last) or x.operator not in APART else ()
