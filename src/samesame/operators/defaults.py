"""Defaults that depend on a dtype, written out as numbers.

Proofs and float64 runs do not keep real dtypes apart, so an epsilon that torch takes from the dtype of its input must
stand in the graph before either looks at it: without one, `rms_norm` of float32 adds 2⁻²³.
"""

from __future__ import annotations

from dataclasses import replace

from samesame.evidence import Refused
from samesame.graph import Graph, Node, TensorType, rewritten
from samesame.operators.explain import EPSILON, EPSILON_ARGUMENT
from samesame.operators.pieces import in_one_piece


def with_defaults(graph: Graph) -> Graph:
    """The same program with each such default given, and in one piece what torch takes apart (`pieces`); the graph
    itself where there is nothing to do.

    Raises Refused where torch's kernels disagree about the default of a dtype.
    """
    graph = in_one_piece(graph)
    if not any(map(_lacks_epsilon, graph.nodes)):
        return graph
    return rewritten(graph, lambda _, node: [_with_epsilon(node) if _lacks_epsilon(node) else node])


def _with_epsilon(node: Node) -> Node:
    args = node.args[: EPSILON_ARGUMENT[node.operator]]
    return replace(node, args=args, kwargs={**node.kwargs, "eps": _epsilon(node)})


def _lacks_epsilon(node: Node) -> bool:
    place = EPSILON_ARGUMENT.get(node.operator)
    return place is not None and node.args[place:] in ((), (None,)) and node.kwargs.get("eps") is None


def _epsilon(node: Node) -> float:
    kind = node.inputs[0].type
    found = EPSILON.get(kind.dtype) if isinstance(kind, TensorType) else None
    if found is None:
        raise Refused(
            f"{node.origin.spoken} leaves the epsilon of rms_norm to its kernel, "
            f"and kernels disagree about it for {kind}; give eps a number"
        )
    return found
