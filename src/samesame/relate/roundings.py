"""How far a stored number may lie from the formula that it is a rounding of.

A number that was worked out and stored in some dtype is off for two reasons: storing it rounds once, by half a unit in
the last place, and so did every operator before that. `worked_out` computes a formula in float64 and, beside each
element, how far rounding may have carried it: what its arguments may be off by, as far as that shows in the result
(tried at the ends of their ranges, since the operators here are monotone or linear in each), and one rounding of the
result itself. + − × ÷ √ round once, other functions are right to within two units, as libraries promise. For a sum that
bound says far more than ever happens, so it is measured: twice the worst error of the sum in the stored dtype, worked
out in two orders. What lies between that and the bound (`surely`) is shown neither to be a rounding nor to be none.
Orders of factors and places of brackets need no case of their own: each gives the same bound, up to terms of second
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch

from samesame.graph import Graph, Node, map_nodes
from samesame.operators.execute import pure, rerun, resolve
from samesame.relate.buffers import content
from samesame.relate.joint import BIJECTIVE, IDENTITIES


def aten(names: str) -> frozenset[str]:
    return frozenset("aten." + name for name in names.split())


EXACT = BIJECTIVE | IDENTITIES | aten(
    """abs arange broadcast_to cat chunk constant_pad_nd copy diag embedding expand expand_as eye flip full full_like
    index index_select narrow neg new_full new_ones new_zeros ones ones_like relu repeat repeat_interleave roll
    scalar_tensor select select_scatter slice slice_scatter split split_with_sizes stack tril triu unbind view_as where
    zeros zeros_like"""
)
ONCE = aten("add div mul reciprocal rsub sqrt sub")
FUNCTIONS = aten(
    "atan cos cosh erf exp exp2 expm1 log log10 log1p log2 pow rsqrt sigmoid sin sinh softplus square tan tanh"
)
CONTRACTIONS = aten("bmm dot matmul mm mv vdot")
SUMS = aten("mean sum")
NORMS = aten("_weight_norm_interface linalg_vector_norm norm")
_WITHIN = 2.0               # units in the last place that a library's function may be off
_LEAST = 2.0                # roundings that a sum counts for at the least
_TWICE = 2.0


class Unbounded(Exception):
    """An operator of which nothing is known here; the message names it."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """A formula's elements in float64, how far each may be off where it is worked out in the stored dtype, in absolute
    terms, and how many operators round."""

    value: torch.Tensor
    error: torch.Tensor
    roundings: int


def units(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The unit in the last place of each number (float64) in a dtype: the distance of its neighbours there."""
    finest = torch.finfo(dtype)
    _, exponent = torch.frexp(value.abs())
    unit = torch.ldexp(torch.full_like(value, finest.eps), exponent - 1)
    return torch.where(value == 0, 0.0, unit).clamp(min=finest.smallest_normal * finest.eps)


def worked_out(
    root: Node, graph: Graph, known: Mapping[str, Any], dtype: torch.dtype, *, surely: bool = False
) -> Rounded:
    """A formula over sources of a graph, whose float64 values are `known` by name, where `dtype` rounds. `surely` no
    sum is off by more than is said, in whatever order it is taken.

    Raises Unbounded where an operator of it is not known here, and SamesameError where one fails.
    """
    done: dict[Node, Any] = {}
    rounding = torch.finfo(dtype).eps / 2
    count = 0
    for node in cone(root):
        if node.is_source:
            value = known[node.name]
            if not isinstance(value, torch.Tensor):
                raise Unbounded(node.operator)
            done[node] = value, torch.zeros_like(value, dtype=torch.float64)
        elif node.operator == "getitem":
            value, error = done[node.args[0]]
            done[node] = value[node.args[1]], error[node.args[1]]
        else:
            step = _Step(node, graph, done, rounding, dtype, surely)
            done[node] = step.value, step.error()
            count += packet(node) not in EXACT
    value, error = done[root]
    return Rounded(value, error, count)


def cone(root: Node) -> list[Node]:
    """What a node is made of and itself, each after what it reads."""
    found: dict[Node, None] = {}
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            found[node] = None
        elif node not in found:
            stack.append((node, True))
            stack += [(part, False) for part in reversed(node.inputs) if part not in found]
    return list(found)


def spelled(root: Node, graph: Graph) -> tuple[Any, ...]:
    """A formula as it is written, with the sizes and the constants in it; its nodes may have other names."""
    parts = {node: k for k, node in enumerate(cone(root))}
    return tuple((node.operator, node.type, map_nodes(parts.__getitem__, node.args),
                  tuple((key, map_nodes(parts.__getitem__, value)) for key, value in node.kwargs.items()),
                  content(graph.tensors[node.name]) if node.operator == "constant" else None) for node in parts)


def packet(node: Node) -> str:
    """The operator without its overload."""
    return node.operator.rsplit(".", 1)[0]


class _Step:
    """One operator on values that are known up to errors."""

    def __init__(
        self, node: Node, graph: Graph, done: Mapping[Node, Any], rounding: float, dtype: torch.dtype, surely: bool
    ) -> None:
        self.node, self.graph, self.done, self.rounding, self.dtype = node, graph, done, rounding, dtype
        self.surely = surely
        self.parts = tuple(dict.fromkeys(node.inputs))
        self.value = self.at({})

    def at(self, instead: Mapping[Node, torch.Tensor]) -> Any:
        """The result, with other values in place of those that are known."""
        known = {part.name: instead.get(part, self.done[part][0]) for part in self.parts}
        return rerun(self.graph, {}, known, [self.node])[self.node.name]

    def errors(self) -> dict[Node, torch.Tensor]:
        """The arguments that may be off, and by how much."""
        errors = ((part, self.done[part][1]) for part in self.parts)
        return {part: error for part, error in errors if isinstance(error, torch.Tensor) and bool((error > 0).any())}

    def error(self) -> Any:
        name = packet(self.node)
        if name in EXACT:
            return self.spread()
        if not isinstance(self.value, torch.Tensor) and name not in NORMS:
            raise Unbounded(name)
        if name in ONCE:
            return self.spread() + self.literals() + self.rounding * self.value.abs()
        if name in FUNCTIONS:
            return self.spread() + self.literals() + _WITHIN * 2 * self.rounding * self.value.abs()
        if name in CONTRACTIONS | SUMS:
            return self.summed()
        if name in NORMS:
            return self.normed()
        raise Unbounded(name)

    def spread(self) -> Any:
        """How far the result moves when each argument moves to either end of its range."""
        errors = self.errors()
        if not errors:
            return _zeros(self.value)
        worst: Any = _zeros(self.value)
        for signs in product((1, -1), repeat=len(errors)):
            moved = {part: self.done[part][0] + sign * error
                     for sign, (part, error) in zip(signs, errors.items(), strict=True)}
            worst = _larger(worst, self.at(moved), self.value)
        return worst

    def literals(self) -> torch.Tensor:
        """What comes of numbers beside tensors being rounded too, and of `alpha` being a factor more."""
        rounded = [torch.tensor(a, dtype=self.dtype).item() if isinstance(a, float) else a for a in self.node.args]
        there = replace(self.node, args=tuple(rounded))
        found = rerun(self.graph, {}, {part.name: self.done[part][0] for part in self.parts}, [there])[there.name]
        assert isinstance(found, torch.Tensor)
        moved: torch.Tensor = (found - self.value).abs()
        if "alpha" in self.node.kwargs or len(self.node.args) > 2:
            first = self.done[self.node.inputs[0]][0]
            moved = moved + self.rounding * (self.value - first).abs()
        return moved

    def summed(self) -> torch.Tensor:
        """|a|·|b| is what the rounding of a sum of products is measured by, and its arguments' errors go through it."""
        sizes = {part: self.done[part][0].abs() for part in self.parts}
        size: torch.Tensor = self.at(sizes)
        carried = self.at({part: sizes[part] + self.done[part][1] for part in self.parts}) - size
        result: torch.Tensor = carried + self.times() * self.rounding * size
        return result

    def times(self) -> float:
        """How many roundings the sum counts for."""
        if self.surely:
            return self.terms() + 1
        size = self.at({part: self.done[part][0].abs() for part in self.parts})
        worst = 0.0
        for turned in (False, True):
            narrow = {part: self.done[part][0].to(self.dtype) for part in self.parts}
            exact = self.at({part: value.double() for part, value in narrow.items()})
            found = _in_own(self.node, narrow, turned)
            gap = (found.double() - exact).abs() / (self.rounding * size).clamp(min=1e-300)
            worst = max(worst, float(gap.max()) if gap.numel() else 0.0)
        return max(_LEAST, _TWICE * worst)

    def terms(self) -> float:
        """How many products or numbers each element adds up."""
        if packet(self.node) in SUMS:
            number: float = self.done[self.parts[0]][0].numel() / max(1, self.value.numel())
            return number
        ones: torch.Tensor = self.at({part: torch.ones_like(self.done[part][0]) for part in self.parts})
        return float(ones.max()) if ones.numel() else 0.0

    def normed(self) -> Any:
        """A norm is off by half of what its sum of squares is, relative to itself; what is divided by it, too. And it
        moves by no more than the norm of what its argument moves by."""
        errors = self.errors()
        if errors and (not isinstance(self.value, torch.Tensor) or not self.is_convex()):
            raise Unbounded(packet(self.node))
        longest = max(self.done[part][0].numel() for part in self.parts)
        share = (4 + (longest if self.surely else _TWICE * longest**0.5) / 2) * self.rounding
        if isinstance(self.value, torch.Tensor):
            return self.value.abs() * share + (self.at(errors) if errors else 0.0)
        return tuple(value.abs() * share for value in self.value)

    def is_convex(self) -> bool:
        """Is the norm of an order for which the triangle inequality holds?"""
        order = self.node.args[1] if len(self.node.args) > 1 else 2
        return isinstance(order, int | float) and order >= 1


def _in_own(node: Node, narrow: Mapping[Node, torch.Tensor], turned: bool) -> torch.Tensor:
    """The sum as torch works it out in the dtype of its arguments; `turned`, from its other end."""
    def given(part: Node) -> Any:
        return _Given(narrow[part])

    args = [value.tensor if isinstance(value, _Given) else value for value in map_nodes(given, node.args)]
    if turned and packet(node) in CONTRACTIONS and len(args) == 2:
        args = [args[0].flip(-1), args[1].flip(-2 if args[1].dim() > 1 else 0)]
    args = [list(value) if isinstance(value, tuple) else value for value in args]
    found = pure(resolve(node.operator))(*args)
    assert isinstance(found, torch.Tensor)
    return found


@dataclass(frozen=True, slots=True)
class _Given:
    tensor: torch.Tensor


def _zeros(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value, dtype=torch.float64)
    return tuple(map(_zeros, value))


def _larger(worst: Any, moved: Any, value: Any) -> Any:
    """The worst so far, and how far the moved result lies from the value, whichever is larger, element by element."""
    if isinstance(value, torch.Tensor):
        gap = (moved.double() - value.double()).abs()
        if not bool(torch.isfinite(gap).all()):
            raise Unbounded("a value at the end of its range")
        return torch.maximum(worst, gap)
    return tuple(_larger(*parts) for parts in zip(worst, moved, value, strict=True))

