"""Labels that a loss may ignore: a claim about them, as one about classes and about which of them are ignored.

A loss has a value for labels of two kinds: classes, and the one negative number that it ignores. Who computes it by
hand asks for either: whether a label is that number, or whether it is one of the classes that a rank has. That these
are one another's contrary is known of labels that the loss itself has, and all of them. So the claim is asked once more
with what takes on just these numbers in the labels' place: −100 where they are ignored, a class where not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from samesame.formula.assumptions import Assumption, Said
from samesame.formula.sizes import size_text
from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators.demands import Range, is_integer
from samesame.relate.blocks import Block, key_of
from samesame.relate.domain import ignorable


def classes_or_ignored(claim: Block) -> Block | None:
    """The claim for labels that are classes or ignored; None where no loss says what its labels are."""
    found = {name: told for name, told in ignorable(claim.graph).items() if name not in claim.ranges}
    if not found:
        return None
    made, free = dict[Node, Node](), dict[str, int]()
    ranges, granted = dict[str, Range](claim.ranges), list[Assumption]()

    def nodes() -> Iterator[Node]:
        for node in claim.graph.nodes:
            if node.operator == "input" and node.name in found and is_integer(node):
                number, last = found[node.name]
                label = Node(f"{node.name} class", "input", type=node.type)
                ignored = Node(f"{node.name} ignored", "input", type=TensorType(node.shape, "bool"))
                free.update({label.name: claim.frontier[node.name], ignored.name: claim.frontier[node.name]})
                ranges[label.name] = 0, last
                told = f"{{}} holds classes from 0 to {size_text(last)}, or −{-number}, which a loss ignores"
                granted.append(Said("labels", told, (label.name,)))
                yield from (label, ignored)
                made[node] = Node(node.name, "aten.where.ScalarSelf", (ignored, number, label), type=node.type)
            else:
                args, kwargs = (map_nodes(made.__getitem__, part) for part in (node.args, tuple(node.kwargs.items())))
                made[node] = replace(node, args=args, kwargs=dict(kwargs))
            yield made[node]

    every = tuple(nodes())
    roots = tuple((name, made[root]) for name, root in claim.graph.roots)
    graph = Graph(claim.graph.name, every, roots, claim.graph.tensors)
    kept = {name: term for name, term in claim.frontier.items() if name not in found}
    return replace(claim, graph=graph, key=key_of(graph, ranges), frontier={**kept, **free}, ranges=ranges,
                   free=claim.free | frozenset(free), granted=(*claim.granted, *granted))
