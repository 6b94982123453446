"""Is a form what a captured graph means?

Reading a graph as forms, rewriting these, and printing them in torch's operators are not trusted. What is printed is
compared with the program by `check`; what kernels compute is a form, and that this is the program's own is asked here:
the graph's outputs by the meanings of its operators, at its own sizes, against the form's formula. Small blocks are
settled by their normal forms at once. Calls of torch that stay are cuts: what they take is asked of, what they return
is any tensor. What is not settled within the budget stays tested, and a report says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from samesame.formula.assumptions import Assumption, Within
from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import Expr, Leaf, Load, Unsupported, add, floordiv, index, mod, mul
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.graph import Graph, Node, TensorType
from samesame.operators import explain
from samesame.operators.numbers import constant
from samesame.optimize.forms import Element, Form, formula
from samesame.optimize.lengths import PROVABLE, folds
from samesame.optimize.specification import KEPT, MEMORY, Call, Dims, Output, Specification

BUDGET = Budget(seconds=4.0)


def faithful(
    graph: Graph, specification: Specification, forms: Sequence[Form | None]
) -> tuple[str, ...] | None:
    """The conditions under which the forms are what the graph gives to calls of torch and returns, proved at its sizes;
    None where that is not, or not asked of formulas that nobody could write down. What has no form here is not asked
    of."""
    if any(folds(form) > PROVABLE for form in forms if form is not None):
        return None
    known: dict[Node, Any] = {}
    pairs: list[tuple[Expr, Expr]] = []
    nodes, rest = {node.name: node for node in graph.nodes}, iter(zip(specification.roots(), forms, strict=True))
    calls = {call.node: (call, [next(rest) for _ in call.takes]) for call in specification.calls}
    leaves: dict[str, Leaf | Element] = {
        name: Leaf(name, tuple(t.shape), t.kind, t.ends) for name, t in specification.tensors.items()}

    def require(node: Node, output: Output, form: Form | None) -> None:
        if form is not None:
            pairs.append(_elements(specification, output.dims, known[node], form, leaves))

    for name in calls.keys() - nodes.keys():                     # kept, and no node's: what it is made of
        ((output, form),) = calls[name][1]
        if form is None:
            return None
        leaves[name] = partial(_inside, output.dims, form, specification.extents, leaves)
    try:
        for node in graph.nodes:
            call, given = calls.get(node.name, (None, []))
            if call is None or call.operator == KEPT:
                known[node] = (_source(graph, specification, node) if is_given(specification, node) else
                               _memory(node) if node.operator in MEMORY else explain(node, known.__getitem__))
            for output, form in given:                       # proved by itself; for what follows it is any tensor
                require(node if call and call.operator == KEPT else nodes[output.name], output, form)
            if call is not None:
                known[node] = (_kept(specification, node, given[0][0].dims) if call.operator == KEPT else
                               _results(specification, node, call))
        for (_, node), (output, form) in zip(graph.roots, rest, strict=True):
            require(node, output, form)
    except Unsupported:
        return None
    conditions = dict[str, None]()
    for pair in pairs:
        answer = prove_equal(*pair, budget=BUDGET)
        if not isinstance(answer, Proved):
            return None
        conditions |= {str(each): None for each in answer.conditions if not _is_so(specification, each)}
    return tuple(conditions)


def _is_so(specification: Specification, condition: Assumption) -> bool:
    """Whether the numbers of a table say so."""
    if not isinstance(condition, Within):
        return False
    table = specification.tensors.get(condition.name)
    return table is not None and table.ends == (condition.low, condition.high)


def is_given(specification: Specification, node: Node) -> bool:
    """Whether a node is a tensor of the program: a source, or a table of what nothing but numbers makes."""
    tensor = specification.tensors.get(node.name)
    return node.is_source or (tensor is not None and tensor.value is not None)


def _source(graph: Graph, specification: Specification, node: Node) -> Any:
    """A tensor that formulas do not look into; a number of the program is that number."""
    if node.name in specification.tensors:
        known = specification.tensors[node.name]
        return leaf(node.name, node.shape, known.kind, known.ends)
    value = graph.tensors[node.name]
    if node.operator != "constant" or value.dim():
        return leaf(node.name, node.shape)
    number = value.item()
    return tensor((), lambda: constant(number) if isinstance(number, float) else number)


def _memory(node: Node) -> Tensor:
    """New memory, which holds anything."""
    assert isinstance(node.type, TensorType)
    kind = "int" if "int" in node.type.dtype else "bool" if node.type.dtype == "bool" else "real"
    return leaf(node.name, tuple(node.type.shape), kind)


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


def _results(specification: Specification, node: Node, call: Call) -> Any:
    """What a call returns, as tensors that formulas do not look into."""
    kinds = node.type if isinstance(node.type, tuple) else (node.type,)
    shapes = [(name, tuple(kind.shape)) for name, kind in zip(call.results, kinds, strict=True) if kind is not None]
    read = specification.tensors
    results = tuple(leaf(name, shape, read[name].kind if name in read else "real") for name, shape in shapes)
    return results if call.several else results[0]


def _inside(
    dims: Dims, form: Form, extents: Mapping[str, int], leaves: Mapping[str, Leaf | Element], at: tuple[Expr, ...]
) -> Expr:
    """An element of a tensor that has a dimension for each axis of a form."""
    axes = [axis for dim in dims for axis in dim]
    return formula(form, dict(zip(axes, at, strict=True)), extents, leaves)


def _elements(
    specification: Specification, dims: Dims, meaning: Any, form: Form, leaves: Mapping[str, Leaf | Element]
) -> tuple[Expr, Expr]:
    """One element of both, at an index for each axis: a dimension of several axes has them as its digits."""
    extents = specification.extents
    at = {axis: index(extents[axis]) for dim in dims for axis in dim}
    place: list[Expr] = []
    for dim in dims:
        position, stride = add(0), 1
        for axis in reversed(dim):
            position, stride = add(mul(stride, at[axis]), position), stride * extents[axis]
        place.append(position)
    return meaning[tuple(place)], formula(form, at, extents, leaves)
