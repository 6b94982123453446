"""A family: the graphs of both programs over size symbols, from runs at several sizes.

A program that is run at batch 2 and length 5 shows numbers; which of them are the batch, and which merely equal it, a
second and a third run at other sizes tell. Sizes of the inputs that the programs let vary become symbols; every number
in the graphs is read as a polynomial over them that explains all runs; the shape rules of the operators are derived
again on these polynomials when blocks are proved, so a wrong reading proves nothing. What does not vary stays a number,
with the reason. What the programs and their operators decide on sizes bounds the family: its region is where all of it
is decided as in the example, and where a decision could not be followed the family says so (`lost`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from math import isqrt, prod
from types import MappingProxyType
from typing import Any, cast

import torch

from samesame.capture.alive import tensors_known
from samesame.capture.calls import SECOND_INPUT
from samesame.capture.program import Program
from samesame.capture.sizes.decisions import Decided, decided
from samesame.capture.sizes.fit import Fit, Misfit
from samesame.capture.sizes.following import Followings
from samesame.evidence import Refused, SamesameError
from samesame.formula.expr import Expr, Size, mul
from samesame.formula.region import Condition, Region, around
from samesame.formula.sizes import at_least, canonical, size_text, symbols, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node, TensorType, at, map_nodes

Graphs = tuple[Graph, Graph]
Place = tuple[str, int]                                    # an input's name and one of its dimensions
Recording = Callable[[Any], Graphs]                        # example inputs → the graphs of both programs
Following = tuple[Followings, Followings]                  # what both programs asked of their sizes

NAMES = ("B", "T", "D", "H", "K", "M", "N", "P", "Q", "R", "S", "U", "V", "W")
LEAST = 2                                                  # sizes of 0 and 1 broadcast and vanish: other programs
NAMELESS = Size("?", LEAST)
SECONDS = 30.0                                             # for the whole search
STEPS = 3                                                  # how many divisors of a size are tried as its step
LOOKED_AT = 1 << 22                                        # elements of all tensors of a program beyond the region
TRIED = 40                                                 # sizes that are looked at for one that may be run


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
    """Both graphs over size symbols; what varies; which places stayed numbers and why; the sizes that were run.

    In the `region` both programs are these graphs; `bounds` are the conditions that bound it, each with the line that
    asks. Where sizes were lost (`lost` says where), they are known to be these graphs at the sizes of the runs only.
    `apart` are sizes just beyond the region at which the two compute different outputs.
    """

    graphs: Graphs
    varying: tuple[Varying, ...]
    fixed: tuple[str, ...]
    runs: tuple[dict[str, int], ...]
    asked: Following | None = None
    region: Region = field(default_factory=Region)
    bounds: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    apart: tuple[dict[Place, int], ...] = ()

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
        held = self.example
        runs = [run for run in self.runs if all(run[name] == held[name] for name in names)]
        at_these = tuple({v.symbol.name: run[v.symbol.name] for v in kept} for run in runs)
        return bounded(Family((left, right), kept, (*self.fixed, *gone), at_these, self.asked))


def bounded(found: Family) -> Family:
    """The family with the region in which both programs are its graphs. Raises Misfit where a size cannot vary in it.
    """
    known = Decided() if found.asked is None else decided(found.asked, found.graphs, found.example, found.runs)
    region = around(found.example, [v.symbol for v in found.varying], known.conditions)
    held = [name for name, (low, high) in region.bounds.items() if low == high]
    if held:
        why = next(f"{origin.spoken} asks whether {condition}" for condition, origin in known.conditions.items()
                   if condition.names & set(held))
        raise Misfit(why, held)
    least: dict[str, Dim] = {name: Size(name, low) for name, (low, _) in region.bounds.items()}
    left, right = (at(graph, least) for graph in found.graphs)
    varying = tuple(replace(v, symbol=cast("Size", least[v.symbol.name])) for v in found.varying)
    bounds = [f"{condition}: {origin.spoken}" for condition, origin in known.conditions.items()
              if _bounds(condition, region)]
    return replace(found, graphs=(left, right), varying=varying, region=region,
                   bounds=tuple(dict.fromkeys(bounds)), lost=tuple(known.lost))


def _bounds(condition: Condition, region: Region) -> bool:
    """Whether a condition is one of those that bound the region: it fails just outside of it."""
    for name, (low, high) in region.bounds.items():
        if condition.names == {name}:
            beyond = [n for n in (low - 1, high and high + 1) if n and n >= LEAST]
            if not all(condition.holds({name: n}) for n in beyond):
                return True
    return condition.names > set() and any(condition.names == c.names for c in region.conditions)


class Apart(Refused):
    """The two programs compute different outputs on the inputs that were given."""


def _numbered(places: Sequence[Place], size: int) -> str:
    return f"{' = '.join(map(place_text, places))} = {size}"


def place_text(place: Place) -> str:
    return f"{place[0]}.shape[{place[1]}]"


def family(
    program: Any,
    example: Any,
    record: Recording,
    base: Graphs,
    *,
    tied: bool = False,
    follow: Callable[[], Following] | None = None,
    beyond: bool = False,
    within: Sequence[Condition] = (),
    kinds: Mapping[Place, Hashable] = MappingProxyType({}),
    divided: Mapping[Place, int] = MappingProxyType({}),
) -> Family:
    """The family of two programs that were recorded as `base` on the example; without symbols where nothing varies.

    `program` is one of the two, and `record` runs both. Equal sizes of the example vary independently where the
    programs run so; if `tied`, they vary together where the programs run so. `follow` runs both once more, with sizes
    that remember; without it nothing is known of what they decide. Sizes just `beyond` what they decide are looked at
    where that is asked for. Runs keep `within` conditions on the inputs' sizes (`x.shape[0]`), which the example meets.
    Equal sizes of unlike `kinds` are known to be two, and sizes that are `divided` by numbers are tried as so many of
    these.
    """
    with tensors_known():
        return _Search(program, example, record, base, tied, follow, beyond, within, kinds, divided).family()


@dataclass(slots=True)
class _Run:
    """One recording: the size at every place, and the graphs."""

    sizes: dict[Place, int]
    graphs: Graphs


class _Search:
    """Finds out by running which sizes vary, and which of them vary together."""

    def __init__(
        self,
        program: Any,
        example: Any,
        record: Recording,
        base: Graphs,
        tied: bool,
        follow: Callable[[], Following] | None,
        beyond: bool,
        within: Sequence[Condition],
        kinds: Mapping[Place, Hashable],
        divided: Mapping[Place, int],
    ) -> None:
        self.record, self.base, self.tied, self.beyond = record, base, tied, beyond
        self.kinds, self.divided = kinds, divided
        self.example, self.names = separate(program, example)
        self.until = time.thread_time() + SECONDS
        given = set(self.names.values())                   # inputs of a second call have the sizes of the first one's
        inputs = {node.name: node.shape for node in base[0].sources("input") if node.name in given}
        self.sizes = {(name, d): size for name, shape in inputs.items() for d, size in enumerate(shape)}
        self.runs = [_Run(self.sizes, base)]
        self.fixed: list[str] = []
        self.apart: list[dict[Place, int]] = []
        self.asked = None if follow is None else follow()
        self.questions = [*within, *([] if self.asked is None else self.read(self.asked))]

    def family(self) -> Family:
        """What was found, after a look at the sizes just beyond it."""
        found = self.found()
        for values in found.region.beyond(found.example) if self.beyond else ():
            if all(elements(graph, values) <= LOOKED_AT for graph in found.graphs):
                self.look(_at(found.varying, [values[v.symbol.name] for v in found.varying]))
        return replace(found, apart=tuple(self.apart))

    def look(self, sizes: Mapping[Place, int]) -> None:
        """Run there only to see whether the two programs differ."""
        if min(sizes.values()) >= LEAST and time.thread_time() < self.until:
            with suppress(SamesameError, SystemExit):
                try:
                    self.record(resized(self.example, self.names, sizes))
                except Apart:
                    self.apart.append(self.sizes | dict(sizes))

    def found(self) -> Family:
        varying = [found for group in self.groups() for found in self.vary(group)][: len(NAMES)]
        while varying:
            named = [replace(v, symbol=Size(NAMES[k], LEAST)) for k, v in enumerate(varying)]
            blamed = frozenset([named[-1].symbol.name])
            try:
                named, failed = self.together(named)
                if failed is None:
                    return self.fitted(named)
            except Misfit as misfit:
                failed, blamed = str(misfit), but_one(misfit.blamed, named) or blamed
            for v, n in zip(varying.copy(), named, strict=True):
                if n.symbol.name in blamed:
                    varying.remove(v)
                    self.keep(v.places, failed)
        return Family(self.base, (), tuple(self.fixed), ())

    def groups(self) -> Iterator[list[Place]]:
        """Places of equal size: they may be one size of the program, or two that happen to be equal."""
        alike = dict[tuple[int, Hashable], list[Place]]()
        for place, size in self.sizes.items():
            alike.setdefault((size, self.kinds.get(place)), []).append(place)
        for (size, _), places in alike.items():
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
        known = self.in_steps(places, dict.fromkeys(self.divided[place] for place in places if place in self.divided))
        if known or len(by_dimension) > 1:
            return known or [found for part in by_dimension for found in self.vary(part)]
        assert failed is not None
        found = self.in_steps(places, islice((d for d in range(2, size + 1) if size % d == 0), STEPS))
        if not found:
            self.keep(places, failed)
        return found

    def in_steps(self, places: Sequence[Place], steps: Iterable[int]) -> list[Varying]:
        """All of these places as so many of the first step of which any number lets the programs run; else nothing."""
        for step in steps:
            if self.lets_vary([places], step) is None:
                return [Varying(tuple(places), self.sizes[places[0]], step, NAMELESS)]
        return []

    def lets_vary(self, parts: Sequence[Sequence[Place]], step: int) -> str | None:
        """Run with a size of its own for each part, primes and then even ones; the reason where that fails."""
        size = self.sizes[parts[0][0]] // step
        found = Varying(tuple(parts[0]), size, step, NAMELESS)
        fours = [size // 4 * 4 + 4 * k for k in range(1, TRIED)]
        for options in (_above(size, TRIED), fours):
            apart = [replace(found, places=tuple(part), value=step * size) for part in parts]
            fresh = _distinct([self.choices(v, options) for v in apart])
            if fresh is None:
                return self.why_held(apart)
            if (failed := self.run(_at(apart, fresh))) is not None:
                return failed
        return None

    def choices(self, v: Varying, options: Sequence[int]) -> list[int]:
        """Values that the symbol may take in a run, the best first: of these, else smaller ones, else any."""
        own = v.value // v.step
        every = chain(options, range(own - 1, LEAST - 1, -1), range(own + 1, own + TRIED))
        return [n for n in dict.fromkeys(every) if self.alike(_at([v], [n]))]

    def alike(self, sizes: Mapping[Place, int]) -> bool:
        """Whether the programs decide at these sizes as they do at the example's, as far as that is seen now."""
        values = {place_text(place): n for place, n in (self.sizes | dict(sizes)).items()}
        return all(question.holds(values) for question in self.questions)

    def why_held(self, parts: Sequence[Varying]) -> str:
        names = {place_text(place) for v in parts for place in v.places}
        return "; ".join(str(q) for q in self.questions if q.names & names) + ": other sizes are decided otherwise"

    def read(self, asked: Following) -> list[Condition]:
        """What the programs ask, said of the inputs' sizes: a dimension of another tensor is taken for one of the same
        size. That only serves to choose sizes for runs."""
        found: dict[Condition, None] = {}
        for followings, graph in zip(asked, self.base, strict=True):
            own = {node.name: k for k, node in enumerate(graph.sources("input"))}
            named = [node.name for node in self.base[0].sources("input")]
            sizes = {f"{node.name}:{d}": n for node in followings.nodes if not isinstance(node.type, tuple)
                     for d, n in enumerate(node.type.shape)}
            for condition in followings.log.asked:
                places: dict[Expr, Dim] = {}
                for name in condition.names:
                    node, _, d = name.rpartition(":")
                    exact = (named[own[node]].removeprefix(SECOND_INPUT), int(d)) if node in own else None
                    like = [place for place, n in self.sizes.items() if n == sizes.get(name) and n >= LEAST]
                    place = exact or next(iter(like), None)
                    if place is not None:
                        places[Size(name, 0)] = Size(place_text(place), 0)
                if len(places) == len(condition.names):
                    found[condition.at(places)] = None
        here = {place_text(place): n for place, n in self.sizes.items()}
        return [condition for condition in found if condition.names and condition.holds(here)]

    def together(self, varying: list[Varying]) -> tuple[list[Varying], str | None]:
        """Run with every size changed: all larger than the example's, then smaller ones where there are any.

        Where smaller ones do not run, the example's are the least of the family. With the reason if nothing runs.
        Raises Misfit where a size cannot vary by itself.
        """
        own, n = [v.value // v.step for v in varying], len(varying)
        larger = _distinct([self.choices(v, _above(size, n)) for v, size in zip(varying, own, strict=True)])
        if larger is None or not self.alike(_at(varying, larger)):
            return varying, self.why_held(varying)
        failed = self.run(_at(varying, larger))
        if failed is not None:
            return varying, failed
        for v, size in zip(varying, own, strict=True):     # by itself, and far: what changes with it alone
            far = self.choices(v, _above(2 * size, 1))
            failed = self.run(_at([v], far[:1])) if far else None
            if failed is not None:
                raise Misfit(failed, [v.symbol.name])
        small = [self.choices(v, [*range(LEAST, size), *_above(large, n)])
                 for v, size, large in zip(varying, own, larger, strict=True)]
        smaller = _distinct(small) or larger
        if self.run(_at(varying, smaller)) is None:
            return varying, None
        least = [min([n for n in options if n < size], default=size) for options, size in zip(small, own, strict=True)]
        fits = [least_here < size and self.run(_at([v], [least_here])) is None
                for v, size, least_here in zip(varying, own, least, strict=True)]
        mixed = [small if fit else large for small, large, fit in zip(smaller, larger, fits, strict=True)]
        if not any(fits) or self.run(_at(varying, mixed)) is not None:
            fits = [False] * n
            more = _distinct([self.choices(v, _above(size, n)) for v, size in zip(varying, larger, strict=True)])
            failed = self.run(_at(varying, more or larger))
        minima = [LEAST if fit else size for fit, size in zip(fits, own, strict=True)]
        return [replace(v, symbol=Size(v.symbol.name, m)) for v, m in zip(varying, minima, strict=True)], failed

    def run(self, sizes: Mapping[Place, int]) -> str | None:
        """Record at these sizes; the reason if the programs refuse, or turn out to be other programs."""
        if any(run.sizes == self.sizes | dict(sizes) for run in self.runs):
            return None
        if time.thread_time() > self.until:
            return f"the search for sizes that vary took more than {SECONDS} seconds"
        try:
            graphs = self.record(resized(self.example, self.names, sizes))
        except Apart:
            return f"the outputs of the two programs differ at {said_of(sizes)}"
        except SamesameError as refused:
            return str(refused)
        except SystemExit as left:                         # an assertion of some programs
            return f"the programs call sys.exit({left.code!r})"
        for own, other in zip(self.base, graphs, strict=True):
            here = _departure(own, other)
            if here is not None:
                return f"{own.name} is another program at {said_of(sizes)} (from {here.origin.spoken} on)"
        self.runs.append(_Run(self.sizes | dict(sizes), graphs))
        return None

    def keep(self, places: Sequence[Place], why: str) -> None:
        """Note places that stay numbers."""
        here = f"{_numbered(places, self.sizes[places[0]])}: "
        self.fixed.append(here + why.removeprefix(here))

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
        return bounded(Family((left, right), tuple(varying), tuple(self.fixed), tuple(points), self.asked))


def but_one(blamed: Collection[str], varying: Sequence[Varying]) -> frozenset[str]:
    """Which of the sizes that a number changes with are to stay numbers: if several, all but the largest of the
    example, which is tried alone then. Of a row and a window over it, the window stays one."""
    sizes = {v.symbol.name: v.value for v in varying if v.symbol.name in blamed}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    return frozenset(sizes) - {largest} or frozenset(sizes)


def separate(program: Any, example: Any) -> tuple[Any, dict[int, str]]:
    """The example with a tensor of its own in each place, and the names of these by id."""
    example = torch.utils._pytree.tree_map(_itself, example)
    return example, {id(leaf): name for name, leaf in Program(program, example).given}


def said_of(sizes: Mapping[Place, int]) -> str:
    return ", ".join(f"{place_text(place)} = {n}" for place, n in sizes.items())


def resized(example: Any, names: Mapping[int, str], sizes: Mapping[Place, int]) -> Any:
    """The example with other sizes, its values repeated or cut, so that they stay in the programs' domain."""

    def resize(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        name = names[id(leaf)]
        for d in range(leaf.dim()):
            n = sizes.get((name, d))
            if n is not None:
                leaf = leaf.index_select(d, torch.arange(n) % leaf.shape[d])
        return leaf

    return torch.utils._pytree.tree_map(resize, example)


def elements(graph: Graph, values: Mapping[str, int]) -> int:
    """How many elements the tensors of a graph have, all taken together, at these values of its symbols."""
    kinds = [kind for node in graph.nodes for kind in (node.type if isinstance(node.type, tuple) else (node.type,))]
    return sum(prod(value_at(n, values) for n in kind.shape) for kind in kinds)


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


def _distinct(choices: Sequence[Sequence[int]]) -> list[int] | None:
    """One of each list, distinct where that can be; None where a list is empty."""
    found: list[int] = []
    for options in choices:
        if not options:
            return None
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
    return replace(graphs[0], nodes=tuple(made.values()), roots=roots, unread=tuple(_unread(graphs, fit, made)))


def _unread(graphs: Sequence[Graph], fit: Fit, made: dict[Node, Node]) -> Iterator[Node]:
    """The nodes that no root depends on, as far as the runs have them all and their sizes are read."""
    others = [{node.name: node for node in graph.unread} for graph in graphs[1:]]
    for node in graphs[0].unread:
        same = [node, *(known[node.name] for known in others if node.name in known)]
        if len(same) == len(graphs) and len({other.operator for other in same}) == 1:
            try:
                args, type_ = fit.argument([other.args for other in same]), _type([other.type for other in same], fit)
                made[node] = replace(node, args=map_nodes(made.__getitem__, args), type=type_)
            except (Misfit, KeyError):                     # of another size that is not read, or made of one
                continue
            yield made[node]


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
