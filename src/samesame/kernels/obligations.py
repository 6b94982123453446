"""What must hold besides the formula, each for all sizes, programs and lanes.

A formula alone is not enough: a mask with `<=`, overlapping blocks and a load past the end can leave it unchanged. So
every element of an output must be written (coverage), by one program (race), through pointers that stay in their
tensors (bounds); no undefined value may reach a store (undefined); no number may wrap around (overflow); and
what a kernel reads must be what it is taken for (`aliasing.py`). Z3 proves each for all sizes; what it does
not prove is tried on numbers, in `concrete.py`, and is violated only where that finds a case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from typing import cast

from samesame.formula.expr import (
    TRUE,
    ZERO,
    Expr,
    Fold,
    Index,
    Load,
    Num,
    Opaque,
    Where,
    and_,
    const,
    index,
    not_,
    or_,
    substitute,
    walk,
)
from samesame.formula.show import unicode, unicode_tensor
from samesame.formula.tensor import tensor_over
from samesame.kernels.execution.accesses import Access
from samesame.kernels.execution.symbolic import Machine
from samesame.kernels.execution.values import WRAPS, Demand, fits_by_design, undefined_at
from samesame.kernels.formulas.algebra import under_binders
from samesame.kernels.formulas.present import presentable
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import greatest
from samesame.kernels.indices.solver import Facts, with_fact
from samesame.kernels.launch import Memory, whole_numbers
from samesame.kernels.tiles.by_data import goes_by_data, stores_one_value
from samesame.kernels.tiles.detile import (
    Solution,
    Write,
    by_program,
    scattered,
    solved,
    taken_as_one,
    tells_programs,
    write_of,
)
from samesame.kernels.tiles.memory import element, flat_range, tells_elements
from samesame.kernels.verdict import Obligation, power_text, widths
from samesame.operators.clamped import clamped

STORES = ("store",)
FOLDS = ("sum", "max", "min")  # what atomic operations make of an element and all that reaches it, in any order
UPDATED = {"sum": "added to", "max": "raised", "min": "lowered"}
LONGEST = 160  # characters of a condition in a sentence
UNTOLD = "it cannot be told from the offsets which elements are written of"


@dataclass
class Kernel:
    """A kernel after its symbolic execution: what it reads and writes, over index variables."""

    machine: Machine
    simplify: Simplifier
    reads: list[Write] = field(default_factory=list)
    echoes: list[Write] = field(default_factory=list)  # reads of what the lane itself stored in a loop before
    writes: list[Write] = field(default_factory=list)
    solutions: dict[Write, Solution | None] = field(default_factory=dict)

    @property
    def outputs(self) -> dict[str, list[Write]]:
        found: dict[str, list[Write]] = {}
        for write in self.writes:
            found.setdefault(write.memory.name, []).append(write)
        return found

    def of(self, access: Access) -> list[Write]:
        """An access as it is looked at: once, or for each of a program id's few values."""
        return [a for a in (*self.reads, *self.echoes, *self.writes) if a.access is access]

    def read(self) -> None:
        """Accesses as expressions over programs, iterations and lanes."""
        for access in self.machine.accesses:
            one = write_of(access, self.machine.programs, self.simplify)
            parts = by_program(one, self.machine.programs, self.simplify)
            reads = self.reads if access.own is None else self.echoes
            (reads if access.kind == "load" else self.writes).extend(parts)
        self.solve()

    def solve(self) -> None:
        self.solutions = {write: solved(write, self.simplify) for write in self.writes}
        for write, solution in self.solutions.items():
            if solution is not None and goes_by_data(solution) and self.is_settled(write, solution):
                self.solutions[write] = scattered(solution, self.simplify)

    def is_settled(self, write: Write, solution: Solution) -> bool:
        """Whether of several that reach one element by data none counts more than another, or there is only one."""
        if stores_one_value(write, solution, self.machine.programs, self.simplify):
            return True
        prover = self.simplify.prover
        return bool(prover.distinct or prover.ascending) and not_twice(self, write, write)


@contextmanager
def timed(obligation: Obligation) -> Iterator[Obligation]:
    started = time.perf_counter()
    yield obligation
    obligation.seconds = time.perf_counter() - started


# ------------------------------------------------------------------------------------------------------------ coverage


def coverage(kernel: Kernel, name: str, writes: Sequence[Write]) -> Obligation:
    """Every element of the output is written."""
    place = str(writes[0].access.place)
    with timed(Obligation("coverage", "undecided", f"every element of {name} is written", place)) as found:
        covers = covered(kernel, writes)
        if covers is TRUE:
            found.state = "proved"
        elif keeps_the_rest(kernel, writes):
            found.state, found.detail = "proved", f"elements of {name} that are not written keep what they held"
        elif covers is None:
            found.detail = f"{UNTOLD} {name}"
        else:
            found.detail = not_all(name, cast(Solution, kernel.solutions[writes[0]]).indices, covers)
    return found


def not_all(name: str, indices: tuple[Index, ...], covers: Expr) -> str:
    """What is known of the elements that are written, where that is not all of them."""
    whole = tensor_over(indices, presentable(covers))
    element, _, condition = unicode_tensor(name, whole).partition(" = ")
    short = not covers.free - set(indices) and len(condition) <= LONGEST
    return f"it is not shown that every element of {name} is written" + f": {element} is if {condition}" * short


def covered(kernel: Kernel, writes: Sequence[Write]) -> Expr | None:
    """The condition under which an element is written by one of the stores; None where a store is not understood."""
    solutions = [kernel.solutions[write] for write in writes]
    if any(s is None for s in solutions):
        return None
    known = cast("list[Solution]", solutions)
    common = known[0].indices
    parts = [renamed(s.covers, s.indices, common) for s in known]
    whole = or_(*parts)
    return TRUE if kernel.simplify.prover.proves((), whole) else kernel.simplify(whole)


def reading(kernel: Kernel) -> list[Write]:
    """The accesses that take what memory holds: an atomic operation is one."""
    return [*kernel.reads, *(write for write in kernel.writes if write.access.kind not in STORES)]


def keeps_the_rest(kernel: Kernel, writes: Sequence[Write]) -> bool:
    """Whether every element held something before the launch, and it is known which ones are written."""
    if any(w.memory.contents in (None, "parts") for w in writes):
        return False
    if all(w.access.kind in FOLDS for w in writes):
        return all(tells_writers(kernel, w) for w in writes)
    return tells_what_is_written(kernel, writes)


def tells_writers(kernel: Kernel, write: Write) -> bool:
    """Whether the programs, iterations and lanes that write an element are known: all values of some variables, and of
    each other one the only value that leads there."""
    solution = kernel.solutions[write]
    if solution is None or not tells_elements(write.memory, kernel.simplify):
        return False
    return not tells_programs(solution, kernel.simplify)


def tells_what_is_written(kernel: Kernel, writes: Sequence[Write]) -> bool:
    """Whether it is known exactly which elements are written: each tells the one program, iteration and lane that may
    write it, and has no other name under which it is written."""
    if any(share(a.memory, b.memory) for a in writes for b in kernel.writes):
        return False
    solutions = [kernel.solutions[w] for w in writes]
    alone = all(s is not None and (s.scattered or not s.free) for s in solutions)
    return alone and all(tells_writers(kernel, w) for w in writes)


def renamed(expr: Expr, old: Sequence[Index], new: Sequence[Index]) -> Expr:
    return integers.tidied(substitute(expr, cast("dict[Index, Expr]", dict(zip(old, new, strict=True)))))


# ---------------------------------------------------------------------------------------------------------------- race


def race(kernel: Kernel, name: str, writes: Sequence[Write]) -> Obligation:
    """No two programs write one element, by whichever name. Atomic operations of one kind may."""
    place = str(writes[0].access.place)
    with timed(Obligation("race", "undecided", f"no two programs write one element of {name}", place)) as found:
        shared = ((a, b) for a in writes for b in kernel.writes if share(a.memory, b.memory))
        meets = next((b for a, b in shared if not disjoint(kernel, a, b)), None)
        if meets is not None:
            found.detail = f"{name} and {meets.memory.name} lie in one memory, and both are written"
            return found
        stores = [w for w in writes if w.access.kind in STORES]
        if len(stores) != len(writes) and stores:
            found.detail = f"{name} is stored to and updated atomically: the result may depend on the order of programs"
            return found
        kinds = {w.access.kind for w in writes}
        if not stores:
            told = all(tells_writers(kernel, w) for w in writes)
            one = all(a.access.kind == b.access.kind or disjoint(kernel, a, b) for a, b in combinations(writes, 2))
            found.state = "proved" if one and kinds <= set(FOLDS) and told else "undecided"
            words = f"{name} is only {' and '.join(UPDATED.get(k, k) for k in sorted(kinds))}, atomically"
            found.detail = words if told else f"{words}, by programs that cannot be told from the element"
            return found
        alone = all(written_once(kernel, w) for w in stores)
        apart = all(disjoint(kernel, a, b) or by_one_lane(kernel, a, b) for a, b in combinations(stores, 2))
        told = all(kernel.solutions[w] is not None for w in stores)
        found.state = "proved" if alone and apart else "undecided"
        if found.state == "undecided":
            why = "an element does not tell its program" if told else "offsets do not tell elements"
            found.detail = f"it is not shown that no two programs write one element of {name}: {why}"
    return found


def written_once(kernel: Kernel, write: Write) -> bool:
    """Whether the element tells the program, iteration and lane; what it does not depend on must not matter either."""
    solution = kernel.solutions[write]
    if solution is not None and solution.scattered:
        return True
    if solution is not None and tells_elements(write.memory, kernel.simplify):
        unsure = tells_programs(solution, kernel.simplify)
        own = (*kernel.machine.programs, *write.access.loops)
        digits = set(solution.write.variables) - set(write.variables)
        extra = [v for v in solution.free if v in own or v in digits or v in solution.write.value.free]
        if not unsure and not extra:
            return True
        if not all(v in solution.write.condition.free for v in extra):
            return False
    return not_twice(kernel, write, write)


def not_twice(kernel: Kernel, a: Write, b: Write) -> bool:
    """Whether no two different (program, iteration, lane) of the two writes meet in one element, asked directly."""
    first, second = copied(a), copied(b)
    same = at_same_element(kernel, first, second)
    if same is None:
        return False
    other = (
        or_(*(not_(integers.equal(v, w)) for v, w in zip(first.variables, second.variables, strict=True)))
        if a is b
        else TRUE
    )
    known: Facts = with_fact(with_fact(with_fact((), first.condition), second.condition), same)
    return kernel.simplify.prover.proves(known, not_(other))


def copied(write: Write) -> Write:
    """The same write over variables of its own; how often a loop runs in a program whose number is known is told by
    that number, not by one that both copies share."""
    fresh: dict[Index, Expr] = {v: const(k) for v, k in write.fixed}
    for v in write.variables:
        fresh[v] = index(integers.tidied(substitute(v.extent, fresh)))
    new = [integers.tidied(substitute(e, fresh)) for e in (write.offset, write.condition, write.value)]
    variables = tuple(cast(Index, fresh[v]) for v in write.variables)
    return Write(write.access, write.memory, variables, new[0], new[1], new[2], write.fixed)


def at_same_element(kernel: Kernel, a: Write, b: Write) -> Expr | None:
    """The condition that two accesses meet; None where it is not known how their tensors lie."""
    if a.memory == b.memory:
        if not tells_elements(a.memory, kernel.simplify):
            return integers.equal(a.offset, b.offset)
        first, second = (element(w.memory, w.offset, w.facts, kernel.simplify) for w in (a, b))
        if first is not None and second is not None:
            return and_(*(integers.equal(x, y) for x, y in zip(first, second, strict=True)))
        return integers.equal(a.offset, b.offset)
    starts = [w.memory.base for w in (a, b) if w.memory.base is not None]
    if a.memory.element != b.memory.element or len(starts) < 2:
        return None
    here, there = (integers.tidied(const(start)) for start in starts)
    return integers.equal(integers.plus_(a.offset, here), integers.plus_(b.offset, there))


def share(a: Memory, b: Memory) -> bool:
    """Whether these are two tensors in one memory."""
    return a != b and bool(a.storage) and a.storage == b.storage


def disjoint(kernel: Kernel, a: Write, b: Write) -> bool:
    """Whether two stores never meet in one element, in whichever programs: what each covers tells, where that is all
    it writes, or they are asked about directly."""
    first, second = kernel.solutions[a], kernel.solutions[b]
    if first and second and a.memory == b.memory and tells_what_is_written(kernel, (a, b)):
        covers = renamed(second.covers, second.indices, first.indices)
        if kernel.simplify.prover.proves(with_fact((), first.covers), not_(covers)):
            return True
    return not_twice(kernel, a, b)


def by_one_lane(kernel: Kernel, a: Write, b: Write) -> bool:
    """Whether two stores that meet in one element are by one lane, in one iteration, which stores twice: the later one
    counts, as in the kernel's text."""
    if a.memory != b.memory or a.fixed != b.fixed or a.access.loops != b.access.loops or len(a.lanes) != len(b.lanes):
        return False
    first, second = copied(a), copied(b)
    same = at_same_element(kernel, first, second)
    if same is None:
        return False
    known = with_fact(with_fact(with_fact((), first.condition), second.condition), same)
    mine, theirs = (dict(zip(w.variables, c.variables, strict=True)) for w, c in ((a, first), (b, second)))
    own = [v for v in (*kernel.machine.programs, *a.access.loops) if v in mine or v in theirs]
    if not all(v in mine and v in theirs for v in own):
        return False
    pairs = [*((v, v) for v in own), *zip(a.lanes, b.lanes, strict=True)]
    prover = kernel.simplify.prover
    return all(prover.proves(known, integers.equal(mine.get(v, ZERO), theirs.get(w, ZERO))) for v, w in pairs)


# -------------------------------------------------------------------------------------------------------------- bounds


def bounds(kernel: Kernel) -> Obligation:
    """Every load and store that is not masked out stays inside its tensor."""
    with timed(Obligation("bounds", "proved", "every load and store stays inside its tensor")) as found:
        for access in (*kernel.reads, *kernel.writes):
            if not is_inside(kernel, access):
                found.state, found.place = "undecided", str(access.access.place)
                found.detail = f"{access.access.kind} of {access.memory.name} is not shown to stay inside it"
                break
        for place, demand in unmet(kernel) if found.state == "proved" else ():
            found.state, found.place, found.detail = "undecided", place, demand.otherwise
            break
    return found


def unmet(kernel: Kernel) -> Iterator[tuple[str, Demand]]:
    """What must hold where memory is accessed, and is not shown to, with the line."""
    for access in kernel.machine.accesses:
        known = with_fact((), integers.tidied(and_(*access.path)))
        for demand in access.pointers.demands:
            if not kernel.simplify.prover.proves(known, integers.tidied(demand.condition)):
                yield str(access.place), demand


def is_inside(kernel: Kernel, access: Write) -> bool:
    """Whether an access stays in its tensor: a store that is solved does, as it is shown which elements it writes."""
    if kernel.solutions.get(access) is not None:
        return True
    prover = kernel.simplify.prover
    first, end = flat_range(access.memory)
    inside = and_(integers.at_most(first, access.offset), integers.less(access.offset, end))
    if prover.proves(access.facts, inside, thorough=False):
        return True
    one = taken_as_one(access, kernel.simplify)
    if element(one.memory, one.offset, one.facts, kernel.simplify) is not None:
        return True
    return prover.proves(access.facts, inside)


# ------------------------------------------------------------------------------------------------------------ overflow


@dataclass(frozen=True)
class Limit:
    """A limit on sizes under which 32-bit numbers are asked not to wrap around. 0 elements: no limit on tensors.
    `besides` are conditions on sizes that a tensor's elements do not tell."""

    elements: int
    besides: Facts = ()

    def facts(self, kernel: Kernel) -> Facts:
        found: dict[Expr, None] = dict.fromkeys(self.besides)
        memories = {a.memory.name: a.memory for a in (*kernel.reads, *kernel.writes)}
        for memory in memories.values():
            if self.elements:
                first, end = flat_range(memory)
                found[integers.at_most(integers.minus(end, first), self.elements)] = None
        return tuple(found)

    def __str__(self) -> str:
        spans = f"every tensor spans at most {power_text(self.elements)} elements"
        return ", ".join((spans, *(unicode(presentable(condition)) for condition in self.besides)))


WORD = 32  # bits; what is kept in longer numbers is taken to fit
LIMITS = (Limit(0), Limit((1 << 31) - (1 << 16)), Limit(1 << 30))


def overflow(
    kernel: Kernel, limits: Sequence[Limit], allowed: Callable[[Expr], bool], totals: Mapping[str, Expr]
) -> tuple[Obligation, Limit | None]:
    """No number of 32 bits or fewer has wrapped around where it is not only added and multiplied further, nor one of
    the `totals` that atomic operations add up. Each limit says more than the one before it."""
    with timed(Obligation("overflow", "undecided")) as found:
        numbers = list(every_number(kernel, totals))
        found.detail = f"no {widths(number[3] for number in numbers)} number wraps around"
        fine = found.detail
        for limit in limits:
            facts = limit.facts(kernel)
            if not all(map(allowed, facts)):
                continue
            last = limit is limits[-1]
            while numbers and fits(kernel, numbers[0], facts, last):
                numbers.pop(0)
            if not numbers:
                found.state = "proved"
                found.detail = f"{fine}, if {limit}" if limit.elements else fine
                return found, limit if limit.elements else None
            found.place = str(numbers[0][2])
            found.detail = f"a number of {numbers[0][3]} bits may wrap around"
    return found, None


Number = tuple[Expr, Facts, object, int, Access | None]


def narrowed(kernel: Kernel, limit: Limit, totals: Mapping[str, Expr]) -> Limit | None:
    """The limit with conditions on sizes besides: the greatest value of each number that may wrap around fits. That is
    more than is needed where a mask leaves out what is large. None where no such value is known: of one number it may
    not be, as of an end that is the least of two, which fits where the others do."""
    facts = limit.facts(kernel)
    besides: dict[Expr, None] = {}
    for number in every_number(kernel, totals):
        most = greatest(number[0], kernel.simplify.prover.held)
        if most is not None and not fits(kernel, number, facts, True):
            besides[integers.at_most(most, (1 << (number[3] - 1)) - 1)] = None
    kept = dict(besides)
    for condition in besides:
        others = [c for c in kept if c is not condition]
        if kernel.simplify.prover.proves(others, condition, thorough=False):
            del kept[condition]
    return replace(limit, besides=tuple(kept)) if kept else None


def numbers_of(kernel: Kernel) -> Iterator[Number]:
    """Each number that must fit, with the conditions where it is used, its line, its bits, and the access of which it
    is the offset."""
    seen: set[tuple[Expr, Facts, int]] = set()
    machine = kernel.machine
    for arithmetic in machine.arithmetic:
        lanes = tuple(index(n) for n in arithmetic.result.shape)
        condition = and_(*arithmetic.path, arithmetic.mask[lanes] if arithmetic.mask is not None else TRUE)
        yield from _number(arithmetic.result[lanes], condition, arithmetic.place, arithmetic.bits, seen)
    for access in machine.accesses:
        lanes = tuple(index(n) for n in access.pointers.shape)
        condition = and_(*access.path, access.mask[lanes] if access.mask is not None else TRUE)
        whole = integers.tidied(access.pointers.offsets[lanes])
        for part in access.pointers.parts:
            number = part.number[lanes if part.number.shape else ()]        # a descriptor's base is one for all lanes
            of = access if integers.tidied(number) is whole else None
            yield from _number(number, condition, access.place, part.bits, seen, of)
        memory = access.pointers.memory
        if access.value is not None and memory.kind == access.value.kind == "int":
            low, high = whole_numbers(memory.element)
            half = (high - low + 1) // 2
            as_signed = integers.minus(access.value[lanes], low + half)
            if half.bit_length() <= WORD:
                yield from _number(as_signed, condition, access.place, half.bit_length(), seen)


def every_number(kernel: Kernel, totals: Mapping[str, Expr]) -> Iterator[Number]:
    """Those, and what atomic operations add up."""
    yield from numbers_of(kernel)
    yield from added_up(kernel, totals)


def added_up(kernel: Kernel, totals: Mapping[str, Expr]) -> Iterator[Number]:
    """What outputs hold after all atomic additions, where these are integers: partial sums may wrap around and come
    right again, the total may not."""
    for name, writes in kernel.outputs.items():
        memory, place = writes[0].memory, writes[0].access.place
        if name in totals and memory.kind == "int" and any(w.access.kind == "sum" for w in writes):
            low, high = whole_numbers(memory.element)
            half = (high - low + 1) // 2
            yield integers.minus(totals[name], low + half), (), place, half.bit_length(), None


def _number(
    expr: Expr,
    condition: Expr,
    place: object,
    bits: int,
    seen: set[tuple[Expr, Facts, int]],
    access: Access | None = None,
) -> Iterator[Number]:
    e = integers.tidied(expr)
    facts = with_fact((), integers.tidied(condition))
    if fits_by_design(e, bits) or (e, facts, bits) in seen:
        return
    seen.add((e, facts, bits))
    yield e, facts, place, bits, access


def fits(kernel: Kernel, number: Number, limits: Facts, thorough: bool) -> bool:
    """Whether a number keeps to its bits. An offset inside its tensor does where all of that tensor's do."""
    expr, facts, _, bits, access = number
    prover = kernel.simplify.prover
    most = (1 << (bits - 1)) - 1
    inside = and_(integers.at_most(-most - 1, expr), integers.at_most(expr, most))
    arguments = tuple(
        integers.at_most(given, (1 << (WORD - 1)) - 1)
        for given in kernel.machine.scalars.values()
        if given.kind == "int" and not isinstance(given, Num)
    )
    known = (*facts, *limits, *arguments, *ranges_in(kernel, expr))
    if prover.proves(known, inside, thorough=False):
        return True
    if access is not None and all(is_inside(kernel, a) for a in kernel.of(access)):
        first, end = flat_range(access.pointers.memory)
        span = and_(integers.at_most(-most - 1, first), integers.at_most(end, most + 1))
        if prover.proves(limits, span, thorough=False):
            return True
    if not thorough:
        return False
    ends = (greatest(expr, prover.held), greatest(integers.times_(expr, -1), prover.held))
    if all(end is not None for end in ends):
        within = and_(*(integers.at_most(cast(Expr, end), most) for end in ends))
        if prover.proves(known, within, thorough=False):
            return True
    return prover.proves(known, inside)


def ranges_in(kernel: Kernel, expr: Expr) -> Iterator[Expr]:
    """What is known of integers in an expression: elements of a tensor fit its dtype, and a count is no more than
    what is counted."""
    elements = {f"{read.memory.name}*": read.memory.element for read in kernel.reads}
    whole = [read for read in kernel.reads if read.memory.kind != "real"]  # a division may stand on a load's line
    elements |= {undefined_at(read.access.place): read.memory.element for read in whole}
    for e in walk(expr):
        if e.kind != "int" or e.free & under_binders(expr):
            continue
        if isinstance(e, Load) and e.leaf.name in elements:
            if elements[e.leaf.name] == "i1":  # as the byte that it is
                elements[e.leaf.name] = "i8"
            low, high = whole_numbers(elements[e.leaf.name])
            yield from (integers.at_most(low, e), integers.at_most(e, high))
        if isinstance(e, Opaque) and e.name.startswith(WRAPS) and isinstance(e.attributes, int):
            half = 1 << (e.attributes - 1)
            yield from (integers.at_most(-half, e), integers.less(e, half))
        if isinstance(e, Opaque) and e.name == "trunc" and (ends := clamped(e.arguments[0].body)) is not None:
            yield from (integers.at_most(int(ends[0]), e), integers.at_most(e, int(ends[1])))
        most = counted(e)
        if isinstance(e, Fold) and most is not None:
            yield from (integers.at_least_zero(e), integers.at_most(e, most))


def counted(e: Expr) -> Expr | None:
    """Of 1 or 0, and of sums and extrema of such, how many there are at most; None for anything else."""
    if isinstance(e, Where) and {e.then, e.otherwise} <= {ZERO, const(1)}:
        return const(1)
    most = counted(e.body) if isinstance(e, Fold) else None
    if most is not None and isinstance(e, Fold) and most.free & set(e.bound):
        most = next((more for more in integers.never_less(most) if not more.free & set(e.bound)), None)
    if most is None or not isinstance(e, Fold):
        return None
    if e.monoid in ("max", "min"):
        return most if all(isinstance(v.extent, Num) and v.extent.value > 0 for v in e.bound) else None
    if e.monoid != "sum":
        return None
    lengths = [v.extent if isinstance(v.extent, Num) else integers.flattened("max", (v.extent, ZERO)) for v in e.bound]
    return None if any(n.free & set(e.bound) for n in lengths) else reduce(integers.times_, lengths, most)
