"""Sizes of a launch, written so that what is assumed of them holds by itself.

A kernel is right where T ≤ L or where N mod 32 = 0, and its reference may be a formula only there: it slices a table of
L rows at T, or takes a row in groups of 32. So the sizes are written in symbols that meet such conditions at all of
their values, L = T + s with s ≥ 0 and N = 32·s. A size that the reference has as a number is that number on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from samesame.capture.sizes.decisions import decided
from samesame.capture.sizes.family import LEAST, Family
from samesame.formula import polynomials
from samesame.formula.expr import ZERO, Compare, Expr, FloorDiv, Mod, Num, Size, add, const, floordiv, mul, walk
from samesame.formula.region import COMPARE, Condition, around, put
from samesame.formula.sizes import canonical, replaced, size_text, symbols, value_at
from samesame.formula.tensor import Dim, Tensor
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver

Inputs = Mapping[str, tuple[Any, Tensor]]  # by name: the host's view of the tensor, and the leaf it is


@dataclass
class Terms:
    """`sizes` are those of the launch that are written in other terms, by name; `made` the new symbols, by name, with
    what each is in sizes of the launch; `held` are the sizes that are numbers, and `least` what others are at least."""

    held: dict[str, int] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, Dim] = field(default_factory=dict)
    made: dict[str, Dim] = field(default_factory=dict)

    def write(self, name: str, size: Dim, symbol: Size, meaning: Dim) -> None:
        """From here on, write the size as this, which contains the new symbol."""
        self.sizes = {each: replaced(n, {name: size}) for each, n in self.sizes.items()}
        self.sizes[name] = replaced(size, self.sizes)
        self.made[symbol.name] = meaning

    @property
    def whole(self) -> dict[str, Dim]:
        """What stands for each size that is written in another way."""
        raised = {name: Size(name, n) for name, n in self.least.items() if name not in self.sizes}
        others = raised | self.held | self.known
        return {name: replaced(n, others) for name, n in self.sizes.items() if name not in self.held} | others

    @property
    def known(self) -> dict[str, int]:
        """New symbols that are numbers, as the sizes are of which they are made."""
        known = {name: n for name, n in self.made.items() if {s.name for s in symbols(n)} <= self.held.keys()}
        return {name: value_at(n, self.held) for name, n in known.items()}

    def values(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The symbols' values at these sizes of the launch."""
        kept = {name: n for name, n in sizes.items() if name not in self.sizes and name not in self.held}
        return kept | {name: value_at(n, sizes) for name, n in self.made.items() if name not in self.known}

    def launched(self, values: Mapping[str, int]) -> dict[str, int]:
        """The launch's sizes at these values of the symbols."""
        kept = {name: n for name, n in values.items() if name not in self.made}
        return kept | {name: value_at(n, values) for name, n in self.whole.items() if name not in self.made}


def steps(terms: Terms, varying: Iterable[Any], inputs: Inputs, assumed: Sequence[Expr]) -> None:
    """Of sizes that the reference only takes in steps, say that they are such, where that is assumed."""
    prover = IndexProver()
    for condition in assumed:
        prover.assume(integers.tidied(condition))
    for v in varying:
        places = {inputs[name][0].shape[d] for name, d in v.places}
        size = next(iter(places))
        if v.step == 1 or len(places) > 1 or not isinstance(size, Size) or size.name in terms.held:
            continue
        if prover.proves((), integers.equal(integers.remainder(size, const(v.step)), ZERO)):
            symbol = Size(f"{size.name}/{v.step}", -(-size.minimum // v.step))
            terms.write(size.name, canonical(mul(v.step, symbol)), symbol, canonical(floordiv(size, v.step)))


def divisors(assumed: Sequence[Expr], inputs: Inputs) -> dict[tuple[str, int], int]:
    """Numbers that are assumed to divide sizes of inputs, by the place: of several, the greatest."""
    prover = IndexProver()
    for condition in assumed:
        prover.assume(integers.tidied(condition))
    asked = dict.fromkeys(e for condition in assumed for e in walk(condition) if isinstance(e, FloorDiv))
    found: dict[Expr, int] = {}
    for size, number in ((e.numerator, e.divisor) for e in asked if isinstance(e.divisor, Num)):
        if prover.proves((), integers.equal(integers.remainder(size, number), ZERO)):
            found[size] = max(found.get(size, 1), int(number.value))
    places = ((name, d, n) for name, (view, _) in inputs.items() for d, n in enumerate(view.shape))
    return {(name, d): found[n] for name, d, n in places if isinstance(n, Size) and n in found}


def slack(terms: Terms, assumed: Iterable[Expr]) -> None:
    """Of a size that is at least what others make up, say by how much it is larger: L = T + s where T ≤ L."""
    for condition in assumed:
        for size, least in lower_limits(condition):
            known = terms.sizes.keys() | terms.held.keys() | {s.name for s in symbols(replaced(least, terms.sizes))}
            if size.name not in known:
                symbol = Size(f"{size.name} − ({size_text(least)})", 0)
                more = canonical(add(size, mul(-1, const(least))))
                terms.write(size.name, canonical(add(least, symbol)), symbol, more)
                break


def least_assumed(assumed: Iterable[Expr]) -> dict[str, int]:
    """Numbers that sizes are assumed to be no less than, as tiles are chosen by how long a row is."""
    found: dict[str, int] = {}
    for condition in assumed:
        if isinstance(condition, Compare) and condition.op == "≤" and condition.left is ZERO:
            terms = polynomials.polynomial(condition.right)
            (*others, size) = [monomial for monomial in terms if monomial] or [()]
            if not others and len(size) == 1 and isinstance(size[0], Size) and terms[size] == 1:
                found[size[0].name] = max(found.get(size[0].name, 0), -terms.get((), 0))
    return found


def lower_limits(condition: Expr) -> Iterator[tuple[Size, Dim]]:
    """What other sizes make up that a size is at least: of 0 ≤ L − T, L with T."""
    if not isinstance(condition, Compare) or condition.op != "≤" or condition.left is not ZERO:
        return
    p = polynomials.polynomial(condition.right)
    if not all(isinstance(atom, Size) for monomial in p for atom in monomial):
        return
    for monomial, c in p.items():
        rest = {m: -k for m, k in p.items() if m != monomial}
        others = {m: k for m, k in rest.items() if m}
        if c == len(monomial) == 1 and others and all(k > 0 and monomial[0] not in m for m, k in others.items()):
            yield cast("Size", monomial[0]), canonical(polynomials.written(rest))


def asked_of_places(assumed: Iterable[Expr], inputs: Inputs) -> list[Condition]:
    """Limits that are assumed of sizes, said of the places where the inputs have them (`x.shape[0] ≤ y.shape[1]`), as
    far as they are sizes of inputs, and lengths that are numbers. What divides sizes shows in the steps that the
    reference takes."""
    places: dict[Expr, Dim] = {}
    found = []
    for name, (view, _) in inputs.items():
        for d, n in enumerate(view.shape):
            place = Size(f"{name}.shape[{d}]", 0)
            if isinstance(n, Size):
                places.setdefault(n, place)
            elif isinstance(n, int):
                found.append(Condition("=", place, n))
    for condition in assumed:
        if isinstance(condition, Compare) and condition.op in COMPARE:
            sizes = {s for s in walk(condition) if isinstance(s, Size)}
            if sizes and not any(isinstance(e, FloorDiv | Mod) for e in walk(condition)) and sizes <= places.keys():
                found.append(Condition(condition.op, put(condition.left, places), put(condition.right, places)))
    return found


# ------------------------------------------------------------------------------------------ what the reference decides

COMPARED = {"=": "eq", "≠": "ne", "<": "slt", "≤": "sle", ">": "sgt", "≥": "sge"}


def asked_by(found: Family, sizes: Mapping[str, Dim], terms: Terms, assumed: Iterable[Expr]) -> Iterator[str]:
    """Under which sizes of the launch the reference decides on its `sizes` as where it was compared, less what is
    assumed anyway. (`assumed` is written in `terms`.)"""
    prover = IndexProver()
    for condition in assumed:
        prover.assume(integers.tidied(condition))
    for decision in decisions(found):
        asked = with_names(decision, sizes)
        here = with_names(asked, terms.whole)
        if not prover.proves((), integers.COMPARISONS[COMPARED[here.op]](const(here.left), const(here.right))):
            yield str(with_names(asked, terms.made))


def decisions(found: Family) -> Iterator[Condition]:
    """What a program's decisions leave of all sizes."""
    asked = decided(found.asked, found.graphs, found.example, found.runs).conditions if found.asked is not None else ()
    region = around(found.example, [Size(v.symbol.name, LEAST) for v in found.varying], asked)
    for name, (low, high) in region.bounds.items():
        if low > LEAST:
            yield Condition("≥", Size(name, LEAST), low)
        if high is not None:
            yield Condition("≤", Size(name, LEAST), high)
    yield from region.conditions


def with_names(condition: Condition, sizes: Mapping[str, Dim]) -> Condition:
    """The condition with these in place of the sizes of their names."""
    own = symbols(condition.left) | symbols(condition.right)
    return condition.at({s: sizes[s.name] for s in own if s.name in sizes})
