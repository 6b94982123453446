"""At infinity: a claim in which tensors of its frontier are −∞ or +∞ wherever a mask says so.

A proof is about real numbers. A tensor in the middle of two programs may hold −∞ all the same, put there by a mask, and
stands in a proof as if it were a number: e^h to the power of p is e^(p·h) for all numbers, and at h = −∞ for p > 0
alone. So where a tensor at the frontier may be infinite, the claim is proved once more with any mask in front of it:
`h` becomes `h.masked_fill(m, −∞)` with `h` and `m` free, and what the laws of formulas know of −∞ decides. With a mask
that is false throughout it is the claim itself, so that nothing else has to be proved beside it.

No law says what ∞·w is for a weight that may be 0, and none has to where both sides are written alike: sums of products
in another order, of operators that compute what their formula says whatever they are given. (A softmax is none: its
formula does not take the maximum away.)

The example need not show it: its masks may hide nothing, its numbers be of one sign. So it is told from the operators
that make a tensor whether it may be infinite with any masks and any numbers (infinities.py). The example is asked only
for what these do not tell: whether it holds a NaN, and what operators without a formula make of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from samesame.formula.alike import alike, in_parts
from samesame.formula.expr import Unsupported
from samesame.formula.spans import ABOVE, BELOW, INFINITE, Spans
from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators.execute import is_finite
from samesame.operators.table import movements, packet
from samesame.relate.blocks import Block, key_of
from samesame.relate.infinities import lying
from samesame.relate.joint import IDENTITIES
from samesame.relate.meanings import meanings

FILLS = {"aten.isneginf.default": -math.inf, "aten.isposinf.default": math.inf}      # by the operator that tells where
SPANS = {"aten.isneginf.default": BELOW, "aten.isposinf.default": ABOVE}


LITERAL = frozenset(f"aten.{name}" for name in (
    "add", "sub", "rsub", "mul", "neg", "sum", "mean", "linear", "addmm", "mm", "mv", "dot", "bmm", "baddbmm", "matmul",
    "einsum", "relu", "masked_fill", "where", "exp", "sigmoid", "tanh", "index", "index_select", "gather", "embedding"))


def is_written_alike(claim: Block) -> bool:
    """Whether both sides are one formula but for the order of terms, and how many sums these are in, of operators that
    compute just that."""
    computed = {packet(node.operator) for node in claim.graph.nodes if not node.is_source}
    if not computed <= LITERAL | IDENTITIES | movements():
        return False
    try:
        left, right = meanings(claim)
        indices, element = left.element()
        return left.shape == right.shape and alike(in_parts(element), in_parts(right[indices]))
    except (Unsupported, RecursionError):
        return False


def infinite(
    claim: Block, spans: Mapping[str, Spans], values: Mapping[str, torch.Tensor]
) -> dict[str, tuple[str, ...]]:
    """Which infinities variables of the claim may hold, by name, where they lie in these spans, and in the example have
    these values: the operators that tell where. Those that are finite are left out. There are none for one with a NaN
    in it, of which no formula speaks, and for complex numbers."""
    found = dict[str, tuple[str, ...]]()
    for node in claim.graph.sources("input"):
        assert isinstance(node.type, TensorType), "a variable is one tensor"
        value, lies = values.get(node.name), spans[node.name]
        here = None if value is None or is_finite(value) else value
        if here is None and not lies & INFINITE:
            continue
        lies |= frozenset() if here is None else lying(here)
        unsaid = node.type.dtype.startswith("complex") or (here is not None and bool(here.isnan().any()))
        found[node.name] = () if unsaid else tuple(name for name, span in SPANS.items() if span in lies)
    return found


def masked(claim: Block, infinities: Mapping[str, tuple[str, ...]]) -> tuple[Block, dict[str, tuple[str, str]]]:
    """The claim with masks in front of these variables; and the masks' names, each with its variable and the operator
    that tells where it is true."""
    masks = dict[str, tuple[str, str]]()
    made = dict[Node, Node]()

    def nodes() -> Iterator[Node]:
        for node in claim.graph.nodes:
            args, kwargs = (map_nodes(made.__getitem__, part) for part in (node.args, tuple(node.kwargs.items())))
            made[node] = last = replace(node, args=args, kwargs=dict(kwargs))
            yield last
            for operator in infinities.get(node.name, ()):
                assert isinstance(node.type, TensorType), "what holds an infinity is a tensor"
                mask = Node(f"{last.name} m", "input", type=replace(node.type, dtype="bool"))
                masks[mask.name] = node.name, operator
                made[node] = last = Node(f"{last.name} f", "aten.masked_fill.Scalar", (last, mask, FILLS[operator]),
                                         type=node.type)
                yield from (mask, last)

    every = tuple(nodes())
    roots = tuple((name, made[root]) for name, root in claim.graph.roots)
    graph = Graph(claim.graph.name, every, roots, claim.graph.tensors)
    return replace(claim, graph=graph, key=key_of(graph, claim.ranges)), masks
