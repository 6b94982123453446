"""Generalise: the claim of a block for all sizes at once.

Every size in a block, in a shape or an argument, becomes a symbol or a polynomial over symbols, so that a proof of the
general block is a rule that closes the same gap in layers, batches and models of other sizes. Which sizes belong
together is read off the operators: a reshape of [B, T, 64] to [B, T, 4, 16] says 64 = 4·16, a slice of the first 8 of
16 says 16 = 8 + 8. Sizes that are equal by chance become one symbol, which makes the rule narrower, never wrong: what
a general block claims is proved as it stands, and the block it came from is its instance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

from samesame.formula.assumptions import Assumption, simplified
from samesame.formula.expr import Expr, Load, Size, Unsupported, add, const, mul, power
from samesame.formula.sizes import canonical, replaced, symbols
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node, TensorType
from samesame.graph.text import variable
from samesame.operators.demands import Range
from samesame.operators.explain import bind
from samesame.operators.movement import groups
from samesame.operators.opaque import schema_of
from samesame.operators.shapes import same_size
from samesame.operators.table import packet

LEAST = 2
HUGE = 1 << 40                                             # no size: 2⁶³ − 1 means "to the end"
ARGUMENT = re.compile(r"(\w+)(?:\[\d*\])?\??(?:\[\d*\])?\??\s(\w+)")    # a declared argument: kind, name
KINDS = {"SymInt": "size", "Scalar": "number", "float": "number", "Tensor": "number"}
RANGES = ("aten.arange",)                                  # their numbers are sizes
PLAIN = (0.0, 0.5, 1.0, 2.0)                               # numbers that are no model's choice
NOT_SIZES = ("dim", "dims", "index", "step", "stride", "padding", "dilation", "output_padding", "groups", "shifts")
ROOTS = (Fraction(1), Fraction(-1), Fraction(-1, 2))       # a scalar is often this power of a size
RESHAPES = frozenset(f"aten.{name}" for name in ["view", "_unsafe_view", "reshape", "flatten", "unflatten"])


@dataclass(frozen=True, slots=True)
class Instance:
    """What the symbols and variables of a general block stand for."""

    sizes: Mapping[str, Dim] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)

    def of(self, assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
        """What a proof of the general block takes for granted, of the block that it was made of."""

        def tensors(element: Load) -> Expr:
            number = self.numbers.get(element.leaf.name)
            return element if number is None else const(Fraction(number))

        return simplified(one.changed(tensors, self.sizes) for one in assumptions)


@dataclass(frozen=True, slots=True)
class General:
    """A block over size symbols, and what stands for these in the block that it was made of: sizes, and numbers for its
    variables. `sized` and `varied`: was a number that an operator takes read as a size, or made a variable?"""

    graph: Graph
    ranges: dict[str, Range]
    instance: Instance
    sized: bool
    varied: bool


def generalise(
    graph: Graph, ranges: Mapping[str, Range], *, as_sizes: bool, as_variables: bool, anywhere: bool = False
) -> General | None:
    """The general block of a block; None where it holds nothing to generalise.

    With `anywhere`, a slice starts anywhere (`has_pieces` says of which blocks that can be said): what is proved of
    one rank's piece is then proved of every rank's. With `as_sizes`, a number that an operator takes is a size where it
    equals one (or 1/n, 1/√n): whether the program means the size there is not known, but the claim may hold only then.
    With `as_variables`, other decimal numbers, such as an epsilon, are variables.
    """
    table = _Table(graph, as_sizes, as_variables, _pieces(graph) if anywhere else {})
    for node in graph.nodes:
        _type(node.type, table)
    made: dict[Node, Node] = {}
    for node in graph.nodes:
        made[node] = replace(
            node,
            args=_put(node, node.args, table, made),
            kwargs=dict(zip(node.kwargs, _put(node, tuple(node.kwargs.items()), table, made), strict=True)),
            type=_type(node.type, table),
        )
    if not table.instance and not table.variables:
        return None
    roots = tuple((name, made[root]) for name, root in graph.roots)
    bounds = {name: (_bound(low, table), _bound(high, table)) for name, (low, high) in ranges.items()}
    general = Graph(graph.name, tuple(made.values()), roots, graph.tensors)
    numbers = {made_of.leaf.name: value for value, made_of in table.variables.items()}
    return General(general, bounds, Instance(table.instance, numbers), table.sized, bool(table.variables))


class _Table:
    """The general size of every size in a block."""

    def __init__(
        self, graph: Graph, as_sizes: bool, as_variables: bool, pieces: Mapping[Dim, tuple[int, int]]
    ) -> None:
        self.as_sizes, self.as_variables, self.pieces = as_sizes, as_variables, pieces
        self.starts: dict[Dim, Size] = {}
        self.instance: dict[str, Dim] = {}
        self.variables: dict[float, Load] = {}
        self.sized = False
        self.found: dict[Dim, Dim] = {}
        self.equations: dict[Dim, tuple[str, tuple[Dim, ...]]] = {}
        for whole, op, parts in (equation for node in graph.nodes for equation in _equations(node)):
            if _is_size(whole) and whole not in parts:
                self.equations.setdefault(whole, (op, parts))
        self.open: set[Dim] = set()

    def general(self, size: Dim) -> Dim:
        """The size over symbols: by its equation if there is one, a symbol of its own if not."""
        if not _is_size(size):
            return size
        if size not in self.found:
            self.open.add(size)
            self.found[size] = self.derived(size)
            self.open.discard(size)
        return self.found[size]

    def derived(self, size: Dim) -> Dim:
        if size in self.pieces:
            start, kept = self.pieces[size]
            self.starts[size] = before = Size(f"s{len(self.instance)}", 0)
            self.instance[before.name] = start
            after = Size(f"s{len(self.instance)}", 0)
            self.instance[after.name] = size - start - kept
            return canonical(add(before, const(self.general(kept)), after))
        op, parts = self.equations.get(size, ("", ()))
        if parts and not any(part in self.open for part in parts):
            known = [const(self.general(part)) for part in parts]
            return canonical(mul(*known) if op == "·" else add(*known))
        if isinstance(size, Expr) and not isinstance(size, Size):
            return replaced(size, {s.name: self.general(s) for s in sorted(symbols(size), key=lambda s: s.name)})
        name = f"s{len(self.instance)}"
        self.instance[name] = size
        return Size(name, LEAST)

    def bounds(self, whole: Dim) -> tuple[Dim, Dim]:
        """Where the piece of a whole starts and stops."""
        stop = add(self.starts[whole], const(self.general(self.pieces[whole][1])))
        return self.starts[whole], canonical(stop)

    def number(self, value: float) -> Any:
        """The number as a power of a size of this block, as an end of a piece or as a variable, if it is to be one."""
        for whole, (start, kept) in self.pieces.items() if self.as_sizes and isinstance(value, int) else ():
            if value in (start, start + kept) and whole in self.starts:
                self.sized = True
                return self.bounds(whole)[value != start]
        for size, general in self.found.items() if self.as_sizes else ():
            if isinstance(size, int) and isinstance(general, Expr):
                for exponent in ROOTS:
                    if value == size ** (float(exponent) if exponent.denominator > 1 else int(exponent)):
                        self.sized = True
                        return power(general, exponent)
        if self.as_variables and isinstance(value, float) and math.isfinite(value) and abs(value) not in PLAIN:
            return self.variables.setdefault(value, variable(f"c{len(self.variables)}"))
        return value


def _is_size(size: Dim) -> bool:
    return isinstance(size, Expr) or LEAST <= size < HUGE


def has_pieces(graph: Graph) -> bool:
    """Does it cut pieces out, one of each size that it cuts, so that where they start need not matter?"""
    return bool(_pieces(graph))


def _pieces(graph: Graph) -> dict[Dim, tuple[int, int]]:
    """The start and size of the piece that is cut out of each whole; nothing where one is cut in two ways."""
    found: dict[Dim, tuple[int, int]] = {}
    for node in graph.nodes:
        piece = _piece(node)
        if piece is not None and found.setdefault(piece[0], piece[1:]) != piece[1:]:
            return {}
    return found


def _piece(node: Node) -> tuple[int, int, int] | None:
    """Of a slice in plain numbers: the size it cuts, where it starts, and how much it keeps."""
    if packet(node.operator) != "aten.slice" or len(node.args) != 4 or node.kwargs:
        return None
    part, dim, start, stop = node.args
    if not all(isinstance(number, int) for number in (dim, start, stop)):
        return None
    whole = part.shape[dim]
    inside = isinstance(whole, int) and 0 <= start < stop <= whole and (start, stop) != (0, whole)
    return (whole, start, stop - start) if inside else None


def _equations(node: Node) -> Iterator[tuple[Dim, str, tuple[Dim, ...]]]:
    """What an operator says of sizes: a whole, and the parts that it is the product or the sum of."""
    name = packet(node.operator)
    if node.is_source or not node.inputs:
        return
    shapes = [part.type.shape for part in node.inputs if isinstance(part.type, TensorType)]
    if name in RESHAPES and isinstance(node.type, TensorType) and same_size(shapes[0], node.shape):
        for own, new in groups(shapes[0], node.shape):
            before, after = tuple(shapes[0][k] for k in own), tuple(node.shape[k] for k in new)
            if len(before) == 1 or len(after) == 1:
                whole, parts = (before[0], after) if len(before) == 1 else (after[0], before)
                yield whole, "·", parts
    if name in ("aten.cat", "aten.split", "aten.split_with_sizes", "aten.chunk"):
        pieces = shapes if name == "aten.cat" else [part.shape for part in node.type]  # type: ignore[union-attr]
        whole_shape = node.shape if name == "aten.cat" else shapes[0]
        for d, whole in enumerate(whole_shape):
            if all(len(piece) == len(whole_shape) for piece in pieces) and any(piece[d] != whole for piece in pieces):
                yield whole, "+", tuple(piece[d] for piece in pieces)
    if name == "aten.slice":
        args, _ = bind(node.operator, node.args, node.kwargs)
        _, d, start, _, step = args
        whole, size = shapes[0][d], node.shape[d]
        if step == 1 and size != whole:
            rest = canonical(add(whole, mul(-1, size), mul(-1, start or 0)))
            yield whole, "+", tuple(part for part in (start or 0, size, rest) if part != 0)


def _put(node: Node, argument: Any, table: _Table, made: Mapping[Node, Node]) -> Any:
    """The arguments over symbols. Keyword arguments are given as pairs, and come back as values."""
    kinds = argument_kinds(node.operator)
    if argument is node.args and (piece := _piece(node)) is not None and piece[0] in table.pieces:
        table.general(piece[0])
        return (made[argument[0]], argument[1], *table.bounds(piece[0]))
    if argument is node.args and packet(node.operator) == "aten.repeat" and len(argument) == 2:
        return made[argument[0]], _counts(node, table)
    if argument is node.args:
        return tuple(_one(kinds.get(k, ""), value, table, made) for k, value in enumerate(argument))
    return tuple(_one(kinds.get(name, ""), value, table, made) for name, value in argument)


def _counts(node: Node, table: _Table) -> tuple[Dim, ...]:
    """How often `repeat` takes each dimension: as often as the general part goes into the general whole, where it does.
    Two halves of a head stay two, though a batch of two is a symbol."""
    part, counts = node.inputs[0].shape, node.args[1]
    found: list[Dim] = []
    for size, count, whole in zip((1,) * (len(counts) - len(part)) + part, counts, node.shape, strict=True):
        inside, everything = const(table.general(size)), table.general(whole)
        often = canonical(const(everything) // inside) if size != 0 else count
        fits = count != 1 and canonical(mul(often, inside)) == everything
        found.append(often if fits else table.general(count))
    return tuple(found)


def _one(kind: str, value: Any, table: _Table, made: Mapping[Node, Node]) -> Any:
    match value:
        case Node():
            return made[value]
        case tuple():
            return tuple(_one(kind, part, table, made) for part in value)
        case bool() | None:
            return value
        case Expr():
            return table.general(value) if _is_polynomial(value) else value
        case int() if kind == "size":
            return table.general(value)
        case int() | float() if kind == "number":
            return table.number(value)
    return value


def _is_polynomial(value: Expr) -> bool:
    try:
        canonical(value)
    except Unsupported:
        return False
    return True


@cache
def argument_kinds(operator: str) -> dict[int | str, str]:
    """Which arguments of an operator are sizes and which are numbers, by position and by name, as torch declares."""
    schema = schema_of(operator)
    declared = dict((name, kind) for kind, name in ARGUMENT.findall(str(schema))) if schema is not None else {}
    found: dict[int | str, str] = {}
    for position, argument in enumerate(schema.arguments if schema is not None else ()):
        kind = KINDS.get(declared.get(argument.name, ""), "")
        kind = "" if argument.name in NOT_SIZES else kind
        kind = "size" if packet(operator) in RANGES and kind == "number" else kind
        found[position] = found[argument.name] = kind
    return found


def _type(type_: Any, table: _Table) -> Any:
    if isinstance(type_, tuple):
        return tuple(_type(part, table) for part in type_)
    return TensorType(tuple(map(table.general, type_.shape)), type_.dtype)  # type: ignore[arg-type]


def _bound(bound: Dim, table: _Table) -> Dim:
    """A bound of an index is a size less one, or a size below zero."""
    above, below = canonical(add(bound, 1)), canonical(mul(-1, const(bound)))
    if above in table.found:
        return canonical(add(table.found[above], -1))
    if below in table.found:
        return canonical(mul(-1, const(table.found[below])))
    return bound
