"""A family: the graphs of both programs over size symbols, from runs at several sizes.

A program that is run at batch 2 and length 5 shows numbers; which of them are the batch, and which merely equal it, a
second and a third run at other sizes tell. Sizes of the inputs that the programs let vary become symbols; every number
in the graphs is read as a polynomial over them that explains all runs; the shape rules of the operators are derived
again on these polynomials when blocks are proved, so a wrong reading proves nothing. What does not vary stays a number,
with the reason. A branch on a size that none of the runs took is not in the family: the report says at which sizes the
programs ran.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from math import isqrt
from typing import Any, cast

import torch

from samesame.capture.alive import tensors_known
from samesame.capture.fit import Fit, Misfit
from samesame.capture.program import Program
from samesame.evidence import SamesameError
from samesame.formula.expr import Expr, Size, mul
from samesame.formula.sizes import at_least, canonical, size_text, symbols, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node, TensorType, at, map_nodes

Graphs = tuple[Graph, Graph]
Place = tuple[str, int]                                    # an input's name and one of its dimensions
Recording = Callable[[Any], Graphs]                        # example inputs → the graphs of both programs

NAMES = ("B", "T", "D", "H", "K", "M", "N", "P", "Q", "R", "S", "U", "V", "W")
LEAST = 2                                                  # sizes of 0 and 1 broadcast and vanish: other programs
NAMELESS = Size("?", LEAST)
SECONDS = 30.0                                             # for the whole search
STEPS = 3                                                  # how many divisors of a size are tried as its step


@dataclass(frozen=True, slots=True)
class Varying:
    """Places that hold one size, `step` times a symbol, and its value in the example."""

    places: tuple[Place, ...]
    value: int
    step: int
    symbol: Size

    @property
    def size(self) -> Dim:
        return canonical(mul(self.step, self.symbol))

    def __str__(self) -> str:
        least = size_text(self.symbol.minimum * self.step)
        return f"{size_text(self.size)} = {' = '.join(map(place_text, self.places))} ≥ {least}"


@dataclass(frozen=True, slots=True)
class Family:
    """Both graphs over size symbols; what varies; which places stayed numbers and why; the sizes that were run."""

    graphs: Graphs
    varying: tuple[Varying, ...]
    fixed: tuple[str, ...]
    runs: tuple[dict[str, int], ...]

    @property
    def example(self) -> dict[str, int]:
        """The value of each symbol in the example."""
        return {v.symbol.name: v.value // v.step for v in self.varying}

    def without(self, names: Collection[str], why: str) -> Family:
        """The members of the family with the example's numbers for these symbols."""
        numbers: dict[str, Dim] = {name: n for name, n in self.example.items() if name in names}
        kept = tuple(v for v in self.varying if v.symbol.name not in names)
        gone = (f"{_numbered(v.places, v.value)}: {why}" for v in self.varying if v.symbol.name in names)
        left, right = (at(graph, numbers) for graph in self.graphs)
        runs = tuple({v.symbol.name: run[v.symbol.name] for v in kept} for run in self.runs)
        return Family((left, right), kept, (*self.fixed, *gone), runs)


def _numbered(places: Sequence[Place], size: int) -> str:
    return f"{' = '.join(map(place_text, places))} = {size}"


def place_text(place: Place) -> str:
    return f"{place[0]}.shape[{place[1]}]"


def family(program: Any, example: Any, record: Recording, base: Graphs, *, tied: bool = False) -> Family:
    """The family of two programs that were recorded as `base` on the example; without symbols where nothing varies.

    `program` is one of the two, and `record` runs both. Equal sizes of the example vary independently where the
    programs run so; if `tied`, they vary together where the programs run so.
    """
    with tensors_known():
        return _Search(program, example, record, base, tied).family()


@dataclass(slots=True)
class _Run:
    """One recording: the size at every place, and the graphs."""

    sizes: dict[Place, int]
    graphs: Graphs


class _Search:
    """Finds out by running which sizes vary, and which of them vary together."""

    def __init__(self, program: Any, example: Any, record: Recording, base: Graphs, tied: bool) -> None:
        self.record, self.base, self.tied = record, base, tied
        self.example = torch.utils._pytree.tree_map(_itself, example)
        self.names = {id(leaf): name for name, leaf in Program(program, self.example).given}
        self.until = time.monotonic() + SECONDS
        inputs = {node.name: node.shape for node in base[0].sources("input")}
        self.sizes = {(name, d): size for name, shape in inputs.items() for d, size in enumerate(shape)}
        self.runs = [_Run(self.sizes, base)]
        self.fixed: list[str] = []

    def family(self) -> Family:
        varying = [found for group in self.groups() for found in self.vary(group)][: len(NAMES)]
        while varying:
            named = [replace(v, symbol=Size(NAMES[k], LEAST)) for k, v in enumerate(varying)]
            blamed = frozenset([named[-1].symbol.name])
            try:
                named, failed = self.together(named)
                if failed is None:
                    return self.fitted(named)
            except Misfit as misfit:
                failed, blamed = str(misfit), misfit.blamed & {v.symbol.name for v in named} or blamed
            for v, n in zip(varying.copy(), named, strict=True):
                if n.symbol.name in blamed:
                    varying.remove(v)
                    self.keep(v.places, failed)
        return Family(self.base, (), tuple(self.fixed), ())

    def groups(self) -> Iterator[list[Place]]:
        """Places of equal size: they may be one size of the program, or two that happen to be equal."""
        for size in sorted(set(self.sizes.values()), key=list(self.sizes.values()).index):
            places = [place for place, own in self.sizes.items() if own == size]
            if size >= LEAST:
                yield places
            else:
                self.keep(places, f"an example in which it is {LEAST} or more would let it vary")

    def vary(self, places: list[Place]) -> list[Varying]:
        """The finest way in which these places vary: each by itself, by dimension, all together; else not at all.

        Where they are `tied`, the coarsest way.
        """
        size = self.sizes[places[0]]
        by_dimension = [[p for p in places if p[1] == d] for d in sorted({d for _, d in places})]
        ways = [[[place] for place in places], by_dimension, [places]]
        ways = ways[::-1] if self.tied else ways
        for parts in [way for k, way in enumerate(ways) if way not in ways[:k]]:
            failed = self.lets_vary(parts, 1)
            if failed is None:
                return [Varying(tuple(part), size, 1, NAMELESS) for part in parts]
            alone = [place for place in places if len(places) > 1 and self.lets_vary([[place]], 1) is None]
            if alone:
                rest = [place for place in places if place not in alone]
                return [Varying((place,), size, 1, NAMELESS) for place in alone] + (self.vary(rest) if rest else [])
        if len(by_dimension) > 1:
            return [found for part in by_dimension for found in self.vary(part)]
        assert failed is not None
        for step in [d for d in range(2, size + 1) if size % d == 0][:STEPS]:
            if self.lets_vary([places], step) is None:
                return [Varying(tuple(places), size, step, NAMELESS)]
        self.keep(places, failed)
        return []

    def lets_vary(self, parts: Sequence[Sequence[Place]], step: int) -> str | None:
        """Run with a size of its own for each part, primes and then even ones; the reason where that fails."""
        size = self.sizes[parts[0][0]] // step
        for fresh in (_above(size, len(parts)), [size // 4 * 4 + 4 * k for k in range(1, len(parts) + 1)]):
            sizes = {place: step * n for part, n in zip(parts, fresh, strict=True) for place in part}
            if (failed := self.run(sizes)) is not None:
                return failed
        return None

    def together(self, varying: list[Varying]) -> tuple[list[Varying], str | None]:
        """Run with every size changed: all larger than the example's, then smaller ones where there are any.

        Where smaller ones do not run, the example's are the least of the family. With the reason if nothing runs.
        Raises Misfit where a size cannot vary by itself.
        """
        own, n = [v.value // v.step for v in varying], len(varying)
        larger = _distinct([_above(size, n) for size in own])
        failed = self.run(_at(varying, larger))
        if failed is not None:
            return varying, failed
        for v, size in zip(varying, own, strict=True):     # by itself, and far: what changes with it alone
            failed = self.run(_at([v], _above(2 * size, 1)))
            if failed is not None:
                raise Misfit(failed, [v.symbol.name])
        smaller = _distinct([[*range(LEAST, size), *_above(large, n)] for size, large in zip(own, larger, strict=True)])
        if self.run(_at(varying, smaller)) is None:
            return varying, None
        fits = [size > LEAST and self.run(_at([v], [LEAST])) is None for v, size in zip(varying, own, strict=True)]
        mixed = [small if fit else large for small, large, fit in zip(smaller, larger, fits, strict=True)]
        if not any(fits) or self.run(_at(varying, mixed)) is not None:
            fits = [False] * n
            failed = self.run(_at(varying, _distinct([_above(size, n) for size in larger])))
        minima = [LEAST if fit else size for fit, size in zip(fits, own, strict=True)]
        return [replace(v, symbol=Size(v.symbol.name, m)) for v, m in zip(varying, minima, strict=True)], failed

    def run(self, sizes: Mapping[Place, int]) -> str | None:
        """Record at these sizes; the reason if the programs refuse, or turn out to be other programs."""
        if any(run.sizes == self.sizes | dict(sizes) for run in self.runs):
            return None
        if time.monotonic() > self.until:
            return f"the search for sizes that vary took more than {SECONDS} seconds"
        try:
            graphs = self.record(self.resized(sizes))
        except SamesameError as refused:
            return str(refused)
        except SystemExit as left:                         # an assertion of some programs
            return f"the programs call sys.exit({left.code!r})"
        for own, other in zip(self.base, graphs, strict=True):
            here = _departure(own, other)
            if here is not None:
                changed = ", ".join(f"{place_text(place)} = {n}" for place, n in sizes.items())
                return f"{own.name} is another program at {changed} (from {here.origin.spoken} on)"
        self.runs.append(_Run(self.sizes | dict(sizes), graphs))
        return None

    def resized(self, sizes: Mapping[Place, int]) -> Any:
        """The example with other sizes, its values repeated or cut, so that they stay in the programs' domain."""

        def resize(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            name = self.names[id(leaf)]
            for d in range(leaf.dim()):
                n = sizes.get((name, d))
                if n is not None:
                    leaf = leaf.index_select(d, torch.arange(n) % leaf.shape[d])
            return leaf

        return torch.utils._pytree.tree_map(resize, self.example)

    def keep(self, places: Sequence[Place], why: str) -> None:
        """Note places that stay numbers."""
        self.fixed.append(f"{_numbered(places, self.sizes[places[0]])}: {why}")

    def fitted(self, varying: Sequence[Varying]) -> Family:
        """Both graphs with polynomials in place of numbers. Raises Misfit where some number fits none."""
        if not varying:
            return Family(self.base, (), tuple(self.fixed), ())
        moving = {place for v in varying for place in v.places}
        runs = [r for r in self.runs if all(n == self.sizes[p] for p, n in r.sizes.items() if p not in moving)]
        runs = [r for r in runs if all(len({r.sizes[p] for p in v.places}) == 1 for v in varying)]
        runs = [r for r in runs if all(r.sizes[v.places[0]] % v.step == 0 for v in varying)]
        points = [{v.symbol.name: r.sizes[v.places[0]] // v.step for v in varying} for r in runs]
        fit = Fit([v.symbol for v in varying], points)
        left, right = (_symbolic([r.graphs[side] for r in runs], fit) for side in (0, 1))
        while (short := _may_vanish(left) or _may_vanish(right)) is not None:
            varying = _raised(varying, short)
            symbols_now: dict[str, Dim] = {v.symbol.name: v.symbol for v in varying}
            left, right = at(left, symbols_now), at(right, symbols_now)
        return Family((left, right), tuple(varying), tuple(self.fixed), tuple(points))


def _itself(leaf: Any) -> Any:
    """A tensor that is no other, although one may have been given twice."""
    return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf


def _raised(varying: Sequence[Varying], short: Dim) -> list[Varying]:
    """Larger minima for the symbols of a size that must not vanish. Raises Misfit if the example's are too small."""
    concerned = {symbol.name for symbol in symbols(short)}
    grown = [v for v in varying if v.symbol.name in concerned and v.symbol.minimum < v.value // v.step]
    if not grown:
        here = {v.symbol.name: v.value // v.step for v in varying}
        shrinking = [n for n in concerned if value_at(short, here | {n: here[n] + 1}) < value_at(short, here)]
        raise Misfit(f"{size_text(short)} vanishes at some sizes no smaller than the example's", shrinking or concerned)
    return [replace(v, symbol=Size(v.symbol.name, v.symbol.minimum + (v in grown))) for v in varying]


def _at(varying: Sequence[Varying], values: Sequence[int]) -> dict[Place, int]:
    """The size of each place where the symbols have these values."""
    return {place: v.step * n for v, n in zip(varying, values, strict=True) for place in v.places}


def _distinct(choices: Sequence[Sequence[int]]) -> list[int]:
    """One of each list, distinct where that can be."""
    found: list[int] = []
    for options in choices:
        found.append(next((n for n in options if n not in found), options[0]))
    return found


def _above(size: int, n: int) -> list[int]:
    """The first primes above a size, so many."""
    return list(islice((p for p in count(max(size + 1, 2)) if all(p % d for d in range(2, isqrt(p) + 1))), n))


def _departure(own: Graph, other: Graph) -> Node | None:
    """The first node of `own` at which `other` does not apply the same operator to what the same nodes made, takes
    another weight or returns another tensor; None where they are one program, numbers apart."""
    mine, yours = ({node: k for k, node in enumerate(graph.nodes)} for graph in (own, other))

    def applied(node: Node, position: Mapping[Node, int]) -> tuple[Any, ...]:
        name = node.name if node.operator in ("input", "parameter") else ""
        return node.operator, name, sorted(node.kwargs), [position[part] for part in node.inputs]

    for a, b in zip(own.nodes, other.nodes, strict=False):
        if applied(a, mine) != applied(b, yours):
            return a
    for (name, a), (called, b) in zip(own.roots, other.roots, strict=False):
        if (name, mine[a]) != (called, yours[b]):
            return a
    whole = len(own.nodes) == len(other.nodes) and len(own.roots) == len(other.roots)
    return None if whole else own.nodes[-1]


def _may_vanish(graph: Graph) -> Dim | None:
    """A dimension that is not evidently 1 or more at every size."""
    for node in graph.nodes:
        for kind in node.type if isinstance(node.type, tuple) else (node.type,):
            for size in kind.shape:
                if isinstance(size, Expr) and (at_least(size) or 0) < 1:
                    return size
    return None


def _symbolic(graphs: Sequence[Graph], fit: Fit) -> Graph:
    """The first graph, with every number that differs between the runs as a polynomial."""
    made: dict[Node, Node] = {}
    for nodes in zip(*(graph.nodes for graph in graphs), strict=True):
        first = nodes[0]
        try:
            args = fit.argument([node.args for node in nodes])
            kwargs = {name: fit.argument([node.kwargs[name] for node in nodes]) for name in first.kwargs}
            type_ = _type([node.type for node in nodes], fit)
            _require_same_values(first, [g.tensors.get(n.name) for g, n in zip(graphs, nodes, strict=True)])
        except Misfit as misfit:
            raise Misfit(f"{misfit} (at {first.origin.spoken}, in {first.operator})", misfit.blamed) from None
        made[first] = replace(
            first,
            args=map_nodes(made.__getitem__, args),
            kwargs={name: map_nodes(made.__getitem__, value) for name, value in kwargs.items()},
            type=type_,
        )
    roots = tuple((name, made[node]) for name, node in graphs[0].roots)
    return replace(graphs[0], nodes=tuple(made.values()), roots=roots)


def _type(types: Sequence[Any], fit: Fit) -> Any:
    if len({len(kind) if isinstance(kind, tuple) else -1 for kind in types}) > 1:
        raise Misfit("an operator has another number of results at other sizes")
    if isinstance(types[0], tuple):
        return tuple(_type(parts, fit) for parts in zip(*types, strict=True))
    if len({(kind.dtype, len(kind.shape)) for kind in types}) > 1:
        raise Misfit("a tensor has another dtype or rank at other sizes")
    shape = tuple(fit.number([kind.shape[d] for kind in types]) for d in range(len(types[0].shape)))
    return TensorType(cast("tuple[int, ...]", shape), types[0].dtype)


def _require_same_values(node: Node, values: Sequence[torch.Tensor | None]) -> None:
    """A weight and a tensor made outside of torch are what they are at every size."""
    first = values[0]
    if node.operator in ("constant", "parameter") and first is not None:
        for other in values[1:]:
            if other is None or not _is_same(first, other):
                what = "a weight" if node.operator == "parameter" else "a tensor made outside of torch's operators"
                raise Misfit(f"{what} changes with the size, or from run to run")


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and (a.data_ptr() == b.data_ptr() or torch.equal(a, b))
