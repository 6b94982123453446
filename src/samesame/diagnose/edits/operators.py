"""Edits to an operator as it stands: its numbers, options and operands, where it stands, and whether it should.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from samesame.diagnose.change import (
    Change,
    Hints,
    Made,
    argument_name,
    is_optional,
    numbers,
    packet,
    shown,
    with_argument,
)
from samesame.diagnose.edits.kernels import SETTINGS
from samesame.diagnose.repeated import above, follow, namesake
from samesame.graph import Node, TensorType

EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)

_NOT_NUMBERS = frozenset(["dim", "dim0", "dim1", "dropout_p", "p", "reduction", "start_dim", "end_dim"])


def other_number(node: Node, hints: Hints) -> Iterator[Change]:
    """Another epsilon, scale, window or diagonal: first the numbers the other side gives the same operator."""
    if packet(node) in SETTINGS:
        return
    same = [other for other in hints.others if packet(other) == packet(node)]
    for shown_name, place, value in numbers(node):
        if shown_name in _NOT_NUMBERS:
            continue
        tried = {value}
        pool: list[tuple[int, float, Node | None]] = []
        pool += [(0, v, other) for other in same for _, _, v in numbers(other)]
        pool += [(2, v, other) for other in hints.others for _, _, v in numbers(other) if isinstance(v, float)]
        if isinstance(value, float) and abs(value) < 1e-2:
            pool += [(2, epsilon, None) for epsilon in EPSILONS]
        if isinstance(value, int):
            pool += [(2, value - 1, None), (2, value + 1, None)]
        for cost, candidate, other in pool:
            if candidate in tried or isinstance(candidate, float) != isinstance(value, float):
                continue
            tried.add(candidate)
            yield Change(
                node,
                f"{packet(node)}({shown_name} = {shown(value)}) takes {shown(candidate)}",
                cost,
                lambda n, place=place, candidate=candidate: [with_argument(n, place, candidate)],
                other if cost == 0 else None,
            )


def other_number_throughout(node: Node, hints: Hints) -> Iterator[Change]:
    """One number that a function says in several places, such as the cap in c·tanh(x / c)."""
    if packet(node) in SETTINGS:
        return
    place = (node.origin.file, node.origin.function)
    near = [n for n in hints.graph.nodes if n is not node and place[0] and (n.origin.file, n.origin.function) == place]
    for value in dict.fromkeys(v for _, _, v in numbers(node) if isinstance(v, float)):
        others = tuple(n for n in near if any(v == value and isinstance(v, float) for _, _, v in numbers(n)))
        if not others:
            continue
        pool = dict.fromkeys(v for o in hints.others for _, _, v in numbers(o) if isinstance(v, float) and v != value)
        for candidate in pool:
            yield Change(
                node,
                f"{shown(value)} becomes {shown(candidate)} throughout {node.origin.function}",
                1,
                lambda n, value=value, candidate=candidate: [_with_number(n, value, candidate)],
                twins=others,
                alone=True,
            )


def _with_number(node: Node, value: float, candidate: float) -> Node:
    for _, place, number in list(numbers(node)):
        if number == value and isinstance(number, float):
            node = with_argument(node, place, candidate)
    return node


def other_option(node: Node, hints: Hints) -> Iterator[Change]:
    """An option that the other side gives the same operator and this one does not, or the other way round; a flag
    turned.
    """
    for other in hints.others:
        if other.operator != node.operator:
            continue
        for name in sorted(set(node.kwargs) | set(other.kwargs)):
            mine, yours = node.kwargs.get(name), other.kwargs.get(name)
            if mine == yours or isinstance(mine, Node) or isinstance(yours, Node):
                continue
            given = "its default" if yours is None else str(yours)
            yield Change(
                node,
                f"{packet(node)} takes {given} for {name}",
                0,
                lambda n, name=name, yours=yours: [_with_option(n, name, yours)],
                other,
            )
    flags: list[tuple[str, int | str, bool]] = [
        *((argument_name(node, k), k, value) for k, value in enumerate(node.args) if isinstance(value, bool)),
        *((name, name, value) for name, value in node.kwargs.items() if isinstance(value, bool)),
    ]
    for name, place, value in flags:
        yield Change(
            node,
            f"{packet(node)}({name} = {value}) takes {not value}",
            1,
            lambda n, place=place, value=value: [with_argument(n, place, not value)],
        )


def _with_option(node: Node, name: str, value: Any) -> Node:
    kept = {k: v for k, v in node.kwargs.items() if k != name}
    return replace(node, kwargs=kept if value is None else {**kept, name: value})


ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "gelu": ("aten.gelu.default", {}),
    "gelu_tanh": ("aten.gelu.default", {"approximate": "tanh"}),
    "silu": ("aten.silu.default", {}),
    "relu": ("aten.relu.default", {}),
    "sigmoid": ("aten.sigmoid.default", {}),
    "tanh": ("aten.tanh.default", {}),
}


def other_activation(node: Node, hints: Hints) -> Iterator[Change]:
    """GELU exact or tanh, SiLU, ReLU, …"""
    mine = next(
        (name for name, (op, kw) in ACTIVATIONS.items() if op == node.operator and _same_kwargs(kw, node)), None
    )
    if mine is None:
        return
    used = {other.operator for other in hints.others}
    for name, (operator, kwargs) in ACTIVATIONS.items():
        if name != mine:
            yield Change(
                node,
                f"{mine} becomes {name}",
                0 if operator in used else 1,
                lambda n, operator=operator, kwargs=kwargs: [
                    replace(n, operator=operator, args=n.args[:1], kwargs=kwargs)
                ],
            )


def _same_kwargs(kwargs: dict[str, Any], node: Node) -> bool:
    return bool(kwargs.get("approximate", "none") == node.kwargs.get("approximate", "none"))


COMPARISONS = ("lt", "le", "gt", "ge")


def other_comparison(node: Node, hints: Hints) -> Iterator[Change]:
    """A window or mask off by one."""
    name = packet(node).removeprefix("aten.")
    if name in COMPARISONS:
        overload = node.operator.rsplit(".", 1)[1]
        for other in COMPARISONS:
            if other != name:
                yield Change(
                    node, f"{name} becomes {other}", 1, lambda n, o=other: [replace(n, operator=f"aten.{o}.{overload}")]
                )


ARITHMETIC = {"aten.add": "aten.sub", "aten.sub": "aten.add", "aten.mul": "aten.div", "aten.div": "aten.mul"}


def other_arithmetic(node: Node, hints: Hints) -> Iterator[Change]:
    """Plus for minus, times for divided by."""
    other = ARITHMETIC.get(packet(node))
    if other is not None and node.operator.endswith(".Tensor"):
        yield Change(node, f"{packet(node)} becomes {other}", 2, lambda n: [replace(n, operator=f"{other}.Tensor")])


AXIS_TAKERS = frozenset(
    f"aten.{n}"
    for n in [
        "sum",
        "mean",
        "amax",
        "amin",
        "_softmax",
        "_log_softmax",
        "softmax",
        "log_softmax",
        "cumsum",
        "prod",
        "var",
        "std",
        "flip",
        "roll",
        "cat",
    ]
)


def other_axis(node: Node, hints: Hints) -> Iterator[Change]:
    """A reduction, softmax or scan over another dimension, where the shape stays the same."""
    if packet(node) not in AXIS_TAKERS or not node.inputs or isinstance(node.inputs[0].type, tuple):
        return
    rank = len(node.inputs[0].shape)
    for place, value in enumerate(node.args[1:], 1):
        single = isinstance(value, int) and not isinstance(value, bool)
        listed = isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], int)
        if not single and not listed:
            continue
        now = (value if single else value[0]) % rank
        for dim in range(rank):
            if dim != now:
                fresh: Any = dim if single else (dim,)
                yield Change(
                    node,
                    f"{packet(node)} over dimension {now} goes over dimension {dim}",
                    2,
                    lambda n, place=place, fresh=fresh: [with_argument(n, place, fresh)],
                )
        return


ORDERED = frozenset(
    f"aten.{n}"
    for n in ["sub", "div", "mm", "bmm", "matmul", "where", "cat", "stack", "addmm", "scaled_dot_product_attention"]
)


def other_order(node: Node, hints: Hints) -> Iterator[Change]:
    """Two operands, parts or dimensions swapped."""
    for a, b in combinations(range(len(node.args)), 2):
        x, y = node.args[a], node.args[b]
        if isinstance(x, Node) and isinstance(y, Node) and x is not y and _same_shape(x, y):
            yield Change(
                node,
                f"{packet(node)} takes {x.name} and {y.name} the other way round",
                2,
                lambda n, a=a, b=b: [_swapped(n, a, b)],
            )
    for place, value in enumerate(node.args):
        if isinstance(value, tuple) and 2 <= len(value) <= 6:
            for a, b in combinations(range(len(value)), 2):
                if value[a] != value[b] and type(value[a]) is type(value[b]):
                    yield Change(
                        node,
                        f"{packet(node)}: entries {a} and {b} of its list swapped",
                        2,
                        lambda n, place=place, a=a, b=b: [with_argument(n, place, _exchanged(n.args[place], a, b))],
                    )


def _same_shape(a: Node, b: Node) -> bool:
    return isinstance(a.type, TensorType) and isinstance(b.type, TensorType) and a.type.shape == b.type.shape


def _swapped(node: Node, a: int, b: int) -> Node:
    args = list(node.args)
    args[a], args[b] = args[b], args[a]
    return replace(node, args=tuple(args))


def _exchanged(entries: tuple[Any, ...], a: int, b: int) -> tuple[Any, ...]:
    listed = list(entries)
    listed[a], listed[b] = listed[b], listed[a]
    return tuple(listed)


def other_operand(node: Node, hints: Hints) -> Iterator[Change]:
    """The operator reads the wrong tensor: a residual before instead of after the norm, the wrong half, keys for
    values.
    """
    graph = hints.graph
    position = graph.nodes.index(node)
    reachable = list(above(node, graph))
    reached = {other for _, other in reachable}
    for place, value in enumerate(node.args):
        if not isinstance(value, Node) or isinstance(value.type, tuple):
            continue
        found: list[tuple[Node, Callable[[Node], Node | None], bool]] = [
            (other, lambda original, way=way: follow(way, original, graph), False)
            for way, other in reachable
            if other is not value and not other.is_source and alike(other, value)
        ]
        if value.operator == "parameter":
            found += [
                (w, lambda o, w=w, v=value, p=place: namesake(w, v, o.args[p], graph), False)
                for w in graph.sources("parameter")
                if w is not value and alike(w, value)
            ][:8]
        else:
            nearby = [n for n in hints.agreeing if n is not value and n not in reached and alike(n, value)]
            earlier = [n for n in nearby if n in graph.nodes[:position]]
            found += [(other, lambda original, other=other: other, True) for other in earlier[-8:]]
        for other, there, alone in found:
            yield Change(
                node,
                f"{packet(node)} reads {_called(other)} instead of {_called(value)}",
                3,
                lambda n, place=place, there=there: [_reading(n, place, there(graph[n.name]))],
                alone=alone,
            )


def _reading(node: Node, place: int, other: Node | None) -> Node:
    """The node with another operand; unchanged where there is none such."""
    return node if other is None else with_argument(node, place, other)


def steps_too_many(node: Node, hints: Hints) -> Iterator[Change]:
    """Several operators in a row should not be there, such as a norm."""
    for way, other in above(node, hints.graph):
        if len(way.steps) > 1 and isinstance(node.type, TensorType) and alike(other, node):
            yield Change(
                node,
                f"what lies between {_called(other)} and this {packet(node)}, and it, is left out",
                3,
                lambda n, way=way: [instead(n, follow(way, hints.graph[n.name], hints.graph))],
            )


def instead(node: Node, other: Node | None) -> Node:
    """The other tensor in the place of this one."""
    return node if other is None else replace(node, operator="aten.alias.default", args=(other,), kwargs={})


def steps_swapped(node: Node, hints: Hints) -> Iterator[Change]:
    """Two operators in the other order, such as an epsilon added outside the root."""
    for place in range(len(node.args)):
        if _other_way_round(node, place) is not None:
            yield Change(
                node,
                f"{packet(node)} comes before {packet(node.args[place])} instead of after it",
                2,
                lambda n, place=place: _other_way_round(n, place) or [n],
            )


def _other_way_round(node: Node, place: int) -> Made | None:
    """The operator applied to what its operand is made from, and the operand's operator to that; where shapes allow."""
    inner = node.args[place]
    if not isinstance(inner, Node) or inner.is_source or not inner.args or not alike(inner, node):
        return None
    below = inner.args[0]
    if not isinstance(below, Node) or not alike(below, inner):
        return None
    first = replace(with_argument(node, place, below), name=f"{node.name}_first")
    return [first, replace(with_argument(inner, 0, first), name=node.name)]


def operand_too_many(node: Node, hints: Hints) -> Iterator[Change]:
    """An operand that need not be given, such as a bias, is one too many."""
    for place, value in enumerate(node.args):
        if isinstance(value, Node) and is_optional(node, place):
            yield Change(
                node,
                f"{packet(node)} does without {_called(value)}",
                1,
                lambda n, place=place: [with_argument(n, place, None)],
            )


def alike(a: Node, b: Node) -> bool:
    """The same shape and kind of number."""
    if not isinstance(a.type, TensorType) or not isinstance(b.type, TensorType):
        return False
    kinds = ["float" in a.type.dtype, "float" in b.type.dtype]
    return a.type.shape == b.type.shape and (all(kinds) or a.type.dtype == b.type.dtype)


def _called(node: Node) -> str:
    """A tensor as the user knows it: an input or weight by name, anything else by the line that makes it."""
    if node.is_source:
        return node.origin.parameter or node.name
    if node.operator == "getitem":
        return f"result {node.args[1]} of {packet(node.args[0])} at {node.origin}"
    return f"what {packet(node)} makes at {node.origin}"


def one_too_many(node: Node, hints: Hints) -> Iterator[Change]:
    """The operator should not be there."""
    for k, value in enumerate(node.inputs[:2]):
        if isinstance(node.type, TensorType) and _same_shape(value, node):
            rest = [_called(other) for other in node.inputs if other is not value]
            yield Change(
                node,
                f"{packet(node)}{' with ' + rest[0] if rest else ''} is left out",
                1,
                lambda n, k=k: [instead(n, n.inputs[min(k, len(n.inputs) - 1)])],
            )


def other_arrangement(node: Node, hints: Hints) -> Iterator[Change]:
    """Dimensions taken in another order before a reshape, or heads that are not put back in their place."""
    if packet(node) in ("aten.transpose", "aten.permute", "aten.t"):
        yield Change(node, f"{packet(node)} is left out", 1, lambda n: [instead(n, n.inputs[0])])
        yield from other_order(node, hints)


def results_swapped(node: Node, hints: Hints) -> Iterator[Change]:
    """The pieces of a split taken in another order."""
    if not isinstance(node.type, tuple) or not packet(node).startswith(("aten.split", "aten.unbind", "aten.chunk")):
        return
    for a, b in combinations(range(len(node.type)), 2):
        if node.type[a] == node.type[b]:
            yield Change(
                node, f"results {a} and {b} of {packet(node)} swapped", 2, lambda n, a=a, b=b: _swapped_results(n, a, b)
            )


def _swapped_results(node: Node, a: int, b: int) -> Made:
    """Split, put the pieces together in the other order, split again."""
    assert isinstance(node.type, tuple)
    first = replace(node, name=f"{node.name}_before")
    order = list(range(len(node.type)))
    order[a], order[b] = b, a
    pieces = [Node(f"{node.name}_piece{k}", "getitem", (first, k), {}, node.type[k], node.origin) for k in order]
    dim = (
        node.args[2]
        if len(node.args) > 2
        else node.args[1]
        if packet(node) == "aten.unbind" and len(node.args) > 1
        else 0
    )
    join = "aten.stack.default" if packet(node) == "aten.unbind" else "aten.cat.default"
    whole = Node(f"{node.name}_joined", join, (tuple(pieces), dim), {}, node.inputs[0].type, node.origin)
    return [first, *pieces, whole, with_argument(node, 0, whole)]
