"""Flips: what comes out otherwise where rounding decides a comparison.

A rank, a choice and a mask are integers that hang on comparisons of reals. Where two of these lie nearer to one another
than rounding may move them, any other order of a sum may decide otherwise, and so may the program itself on another
processor. Which elements these are is tried: the float64 run is made some times more, from the first operator that
decides on, and each that does is given what it reads with errors as large as the contract allows, at random. Those
errors are of rounding alone: what a step makes of an error (1, where a number is rounded to the next integer) is tried
here, and added to none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import rerun
from samesame.optimize.rounding import called
from samesame.report.optimized import C

RUNS = 16                                                  # in which a tie of two is decided otherwise but for 10⁻⁴
STEPS = frozenset((                                        # reals that jump
    "round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "frac", "fmod", "remainder", "floor_divide", "heaviside",
))


def is_step(node: Node) -> bool:
    """Does the operator make something of reals that jumps?"""
    return called(node) in STEPS or node.kwargs.get("rounding_mode") is not None


def decides(node: Node) -> bool:
    """Is it a step, or are there integers that it makes of reals?"""
    reads = any(_is_real(type_) for part in node.inputs for type_ in _types(part))
    return reads and (is_step(node) or not all(map(_is_real, _types(node))))


def undecided(graph: Graph) -> list[Node]:
    """What hangs on such operators, and these, in order."""
    found: dict[Node, None] = {}
    for node in graph.nodes:
        if (not node.is_source and node.operator != "getitem" and decides(node)) or not found.keys().isdisjoint(
                node.inputs):
            found[node] = None
    return list(found)


def flips(
    graph: Graph, nodes: Sequence[Node], known: Mapping[str, Any], errors: Mapping[str, Any],
    generator: torch.Generator,
) -> list[torch.Tensor]:
    """For each output, whose elements are `known`: of reals, how far a run takes each element. Of integers, between
    which each lies: from itself to itself where all runs agree, and else from the least of all runs to the largest."""
    exact = [known[node.name] for _, node in graph.roots]
    reached = [torch.zeros_like(value) if value.is_floating_point() else torch.zeros_like(value, dtype=torch.bool)
               for value in exact]
    ends = [value.long().aminmax() if value.numel() and not value.is_floating_point() else None for value in exact]
    for run in _runs(graph, nodes, known, errors, generator):
        for number, (value, (_, root)) in enumerate(zip(exact, graph.roots, strict=True)):
            other, both = run[root.name], ends[number]
            if value.is_floating_point():
                reached[number] = torch.maximum(reached[number], (other - value).abs().nan_to_num(0.0))
            elif both is not None:
                reached[number] |= other != value
                ends[number] = torch.stack([*both, *other.long().aminmax()]).aminmax()
    return [hung if value.is_floating_point() else
            torch.stack([torch.where(hung, end, value.long()) for end in both or (value.long(), value.long())])
            for value, hung, both in zip(exact, reached, ends, strict=True)]


def _runs(
    graph: Graph, nodes: Sequence[Node], known: Mapping[str, Any], errors: Mapping[str, Any],
    generator: torch.Generator,
) -> Iterator[Mapping[str, Any]]:
    def shaken(value: torch.Tensor, error: torch.Tensor) -> torch.Tensor:
        drawn = 2 * torch.rand(value.shape, generator=generator, dtype=torch.float64) - 1
        return value + C * drawn * error.nan_to_num(0.0, 0.0, 0.0)

    for _ in range(RUNS if nodes else 0):
        now = dict(known)
        for node in nodes:
            moved = {part.name: shaken(now[part.name], error) for part in node.inputs
                     if decides(node) and isinstance(error := errors.get(part.name), torch.Tensor)}
            now[node.name] = rerun(graph, {}, {**now, **moved}, [node])[node.name]
        yield now


def _types(node: Node) -> tuple[TensorType, ...]:
    return node.type if isinstance(node.type, tuple) else (node.type,)


def _is_real(type_: TensorType) -> bool:
    return bool(getattr(torch, type_.dtype).is_floating_point)
