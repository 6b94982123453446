"""A captured graph as a specification, by all rows that there are: a file of rows is a line in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from samesame.formula.equal import deep_recursion
from samesame.graph import Graph
from samesame.optimize import borders, losses, norms, operators, pointwise, shuffles, windows
from samesame.optimize.forms import base, walk
from samesame.optimize.reading import Reader
from samesame.optimize.specification import MEMORY, Output, Specification

FAMILIES = pointwise, operators, norms, losses, windows, shuffles, borders


def read(graph: Graph, until: float = inf) -> Specification:
    """The captured graph as forms. Raises Unsupported where that takes longer than until then, on time.monotonic."""
    with deep_recursion():
        reader = Reader(graph, until)
    outputs = tuple(reader.output(name, reader.values[node]) for name, node in graph.roots)
    read = _loaded((*reader.arguments, *outputs))
    # Memory that nothing reads, as all of it is written over first, is no call.
    calls = tuple(call for call in reader.calls if call.operator not in MEMORY or not read.isdisjoint(call.results))
    roots = (*(output for call in calls for output in call.takes), *outputs)
    used = _loaded(roots)
    names = set(reader.extents).union(*(form.axes for form in walk(*(root.form for root in roots))))
    tensors = {name: tensor for name, tensor in reader.tensors.items() if name in used or tensor.role == "input"}
    return Specification(
        graph.name, tensors, {axis: reader.extents[base(axis)] for axis in sorted(names)}, outputs, calls,
        tuple(node.name for node in graph.sources("input")),
    )


def _loaded(roots: Iterable[Output]) -> set[str]:
    """The tensors that forms read."""
    return {form.attributes[0] for form in walk(*(root.form for root in roots)) if form.operator == "load"}
