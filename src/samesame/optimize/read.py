"""A captured graph as a specification, by all rows that there are: a file of rows is a line in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from samesame.formula.equal import deep_recursion
from samesame.graph import Graph
from samesame.optimize import borders, lookups, losses, norms, operators, pointwise, shuffles, windows
from samesame.optimize.forms import base, walk
from samesame.optimize.reading import Reader
from samesame.optimize.specification import MEMORY, Output, Specification

FAMILIES = pointwise, operators, norms, losses, windows, lookups, shuffles, borders


def read(graph: Graph, until: float = inf, look_ups: bool = True) -> Specification:
    """The captured graph as forms, look-ups at integers in data too if asked for: else these stay calls. Raises
    Unsupported where that takes longer than until then, on time.monotonic."""
    with deep_recursion():
        reader = Reader(graph, until, frozenset() if look_ups else lookups.LOOK_UPS)
    outputs = tuple(reader.output(name, reader.values[node]) for name, node in graph.roots)
    loaded = _loaded((*reader.arguments, *outputs))
    # Memory that nothing reads, as all of it is written over first, is no call.
    calls = tuple(call for call in reader.calls if call.operator not in MEMORY or not loaded.isdisjoint(call.results))
    roots = (*(output for call in calls for output in call.takes), *outputs)
    forms = list(walk(*(root.form for root in roots), *(i for i, _ in reader.looked)))
    used = {form.attributes[0] for form in forms if form.operator == "load"}
    names = set(reader.extents).union(*(form.axes for form in forms))
    tensors = {name: tensor for name, tensor in reader.tensors.items() if name in used or tensor.role == "input"}
    return Specification(
        graph.name, tensors, {axis: reader.extents[base(axis)] for axis in sorted(names)}, outputs, calls,
        tuple(node.name for node in graph.sources("input")), tuple(dict.fromkeys(reader.looked)),
    )


def _loaded(roots: Iterable[Output]) -> set[str]:
    """The tensors that forms read."""
    return {form.attributes[0] for form in walk(*(root.form for root in roots)) if form.operator == "load"}
