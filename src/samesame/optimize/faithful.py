"""Is a form what a captured graph means?

Reading a graph as forms, rewriting these, and printing them in torch's operators are not trusted. What is printed is
compared with the program by `check`; what kernels compute is a form, and that this is the program's own is asked here:
the graph's outputs by the meanings of its operators, at its own sizes, against the form's formula. Small blocks are
settled by their normal forms at once. What is not settled within the budget stays tested, and a report says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import Expr, Leaf, Load, Unsupported, add, floordiv, index, mod, mul
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.graph import Graph, Node
from samesame.operators import explain
from samesame.operators.numbers import constant
from samesame.optimize.forms import Form, formula
from samesame.optimize.specification import Dims, Specification

BUDGET = Budget(seconds=4.0)


def faithful(graph: Graph, specification: Specification, forms: Sequence[Form]) -> tuple[str, ...] | None:
    """The conditions under which the forms are the graph's outputs, proved at its sizes; None where that is not."""
    try:
        known: dict[Node, Any] = {}
        pairs: list[tuple[Expr, Expr]] = []
        roots = list(zip(specification.roots(), forms, strict=True))
        kept = {call.results[0]: root for call, root in zip(specification.calls, roots, strict=False)}
        for node in graph.nodes:
            known[node] = _source(graph, specification, node) if node.is_source else explain(node, known.__getitem__)
            if node.name in kept:                            # proved by itself; for what follows it is any tensor
                output, form = kept[node.name]
                pairs.append(_elements(specification, output.dims, known[node], form))
                known[node] = _kept(specification, node, output.dims)
        pairs += [_elements(specification, output.dims, known[node], form)
                  for (_, node), (output, form) in zip(graph.roots, roots[len(kept) :], strict=True)]
    except Unsupported:
        return None
    answers = [prove_equal(*pair, budget=BUDGET) for pair in pairs]
    if not all(isinstance(answer, Proved) for answer in answers):
        return None
    return tuple(dict.fromkeys(str(condition) for answer in answers if isinstance(answer, Proved)
                               for condition in answer.conditions))


def _source(graph: Graph, specification: Specification, node: Node) -> Any:
    """A tensor that formulas do not look into; a number of the program is that number."""
    if node.name in specification.tensors:
        return leaf(node.name, node.shape, specification.tensors[node.name].kind)
    value = graph.tensors[node.name]
    if node.operator != "constant" or value.dim():
        return leaf(node.name, node.shape)
    number = value.item()
    return tensor((), lambda: constant(number) if isinstance(number, float) else number)


def _kept(specification: Specification, node: Node, dims: Dims) -> Tensor:
    """A node's value as what is kept of it: a tensor that has a dimension for each axis."""
    source, extents = specification.tensors[node.name], specification.extents

    def element(*at: Expr) -> Expr:
        places: list[Expr] = []
        for position, dim in zip(at, dims, strict=True):
            inner = prod(extents[axis] for axis in dim)
            for axis in dim:
                inner //= extents[axis]
                places.append(mod(floordiv(position, inner), extents[axis]))
        return Load(Leaf(node.name, source.shape, source.kind), tuple(places))

    return tensor(tuple(node.shape), element)


def _elements(specification: Specification, dims: Any, meaning: Any, form: Form) -> tuple[Expr, Expr]:
    """One element of both, at an index for each axis: a dimension of several axes has them as its digits."""
    extents = specification.extents
    at = {axis: index(extents[axis]) for dim in dims for axis in dim}
    place: list[Expr] = []
    for dim in dims:
        position, stride = add(0), 1
        for axis in reversed(dim):
            position, stride = add(mul(stride, at[axis]), position), stride * extents[axis]
        place.append(position)
    leaves = {name: Leaf(name, tuple(t.shape), t.kind) for name, t in specification.tensors.items()}
    return meaning[tuple(place)], formula(form, at, extents, leaves)
