"""Named numbers: integers that a program tells from all others, drawn even if the example has none of them.

A program that compares labels with −100, or tokens with the number of a pad, does something else there, and an example
without them does not show what. A loss has such a number of its own, `ignore_index`. So both programs also run on the
example with some of its integers replaced by the numbers that either side names. Where they part, and one of them
compares with such a number itself, they are different programs; where only losses do, the answer holds for inputs
without that number, and its headline says so. The gradient of a loss compares labels too, in the operators that it is
written in: that is the loss, not the program. A number for which either side fails is in no program's domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from samesame.graph import Graph, Node
from samesame.operators.kept import Over
from samesame.operators.table import packet
from samesame.relate.domain import LOSSES, ignored, inputs_in
from samesame.relate.draws import Draw, Extremes, agree_at_roots, run_both
from samesame.relate.extremes import COMPARING

SHARE = 0.3                 # of the elements that are replaced
INTEGERS = frozenset((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))
Named = dict[int, bool]     # numbers, and whether a program compares with them itself


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of numbers that programs name: a draw on which they part though one compares with the number itself;
    and conditions: what an answer is `without` at any rate, and what it is if a proof took labels for classes."""

    apart: Extremes = field(default_factory=Extremes)
    without: tuple[str, ...] = ()
    of_classes: tuple[str, ...] = ()


def named_numbers(graph: Graph) -> dict[str, Named]:
    """The numbers with which the graph compares elements of its integer inputs, by the input's name."""
    found: dict[str, Named] = {}
    losses = {(*_line(node), ignored(node)) for node in graph.nodes if packet(node.operator) in LOSSES}
    for node in graph.nodes:
        for tensor, number, compares in _asked(graph, node):
            itself = compares and not (node.origin.file and (*_line(node), number) in losses)
            for source in inputs_in(tensor):
                if graph.tensors[source.name].dtype in INTEGERS:
                    known = found.setdefault(source.name, {})
                    known[number] = known.get(number, False) or itself
    return found


def _line(node: Node) -> tuple[str, int]:
    """Where a node is written; a derivative stands where that is written which it is a derivative of."""
    return node.origin.file, node.origin.line


def _asked(graph: Graph, node: Node) -> Iterator[tuple[Node, int, bool]]:
    """Tensors whose elements the operator compares with a number, and whether it is no loss."""
    if packet(node.operator) in LOSSES:
        yield node.args[1], ignored(node), False
    elif packet(node.operator) in COMPARING:
        for tensor, other in (node.args[:2], node.args[1::-1]):
            number = _number(graph, other)
            if isinstance(tensor, Node) and number is not None:
                yield tensor, number, True


def _number(graph: Graph, other: object) -> int | None:
    if isinstance(other, Node) and other.operator == "constant" and graph.tensors[other.name].dim() == 0:
        other = graph.tensors[other.name].item()
    return other if isinstance(other, int) and not isinstance(other, bool) else None


def with_named_numbers(graphs: tuple[Graph, Graph], example: Draw, seed: int) -> Tried:
    """Both programs on the example with numbers that either of them names, one input at a time; the inputs are the
    left's on both sides, in order."""
    sources = [graph.sources("input") for graph in graphs]
    numbers: dict[str, Named] = {}
    for graph, own in zip(graphs, sources, strict=True):
        names = {node.name: left.name for node, left in zip(own, sources[0], strict=True)}
        for name, named in named_numbers(graph).items():
            known = numbers.setdefault(names[name], {})
            known.update({number: known.get(number, False) or itself for number, itself in named.items()})
    theirs = {mine.name: yours.name for mine, yours in zip(*sources, strict=True)}
    without, of_classes = list[str](), list[str]()
    for name, number, itself in [(name, *asked) for name, named in numbers.items() for asked in named.items()]:
        fresh = _drawn(example, name, theirs[name], number, seed)
        runs = None if fresh is None else run_both(graphs, fresh)      # none where a lookup fails, say
        if fresh is None or runs is None:
            continue
        agreeing = agree_at_roots(graphs, runs)
        if itself and not agreeing:
            return Tried(Extremes(draw=fresh, values=runs))
        if not itself:
            told = f"if no element of {graphs[0][name].origin.parameter or name} is {number}"
            (of_classes if agreeing else without).append(told)
    return Tried(Extremes(), tuple(without), tuple(of_classes))


def _drawn(example: Draw, mine: str, yours: str, number: int, seed: int) -> Draw | None:
    """The example with some elements of an input replaced; None where it has the number, or cannot hold it."""
    value = example.left[mine]
    limits = torch.iinfo(value.dtype)
    if not value.numel() or not limits.min <= number <= limits.max or bool((value == number).any()):
        return None
    chosen = torch.rand(value.shape, generator=torch.Generator().manual_seed(seed)) < SHARE
    chosen.view(-1)[seed % chosen.numel()] = True
    changed = torch.where(chosen, torch.tensor(number, dtype=value.dtype), value)
    return Draw(f"{number} in {mine}", Over({mine: changed}, example.left),
                Over({yours: changed}, example.right))
