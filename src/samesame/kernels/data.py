"""Conditions on data: an element that serves as an index has to be in range, as a lookup demands.

What an earlier step made is asked first: positions that the host counts, a remainder, an argmax, another kernel's
formula are shown to be in range for all sizes, and then nothing is needed. Else it is a condition on the tensor, which
is printed, and taken to hold only where the launch's own tensors keep it. One that they break is a violation, with the
element, where a lane of the example uses that element; where none does, or nobody can look, it stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from math import gcd

import numpy as np

from samesame.evidence import Refused
from samesame.formula import polynomials
from samesame.formula.definite import is_undefined
from samesame.formula.expr import (
    ZERO,
    Add,
    Compare,
    Expr,
    FloorDiv,
    Load,
    Mul,
    Not,
    Num,
    Size,
    Where,
    and_,
    const,
    index,
    not_,
    walk,
)
from samesame.formula.show import unicode
from samesame.formula.sizes import value_at
from samesame.kernels import concrete, obligations
from samesame.kernels.formulas.present import presentable
from samesame.kernels.formulas.simplify import literals
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts
from samesame.kernels.obligations import Kernel, timed
from samesame.kernels.stated import Sum
from samesame.kernels.tiles.detile import Write
from samesame.kernels.tiles.memory import Indices, flat_range, in_shape, is_contiguous
from samesame.kernels.tiles.memory import readings as indices_at
from samesame.kernels.verdict import Obligation

Reading = Callable[[Expr, Expr], "tuple[Expr, Expr] | None"]  # of an index and its end: an element, and what ends it


@dataclass(frozen=True)
class Use:
    """An element of a tensor, used as an index by an access (None: tested by the kernel itself), and the number that it
    must lie below, unless it is one of those that the kernel leaves out."""

    element: Load
    below: Expr
    access: Write | None = None
    but: tuple[int, ...] = ()
    low: int = 0  # below 0 where the kernel leaves out what is

    @property
    def name(self) -> str:
        return self.element.leaf.name.removesuffix("*")

    def __str__(self) -> str:
        others = "".join(f" or {self.name}[…] = {n}" for n in self.but)
        last = integers.minus(self.below, 1)
        shorter = len(polynomials.polynomial(last)) < len(polynomials.polynomial(self.below))
        sign, end = ("≤", last) if shorter else ("<", self.below)
        return f"{str(self.low).replace('-', '−')} ≤ {self.name}[…] {sign} {unicode(presentable(end))}{others}"


@dataclass
class Conditions:
    """What a kernel needs of data: `needed` is assumed and holds in the example; `failed` are obligations that do not
    hold, or of which that is not known."""

    kernel: Kernel
    needed: list[str] = field(default_factory=list)
    failed: list[Obligation] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)  # leaves

    def find(self) -> None:
        """Take data to be in range where it serves as an index, as far as that may be."""
        kernel = self.kernel
        for access in (*kernel.reads, *kernel.writes):
            if not obligations.is_inside(kernel, access):
                self.take(*lookups(access, kernel))
            if not obligations.is_inside(kernel, access):
                self.take_ends(access)
            if not obligations.is_inside(kernel, access):
                self.take_sums(access)
        if kernel.simplify.prover.ranges:
            kernel.solve()
        for writes in kernel.outputs.values():
            covers = obligations.covered(kernel, writes)
            uses = () if covers is None else tuple(tested(covers))
            if any([self.take(use) for use in uses]):
                kernel.solve()

    def take(self, *uses: Use) -> bool:
        """Assume of data what its uses need; whether something was assumed."""
        before = len(self.kernel.simplify.prover.ranges)
        for use in uses:
            if use.element.leaf.name in self.tried:
                continue
            ways = [use, *as_one_line(use)]
            if any(map(self.is_made_so, ways)) or any(map(self.example_keeps, ways)):
                continue
            if use.access is not None:
                self.tried.add(use.element.leaf.name)
                self.failed.append(broken(self.kernel, use.access, ways[-1]))
        return len(self.kernel.simplify.prover.ranges) > before

    def take_ends(self, access: Write) -> None:
        """Assume that what data says of where rows begin and end lies in the tensor that has the rows, if that keeps
        an access inside and the example's data does."""
        for indices in indices_at(access.memory, access.offset):
            pairs = [(i, integers.tidied(const(n))) for i, n in zip(indices, access.memory.shape, strict=True)]
            ends = [Use(e, integers.plus_(n, 1)) for i, n in pairs for e in compared_with(i, access.facts)]
            for uses in (ends, [use for i, n in pairs for use in tiled(i, n)]):
                news = {use.element.leaf.name: use for use in uses if use.element.leaf.name not in self.tried}
                inside = bool(news) and keeps_inside(self.kernel, access, indices, uses)
                if inside and all(self.is_made_so(use) or self.example_keeps(use) for use in news.values()):
                    return

    def take_sums(self, access: Write) -> None:
        """Assume that rows which data says the beginning and the length of lie in the tensor that has them, if that
        keeps an access inside and the example's data does."""
        prover = self.kernel.simplify.prover
        for indices in indices_at(access.memory, access.offset):
            pairs = list(zip(indices, access.memory.shape, strict=True))
            sums = [one for i, n in pairs for one in sums_of(i, integers.tidied(const(n)), access.facts)]
            uses = [Use(e, integers.plus_(integers.tidied(const(n)), 1)) for i, n in pairs for e in data_in(i)]
            told = [fact for one in sums for fact in one.told([*access.facts, *indices])]
            under = replace(access, condition=and_(*access.facts, *told))
            if not sums or not keeps_inside(self.kernel, under, indices, uses):
                continue
            if all(self.keeps_sum(one) for one in sums) and all(
                use.element.leaf.name in self.tried or self.is_made_so(use) or self.example_keeps(use) for use in uses
            ):
                for one in sums:
                    prover.assume_sum(one)
                self.needed += map(str, sums)
                self.kernel.simplify.forget()
            return

    def keeps_sum(self, one: Sum) -> bool:
        """Whether the example's tensors are as long as each other, and keep a limit on sums of their elements; or there
        is no example."""
        launch = self.kernel.machine.launch
        if launch.values is None:
            return True
        try:
            rows = {name: np.asarray(launch.values(name)) for name in one.times}
        except Refused:
            return False
        alike = len({row.shape for row in rows.values()}) == 1
        return alike and bool((one.of(rows) <= value_at(one.most, launch.example)).all())

    def is_made_so(self, use: Use) -> bool:
        """Whether the steps that made the tensor leave only such elements; then nothing is needed."""
        made = self.kernel.machine.launch.made.get(use.name)
        if made is None or made.kind != "int":
            return False
        element = integers.tidied(made[tuple(index(integers.tidied(const(n))) for n in made.shape)])
        inside = and_(integers.at_least_zero(element), integers.less(element, use.below))
        if not self.kernel.simplify.prover.proves((), inside):
            return False
        self.assume(use)
        return True

    def example_keeps(self, use: Use) -> bool:
        """Whether the example's tensor has only such elements, or there is no example; then it is needed."""
        if not is_kept(self.kernel, use):
            return False
        self.assume(use)
        self.needed.append(str(use))
        return True

    def assume(self, use: Use) -> None:
        self.tried.add(use.element.leaf.name)
        stated = self.kernel.simplify.prover.ranges.get(use.element.leaf.name, (const(use.low),))[0]
        low = const(max(use.low, int(stated.value) if isinstance(stated, Num) else use.low))
        high = integers.minus(use.below, 1)
        self.kernel.simplify.prover.assume_range(use.element.leaf.name, low, high, use.but)
        self.kernel.simplify.forget()


def is_kept(kernel: Kernel, use: Use) -> bool:
    """Whether the example's tensor has only such elements, or there is no example."""
    launch = kernel.machine.launch
    try:
        line = launch.values(use.name) if launch.values is not None else np.zeros(0)
    except Refused:
        return False
    below = value_at(use.below, launch.example) if line.size else 0
    return bool((((line >= use.low) & (line < below)) | np.isin(line, use.but)).all())


def short(kernel: Kernel, facts: Facts, totals: Mapping[str, Expr]) -> list[str] | None:
    """Ranges of data under which no number wraps around, in words: taken to hold from here on where the example's
    tensors keep them. None where there are none."""
    failing = [n for n in obligations.every_number(kernel, totals) if not obligations.fits(kernel, n, facts, True)]
    prover, values = kernel.simplify.prover, kernel.machine.launch.values
    known = (e.leaf for n in failing for e in walk(n[0]) if isinstance(e, Load) and not is_undefined(e))
    leaves = {leaf.name for leaf in known if leaf.kind == "int" and leaf.name not in prover.ranges}
    bits = max((n[3] for n in failing), default=0)
    if not leaves or values is None:
        return None
    try:
        data = {name: np.asarray(values(name.removesuffix("*"))) for name in sorted(leaves)}
    except Refused:
        return None
    for exponent in (bits - 2, bits // 2 - 1):      # sums of two, products of two
        half = 1 << exponent
        within = [name for name, of in data.items() if not ((of < -half) | (of >= half)).any()]
        for name in within:
            prover.assume_range(name, const(-half), const(half - 1))
        if within and all(obligations.fits(kernel, n, facts, True) for n in failing):
            return [f"−2^{exponent} ≤ {name.removesuffix('*')}[…] < 2^{exponent}" for name in within]
        for name in within:
            prover.withdraw_range(name)
    return None


def uncounted(kernel: Kernel) -> Iterator[Obligation]:
    """Tensors that are taken to be counts, of which the example has an element below 1, or nobody can look."""
    launch = kernel.machine.launch
    for name in sorted(leaf.removesuffix("*") for leaf in kernel.machine.counts):
        try:
            line = launch.values(name) if launch.values is not None else np.ones(1)
        except Refused as refused:
            yield Obligation("data", "undecided", f"{name}[…] ≥ 1 is needed; {refused}")
            continue
        if (line < 1).any():
            first = int(np.flatnonzero(line < 1)[0])
            told = f"{element_name(kernel, name, first)} = {line[first]:g}"
            yield Obligation("data", "undecided", f"{name}[…] ≥ 1 is needed, and the example has {told}")


def broken(kernel: Kernel, access: Write, use: Use) -> Obligation:
    """That the example breaks a condition, with the element and the lane that uses it, where there is one."""
    with timed(Obligation("data", "undecided", f"{use} is needed", str(access.access.place))) as found:
        values, example = kernel.machine.launch.values, kernel.machine.launch.example
        try:
            line = values(use.name) if values is not None else np.zeros(0)
        except Refused as refused:
            found.detail += f"; {refused}"
            return found
        below = value_at(use.below, example)
        first = int(np.flatnonzero(((line < use.low) | (line >= below)) & ~np.isin(line, use.but))[0])
        case = concrete.misused(kernel, access, use.element, below)
        if case is None:
            told = f"{element_name(kernel, use.name, first)} = {line[first]}"
            found.detail += f", and the example has {told}, which no lane is shown to use"
            return found
        told = f"{element_name(kernel, use.name, case.pop('offset'))} = {case.pop('index')}"
        found.state, found.counterexample = "violated", case | {"element": told}
        found.detail = f"{told} is out of bounds: {use} is needed"
    return found


def element_name(kernel: Kernel, name: str, offset: int) -> str:
    """The element of a tensor at an offset, by its indices."""
    memory = next(a.memory for a in kernel.reads if a.memory.name == name)
    case = concrete.Case(kernel.machine.launch.example)
    at = np.argwhere(concrete.elements(memory, case) == offset)
    return f"{name}{list(map(int, at[0])) if at.size else [offset]}"


def lookups(access: Write, kernel: Kernel) -> list[Use]:
    """What data is used as an index, read from the offset in a way in which that keeps the access inside, one that the
    example keeps before others: slot 18 of blocks of 8 is no row 18 of the first block. Else in one that the example
    keeps, or in the first one. Blocks of rows are looked for where whole indices are not enough."""
    readings = list(indices_at(access.memory, access.offset))
    ways = [(at, list(lookups_at(access, at, kernel))) for at in readings]
    blocks = [(at, list(lookups_at(access, at, kernel, read))) for read in (in_blocks, in_runs) for at in readings]
    kept, broken = list[tuple[Indices, list[Use]]](), list[tuple[Indices, list[Use]]]()
    for at, uses in (*ways, *blocks):
        if uses:
            (kept if all(is_kept(kernel, use) for use in uses) else broken).append((at, uses))
    enough = (uses for at, uses in (*kept, *broken) if keeps_inside(kernel, access, at, uses))
    others = (uses for at, uses in ways if (at, uses) in kept)
    return next(chain(enough, others), ways[0][1] if ways else [])


def lookups_at(
    access: Write, indices: tuple[Expr, ...], kernel: Kernel, read: Reading = lambda i, n: None
) -> Iterator[Use]:
    """Elements of integer tensors that are an index of what is accessed, or such divided by a size, or what else is
    read in an index, each with the number it must lie below. None where a condition on the same element stands before
    the access, other than that it is not a certain number."""
    for i, n in zip(indices, access.memory.shape, strict=True):
        element, below = read(i, integers.tidied(const(n))) or dividend(i, integers.tidied(const(n)))
        if not isinstance(element, Load) or is_undefined(element) or not is_made_of_sizes(below):
            continue
        facts = [fact for fact in access.facts if element in set(walk(fact))]
        signs = [fact for fact in facts if says_sign(fact, element)]
        but = [left_out(fact, element) for fact in facts if fact not in signs]
        if None not in but:
            # Of −1 that is divided C makes an index that may be good; what returns early may mean another dimension.
            used = access if element is i and not any(map(is_early, signs)) else None
            low = least_held(kernel, element) if signs else 0
            marks = (n for n in but if n is not None and not is_place(kernel, below, n))
            others = tuple(n for n in marks if may_be(kernel, element, n))
            yield Use(element, below, used, others, low)


def is_place(kernel: Kernel, below: Expr, number: int) -> bool:
    """Whether a number that the kernel leaves out lies below the end of the range in the example, as the row of a table
    for padding does: it is then one of the range, and no mark beside it."""
    launch = kernel.machine.launch
    return launch.values is not None and 0 <= number < value_at(below, launch.example)


def may_be(kernel: Kernel, element: Load, number: int) -> bool:
    """Whether an element may be a number that the kernel leaves out, by what is stated of the tensor."""
    prover, name = kernel.simplify.prover, element.leaf.name
    low, high = prover.ranges.get(name, (None, None))
    beyond = (isinstance(low, Num) and number < low.value) or (isinstance(high, Num) and number > high.value)
    return number in prover.excepted.get(name, ()) or not beyond


def says_sign(fact: Expr, element: Load) -> bool:
    """Whether a mask, or an early return, asks that an element is not negative, which a lane without one may have as
    −1."""
    match fact:
        case Compare("≤", zero, Where(_, then, Num(value))) if zero is ZERO:
            return then is element and value < 0
    return fact is integers.at_least_zero(element) or fact is not_(integers.less(element, 0))


def is_early(fact: Expr) -> bool:
    return isinstance(fact, Not)


def least_held(kernel: Kernel, element: Load) -> int:
    """The least element that a tensor has in the example, if that is below 0: what marks places that hold nothing."""
    values = kernel.machine.launch.values
    try:
        line = values(element.leaf.name.removesuffix("*")) if values is not None else np.zeros(1)
    except Refused:
        return 0
    return min(0, int(line.min())) if line.size else 0


def dividend(i: Expr, n: Expr) -> tuple[Expr, Expr]:
    """Of an index ⌊e/c⌋ below n, also where only an e that is not negative is rounded down, e and what it lies below;
    anything else is divided by 1."""
    whole = i.then if isinstance(i, Where) else i
    if not isinstance(whole, FloorDiv):
        return i, n
    rounded_down = whole is i or (isinstance(i, Where) and i.condition is integers.at_least_zero(whole.numerator))
    return (whole.numerator, integers.times_(n, whole.divisor)) if rounded_down else (i, n)


def in_blocks(i: Expr, n: Expr) -> tuple[Expr, Expr] | None:
    """Of an index c·e + r below n = c·m, as that of row r in block e, the one element e of data and the number m of
    blocks; None for another one."""
    elements = set(data_in(i))
    (element,) = elements if len(elements) == 1 else (None,)
    rows = {atoms: c for atoms, c in polynomials.polynomial(i).items() if element in atoms}
    if element is None or len(rows) != 1:
        return None
    ((atoms, c),) = rows.items()
    others = list(atoms)
    others.remove(element)
    if not others and abs(c) == 1:
        return None
    blocks, rest = polynomials.by_term(polynomials.polynomial(n), {tuple(others): c})
    return None if rest else (element, polynomials.written(blocks))


def in_runs(i: Expr, n: Expr) -> tuple[Expr, Expr] | None:
    """Of an index c·q + e below n = c·m, as that of place e in run q, the one element e of data and the number c of
    places; None for another one."""
    elements = set(data_in(i))
    (element,) = elements if len(elements) == 1 else (None,)
    rest = polynomials.polynomial(integers.minus(i, element)) if element is not None else {}
    if element is None or element in data_in(polynomials.written(rest)):
        return None
    terms = [*rest.items(), *polynomials.polynomial(n).items()]
    atoms = reduce(polynomials.in_common, (monomial for monomial, _ in terms))
    places = polynomials.written({atoms: gcd(*(c for _, c in terms))})
    return None if places is const(1) else (element, places)


def is_made_of_sizes(e: Expr) -> bool:
    """Whether it is written with sizes, numbers, sums and products alone."""
    return all(isinstance(part, Size | Num | Add | Mul) for part in walk(e))


def keeps_inside(kernel: Kernel, access: Write, indices: tuple[Expr, ...], uses: Iterable[Use]) -> bool:
    """Whether an access stays in its tensor where these elements lie in their ranges."""
    within = [
        part for u in uses for part in (integers.at_most(u.low, u.element), integers.less(u.element, u.below))
    ]
    return kernel.simplify.prover.proves((*access.facts, *within), in_shape(access.memory, indices))


def data_in(e: Expr) -> Iterator[Load]:
    """The elements of integer tensors that a number is worked out from, ranges of indices included; not those at which
    others are looked up."""
    if isinstance(e, Load):
        if e.leaf.kind == "int" and e.indices and not is_undefined(e):
            yield e
        return
    for part in e.children:
        yield from data_in(part)


def compared_with(i: Expr, facts: Facts) -> Iterator[Load]:
    """The elements that an index is worked out from, and others of their tensors in the conditions before it: where the
    next row begins, which a place in a row lies below."""
    own = list(data_in(i))
    leaves = {e.leaf for e in own}
    yield from dict.fromkeys((*own, *(e for fact in facts for e in data_in(fact) if e.leaf in leaves)))


def tiled(i: Expr, n: Expr) -> Iterator[Use]:
    """Data that says how many tiles there are, as of pages that a row fills: of ⌊(e + c)/d⌋ that lies no higher than n,
    e lies below d·(n + 1) − c."""
    for e in walk(i):
        match e:
            case FloorDiv(numerator, Num(d)):
                for load in data_in(numerator):
                    line = integers.linear(numerator, load)
                    if line is not None and line[0] == 1 and isinstance(line[1], Num):
                        yield Use(load, integers.minus(integers.times_(integers.plus_(n, 1), int(d)), line[1]))


def sums_of(i: Expr, n: Expr, facts: Facts) -> Iterator[Sum]:
    """Limits on sums of elements at one place under which an index lies below n: of starts[r] + t where t < lengths[r]
    that starts[r] + lengths[r] is no more than that."""
    for fact in facts:
        if isinstance(fact, Compare) and fact.op == "≤" and fact.left is ZERO:
            most = polynomials.polynomial(integers.plus_(i, fact.right))
            data = {atoms[0]: c for atoms, c in most.items() if len(atoms) == 1 and isinstance(atoms[0], Load)}
            rest = polynomials.written({atoms: c for atoms, c in most.items() if atoms[:1] not in [(e,) for e in data]})
            if len(data) > 1 and len({e.indices for e in data}) == 1 and is_made_of_sizes(rest):
                times = {e.leaf.name.removesuffix("*"): c for e, c in data.items()}
                yield Sum(times, integers.minus(integers.minus(n, 1), rest))


def left_out(fact: Expr, element: Expr) -> int | None:
    """The number that the fact says an element is not; None for another fact."""
    if not isinstance(fact, Not) or not isinstance(fact.argument, Compare) or fact.argument.op != "=":
        return None
    found = integers.linear(integers.minus(fact.argument.right, fact.argument.left), element)
    if found is None or not isinstance(found[1], Num) or abs(found[0]) != 1:
        return None
    return -int(found[0] * found[1].value)


def as_one_line(use: Use) -> Iterator[Use]:
    """The same element as an index of the whole tensor, where it is all of the offset."""
    access = use.access
    if access is not None and access.offset is use.element and is_contiguous(access.memory):
        yield replace(use, below=flat_range(access.memory)[1])


def tested(covers: Expr) -> Iterator[Use]:
    """Data that the kernel itself tests to be in range before it writes: an element, and its last good value. Where it
    is not, nothing is written."""
    parts = list(literals(covers))
    for part in parts:
        if not isinstance(part, Compare) or part.op != "≤" or part.left is not ZERO:
            continue
        for e in walk(part.right):
            found = isinstance(e, Load) and e.leaf.kind == "int" and not is_undefined(e)
            last = integers.plus_(part.right, e) if found else None
            if last is not None and not last.free and integers.at_least_zero(e) in parts:
                yield Use(e, integers.plus_(last, 1))  # type: ignore[arg-type]
