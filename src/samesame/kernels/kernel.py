"""One launch from end to end: formulas, preconditions, obligations.

Preconditions are found, not asked for: where an obligation fails only beyond some size (a row longer than its tile),
the condition on that size is assumed if the recorded launch itself fulfils it, and printed. A condition that the
launch does not fulfil is never assumed: then the launch itself is the counterexample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from samesame.evidence import Refused
from samesame.formula.expr import (
    TRUE,
    Expr,
    Fold,
    Index,
    Size,
    Unsupported,
    Where,
    and_,
    const,
    index,
    substitute,
    walk,
    where,
)
from samesame.formula.show import latex_tensor, unicode, unicode_tensor
from samesame.formula.tensor import Dim, tensor_over
from samesame.kernels import clock, concrete, explained, obligations
from samesame.kernels.aliasing import undisturbed
from samesame.kernels.capacity import at_the_end, is_capacity, limits
from samesame.kernels.data import Conditions, short, uncounted
from samesame.kernels.divisions import divisions
from samesame.kernels.execution.descriptors import ALIGNED
from samesame.kernels.execution.symbolic import Machine
from samesame.kernels.execution.ttir import parse
from samesame.kernels.execution.values import element_at, undefined_in
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.defined import Definedness
from samesame.kernels.formulas.present import presentable
from samesame.kernels.formulas.simplify import Simplifier, literals
from samesame.kernels.formulas.textbook import textbook
from samesame.kernels.granted import Granted, without_quotient
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import holds_by_ranges
from samesame.kernels.indices.solver import WORK, Facts, IndexProver, with_fact
from samesame.kernels.launch import Launch, Memory, whole_numbers
from samesame.kernels.loops.carried import ALL_MEANS, Means
from samesame.kernels.loops.closed import MoreThanOnce
from samesame.kernels.loops.steps import COMBINED
from samesame.kernels.obligations import LIMITS, Kernel, Limit
from samesame.kernels.stated import Above, Apart, Ascending, Distinct, Rising
from samesame.kernels.tiles.by_data import places_in
from samesame.kernels.tiles.detile import Solution, Write, reached, value_at
from samesame.kernels.tiles.memory import flat_range, offset_of, with_elements
from samesame.kernels.tiles.rows import Joined, apart, knows_rows, restated, with_rows
from samesame.kernels.tuning import tuning
from samesame.kernels.verdict import Formula, KernelVerdict, Obligation
from samesame.operators.numbers import readings

MOST_PRECONDITIONS = 8
ASKING = 2 / 3  # of the time: in the rest nothing more is asked, and what is known is made use of
Search = Callable[[], "dict[str, Any] | None"]
Formulated = tuple[tuple[Dim, ...], tuple[Index, ...], Expr]  # shape, indices, formula


@dataclass(frozen=True)
class Settings:
    """`seconds` limits the time of one kernel, `work` one query, by the solver's own count; `elements` is how many
    elements tensors may have where that matters for overflow (0: the largest number for which the kernel is right is
    found); `explain` keeps the steps of every formula; `means` is what looking for closed forms of loops may use."""

    seconds: float = 10.0
    work: int = WORK
    elements: int = 0
    explain: bool = False
    means: Means = ALL_MEANS


def lift_launch(launch: Launch, settings: Settings | None = None) -> KernelVerdict:
    """Lift one launch. What is not supported is named in the verdict, which then is undecided."""
    settings = settings or Settings()
    started = time.perf_counter()
    with clock.limited(settings.seconds):
        verdict = _in_rows(launch, settings)
        for fixed in launch.held_in_turn() if verdict.verdict != "verified" else ():
            if verdict.verdict == "verified" or not clock.left():
                break
            other = _in_rows(launch.at(fixed), settings)
            if other.verdict == "verified" or tells_more(other, verdict):
                other.demand(f"{name} = {n}" for name, n in fixed.items())
                other.held = fixed
                verdict = other
    verdict.seconds = time.perf_counter() - started
    return verdict


def all_told(verdict: KernelVerdict) -> bool:
    """Whether there is a formula for every output."""
    return not verdict.unsupported and all(f.expr is not None for f in verdict.formulas)


def tells_more(one: KernelVerdict, other: KernelVerdict) -> bool:
    """Whether there are formulas in the one verdict that are not in the other, or, of two that leave something open,
    more is proved in it."""
    if all_told(one) != all_told(other) or {one.verdict, other.verdict} != {"undecided"}:
        return all_told(one) and not all_told(other)
    return proofs(one) > proofs(other)


def _in_rows(launch: Launch, settings: Settings) -> KernelVerdict:
    """Lift the launch as it is and with dimensions joined that it takes as one: first the way in which it speaks of
    its tensors, then the other one where that was not enough."""
    whole, joined = with_rows(launch)
    ways = [(whole, joined), (launch, {})] if joined else [(launch, {})]
    found: list[KernelVerdict] = []
    for way, tensors in reversed(ways) if joined and knows_rows(launch, joined) else ways:
        if found and not clock.left():
            break
        found.append(_lifted(way, tensors, settings))
        if found[-1].verdict != "undecided":
            return found[-1]
    return max(found, key=lambda v: (all_told(v), is_proved(v, "value"), proofs(v)))


def proofs(verdict: KernelVerdict) -> int:
    return sum(o.state == "proved" for o in verdict.obligations)


def is_proved(verdict: KernelVerdict, obligation: str) -> bool:
    return any(o.name == obligation and o.state == "proved" for o in verdict.obligations)


def _lifted(
    launch: Launch, joined: dict[str, Joined], settings: Settings, once: tuple[Expr, ...] = ()
) -> KernelVerdict:
    """Lift the launch; `once` are conditions under which loops are run once at most, for want of a closed form."""
    started = time.perf_counter()
    verdict = KernelVerdict(launch.name, launch.place, told=dict(launch.told))
    lifting = _Lifting(launch, joined, settings, verdict, once)
    try:
        with readings() as found:
            lifting.run()
        verdict.readings = sorted(map(str, found))
    except MoreThanOnce as found_none:
        if clock.left() and len(once) < MOST_PRECONDITIONS and lifting.may_assume(found_none.once):
            return _lifted(launch, joined, settings, (*once, found_none.once))
        verdict.unsupported.append(str(found_none))
    except (Refused, Unsupported) as refused:
        verdict.unsupported.append(str(refused))
        verdict.formulas.clear()
    except RecursionError:
        verdict.unsupported.append(f"{launch.place or launch.name}: the kernel's formulas are nested too deeply")
    verdict.seconds = time.perf_counter() - started
    return verdict


class _Lifting:
    def __init__(
        self,
        launch: Launch,
        joined: dict[str, Joined],
        settings: Settings,
        verdict: KernelVerdict,
        once: tuple[Expr, ...],
    ) -> None:
        self.launch, self.joined, self.settings, self.verdict = launch, joined, settings, verdict
        self.prover = IndexProver(settings.work, ASKING * clock.left())
        guards = map(integers.tidied, launch.guards)
        self.guards = [c for c in guards if c is not TRUE and not holds_by_ranges(c)]
        self.prover.assumed += [*self.guards, *once]
        self.simplify = Simplifier(self.prover)
        self.preconditions: dict[Expr, None] = dict.fromkeys(once)
        self.doubtful: set[str] = set()  # tensors whose values may be no numbers
        self.demands: list[str] = []  # what is needed besides conditions on sizes
        self.limits: dict[Expr, None] = {}  # on sizes, by what tensors hold
        self.partly: set[str] = set()  # tensors of which it is not known what is written
        self.state(launch)

    def state(self, launch: Launch) -> None:
        """Take a user's contracts on what tensors hold for granted, and say so."""
        memories = {given.name: given for given in launch.arguments.values() if isinstance(given, Memory)}
        for name, claims in launch.stated.items():
            self.verdict.stated += [claim.words(name) for claim in claims]
            for claim in claims:
                if isinstance(claim, Distinct):
                    self.prover.distinct[f"{name}*"] = Apart(claim, flat_range(memories[name])[1])
                    continue
                if isinstance(claim, Ascending):
                    self.prover.ascending[f"{name}*"] = Rising(flat_range(memories[name])[1])
                    continue
                if isinstance(claim, Above):
                    continue  # its memory says so, where nobody has written to it
                ends = whole_numbers(memories[name].element)
                stated = (e if a is None else a for a, e in zip((claim.low, claim.high), ends, strict=True))
                low, high = (integers.tidied(const(end)) for end in stated)
                self.prover.assume_range(f"{name}*", low, high, claim.but)
        self.verdict.stated += [f"{name} is −∞ where earlier launches leave it so" for name in launch.told]
        for leaf, (low, high) in launch.ranges.items():
            first, last = unicode(presentable(low)), unicode(presentable(high))
            self.verdict.stated.append(f"{first} ≤ {leaf.removesuffix('*')}[…] ≤ {last}")
            self.prover.assume_range(leaf, low, high)

    def run(self) -> None:
        self.machine = machine = Machine(self.launch, self.prover, means=self.settings.means)
        machine.run(parse(self.launch.ttir, self.launch.source or self.launch.name))
        self.kernel = Kernel(machine, self.simplify)
        self.kernel.read()
        if not self.kernel.outputs:
            raise Refused(f"{self.launch.place or self.launch.name}: the kernel stores nothing")
        try:
            self.decide(machine)
        finally:
            self.tell_conditions(machine)  # also of what is decided when the time ends

    def decide(self, machine: Machine) -> None:
        """Formulas and obligations, and the conditions under which they hold."""
        self.find_ranges()
        self.find_preconditions()
        if self.settings.explain:
            self.verdict.stages += explained.loops(machine.steps)
        found = [self.formula(name, writes) for name, writes in self.kernel.outputs.items()]
        alone = {name: self.coverage_and_race(name, writes) for name, writes in self.kernel.outputs.items()}
        outside = partial(concrete.outside, self.kernel)
        self.note(self.with_case(obligations.bounds(self.kernel), outside, "an access leaves its tensor"))
        self.undefined()
        granted = Granted(self.kernel, self.keeps, self.overflow())
        granted.find()
        self.verdict.preconditions += granted.needs
        self.demands = list(granted.demands)
        self.verdict.obligations += granted.obligations
        aliasing, taken = undisturbed(self.kernel)
        self.verdict.preconditions += taken
        self.note(aliasing)
        self.value(found)
        self.verdict.obligations += uncounted(self.kernel)
        again = tuning(self.kernel, self.verdict.formulas)
        if again is not None:
            self.note(again)
        self.withhold(aliasing, alone)
        self.verdict.divisions = divisions(self.kernel)

    def tell_conditions(self, machine: Machine) -> None:
        described = dict.fromkeys(a.pointers.memory.name for a in machine.accesses if a.pointers.demands)
        self.verdict.preconditions += [f"{name} begins at a multiple of {ALIGNED} bytes" for name in described]
        self.verdict.ranges = self.prover.held
        held = {leaf: self.prover.dtypes[leaf] for leaf in self.prover.ascending if leaf in self.prover.dtypes}
        self.verdict.data = {leaf: (*ends, *self.told(leaf)) for leaf, ends in (held | self.prover.ranges).items()}
        self.verdict.sums = list(self.prover.sums)
        self.verdict.assumed = [*self.guards, *self.preconditions]
        least = sorted({s.name for s in sizes_in(self.launch) if s.minimum > 1})
        if least:
            self.verdict.preconditions.append(f"{', '.join(least)} ≥ 2")
        self.verdict.counts = sorted(leaf.removesuffix("*") for leaf in machine.counts)
        conditions = (*self.guards, *map(without_quotient, self.preconditions))
        self.verdict.demands = [unicode(presentable(c)) for c in conditions]
        self.verdict.demands += [*self.verdict.stated, *self.demands]
        self.verdict.demands += [f"{name}[…] ≥ 1" for name in self.verdict.counts]
        self.verdict.preconditions[:0] = self.verdict.demands

    def told(self, leaf: str) -> tuple[tuple[int, ...], bool, Any, bool]:
        """What is known of a tensor's elements besides their range."""
        known = self.prover.distinct.get(leaf)
        among = None if known is None else known.among
        return self.prover.excepted.get(leaf, ()), known is not None, among, leaf in self.prover.ascending

    def coverage_and_race(self, name: str, writes: list[Write]) -> bool:
        """Note whether every element of a tensor is written, and whether by one program; the latter is the answer."""
        missing, twice = (partial(find, self.kernel, writes) for find in (concrete.uncovered, concrete.written_twice))
        covered = obligations.coverage(self.kernel, name, writes)
        covered.tensor = name
        self.note_covers(name, writes)
        self.note(self.with_case(covered, missing, f"an element of {name} is not written"))
        alone = self.with_case(
            obligations.race(self.kernel, name, writes), twice, f"two programs write one element of {name}"
        )
        self.note(alone)
        if alone.state != "proved":
            self.verdict.places += [place for w in writes for place in places_in(self.kernel.solutions[w])]
        return alone.state == "proved"

    def note_covers(self, name: str, writes: list[Write]) -> None:
        """Keep the condition under which an element is written, over the tensor's own indices."""
        covers = obligations.covered(self.kernel, writes)
        reading = obligations.reading(self.kernel)
        self.verdict.reads |= {access.memory.storage for access in reading}
        self.verdict.loads |= {access.memory.name for access in reading}
        if covers is None:
            return
        indices = tuple(index(integers.tidied(const(n))) for n in writes[0].memory.shape)
        covers = renamed(covers, [self.kernel.solutions[w] for w in writes], indices)
        if name in self.joined:
            indices, (covers,) = restated(self.joined[name], indices, (covers,))
        self.verdict.covers[name] = indices, covers

    def withhold(self, aliasing: Obligation, alone: Mapping[str, bool]) -> None:
        """A formula is shown where it is right. Where programs may read what others write there is none; where two may
        write one element, or which ones are written is not known, or what is written may be no number, there is only
        what each of them stores."""
        formulas, self.verdict.formulas = self.verdict.formulas, []
        for formula in formulas if aliasing.state == "proved" else ():
            name = formula.tensor
            if formula.expr is None or (alone[name] and name not in self.doubtful | self.partly):
                self.verdict.formulas.append(formula)
            else:
                raw = name in self.doubtful
                self.verdict.formulas += [self.by_program(name, write, raw) for write in self.kernel.outputs[name]]
        for value in (o for o in self.verdict.obligations if o.name == "value"):
            if value.state == "proved" and (aliasing.state != "proved" or not all(alone.values())):
                value.state = "undecided"
                value.detail = "what is stored depends on which program or lane is first"
            if value.state == "proved" and self.doubtful:
                value.state, value.detail = "undecided", f"{', '.join(sorted(self.doubtful))} may be no number"

    def note(self, obligation: Obligation) -> None:
        self.verdict.obligations.append(obligation)

    def with_case(self, obligation: Obligation, search: Search, sentence: str) -> Obligation:
        """An obligation that is open is tried on numbers; `sentence` says what was found if something was."""
        if obligation.state == "undecided":
            started = time.perf_counter()
            case = search()
            obligation.seconds += time.perf_counter() - started
            if case is not None:
                obligation.state, obligation.counterexample, obligation.detail = "violated", case, sentence
                obligation.place = case.get("line", obligation.place)
        return obligation

    # ---------------------------------------------------------------------------------------------- preconditions

    def find_preconditions(self) -> None:
        for _ in range(MOST_PRECONDITIONS):
            wanted = next((c for c in self.wanted() if self.may_assume(c)), None)
            if wanted is None:
                return
            self.preconditions[wanted] = None
            self.prover.assume(wanted)
            self.simplify.forget()
            self.kernel.solve()

    def find_ranges(self) -> None:
        """Data that serves as an index is taken to be in range, as far as that may be, and that is printed."""
        conditions = Conditions(self.kernel)
        conditions.find()
        self.verdict.preconditions += conditions.needed
        self.verdict.obligations += conditions.failed

    def wanted(self) -> Iterator[Expr]:
        """Conditions on sizes under which something would hold that does not hold now."""
        for writes in self.kernel.outputs.values():
            covers = obligations.covered(self.kernel, writes)
            if covers is not None and covers is not TRUE:
                alone = (self.kernel.solutions[write] for write in writes)
                for one in (covers, *(solution.covers for solution in alone if solution is not None)):
                    for part in literals(one):
                        yield from at_the_end(part)
            for write in writes:
                solution = self.kernel.solutions[write]
                if solution is not None:
                    value_at(solution, self.simplify)
        yield from self.simplify.wishes
        for access in (*self.kernel.reads, *self.kernel.writes):
            self.limits |= dict.fromkeys(limits(self.kernel, access))
        yield from self.limits
        yield from (demand.condition for _, demand in obligations.unmet(self.kernel))

    def may_assume(self, condition: Expr) -> bool:
        """An upper limit on one size, what a tensor's length says of another size, or what a descriptor demands of
        sizes, which the recorded launch keeps."""
        demands = (demand for access in self.machine.accesses for demand in access.pointers.demands)
        demanded = not condition.free and any(condition is demand.condition for demand in demands)
        wished = demanded or condition in self.limits or is_capacity(condition)
        if condition in self.preconditions or not wished:
            return False
        return bool(self.launch.example) and concrete.holds([condition], self.launch.example)

    # --------------------------------------------------------------------------------------------------- formulas

    def formula(self, name: str, writes: list[Write]) -> Expr | None:
        """What the output holds, from the stores in program order; the last one that reaches an element counts."""
        memory = writes[0].memory
        solutions = [self.kernel.solutions[w] for w in writes]
        if any(s is None for s in solutions):
            self.verdict.formulas += [self.by_program(name, write) for write in writes]
            return None
        indices = tuple(index(integers.tidied(const(n))) for n in memory.shape)
        covered = obligations.covered(self.kernel, writes)
        if covered is not None:
            covered = renamed(covered, solutions, indices)
        expr = self.stored(memory, indices, [s for s in solutions if s is not None], covered)
        by_offsets = memory.shape, indices, expr
        passed = [one for one in self.launch.arguments.values() if isinstance(one, Memory)]
        read = [access.memory for access in (*self.kernel.reads, *self.kernel.writes)]
        names = {f"{one.name}*": one for one in (*passed, *read)}
        atomic = all(w.access.kind not in obligations.STORES for w in writes)  # then it holds for every element
        kept = atomic or (isinstance(expr, Where) and covered is not TRUE and expr.condition is covered)
        facts = with_fact((), covered) if covered is not None and not kept else ()
        expr = self.simplify(with_elements(expr, names, facts, self.simplify), facts)
        if self.joined:
            shape, indices, expr = self.with_own_indices(memory, indices, expr, facts)
        else:
            shape = memory.shape
        self.explain(name, writes, by_offsets, (shape, indices, expr))
        whole = tensor_over(indices, presentable(textbook(expr)), shape)
        self.verdict.formulas.append(
            Formula(name, unicode_tensor(name, whole), latex_tensor(name, whole), expr=(indices, expr))
        )
        return expr

    def with_own_indices(
        self, memory: Memory, indices: tuple[Index, ...], expr: Expr, facts: Facts
    ) -> tuple[tuple[Dim, ...], tuple[Index, ...], Expr]:
        """The shape, indices and formula of a tensor, nothing joined."""
        shape = memory.shape
        if memory.name in self.joined:
            joined = self.joined[memory.name]
            shape = joined.before.shape
            indices, (expr, *known) = restated(joined, indices, (expr, *facts))
            facts = tuple(known)
        return shape, indices, apart(expr, self.joined, facts, self.simplify)

    def explain(self, name: str, writes: list[Write], first: Formulated, last: Formulated) -> None:
        """Keep the steps of a formula: what lanes store, who writes an element, its value by offsets and by indices."""
        if not self.settings.explain:
            return
        programs, steps = self.kernel.machine.programs, self.verdict.stages
        for write in writes:
            steps += explained.stores(name, write, programs, self.simplify)
            solution = self.kernel.solutions[write]
            if solution is not None and solution.values:
                steps.append(explained.writers(solution, programs))
        steps.append(explained.by_indices("by the element", name, *first))
        shape, indices, expr = last
        steps.append(explained.by_indices("by tensors' indices", name, shape, indices, expr))
        steps.append(explained.by_indices("as books write it", name, shape, indices, textbook(expr)))

    def by_program(self, name: str, write: Write, raw: bool = False) -> Formula:
        """What one program stores, where the element cannot be told: an offset and a value, over programs and lanes;
        `raw`: the value as the kernel computes it."""
        value = write.value if raw else self.simplify(write.value, write.facts)
        told = explained.stored(name, write, value, self.kernel.machine.programs, str(write.access.place), "")
        return Formula(name, told.text, told.latex)

    def stored(
        self, memory: Memory, indices: tuple[Index, ...], solutions: list[Solution], covered: Expr | None
    ) -> Expr:
        total: Expr | None = None
        for solution in solutions:
            one = self.written(solution)
            here = {i: j for i, j in zip(solution.indices, indices, strict=True)}
            value, covers = (substitute(e, here) for e in (one, solution.covers))
            if solution.write.access.kind not in obligations.STORES:
                total = self.updated(memory, indices, total, value, solution)
            elif total is None and len(solutions) == 1:
                total = value
            else:
                total = value if total is None else where(covers, value, total)
        assert total is not None
        writes = [solution.write for solution in solutions]
        if covered is None or covered is TRUE or any(w.access.kind not in obligations.STORES for w in writes):
            return total
        if obligations.tells_what_is_written(self.kernel, self.kernel.outputs[memory.name]):
            return where(covered, total, element_at(memory, offset_of(memory, indices)))
        self.partly.add(memory.name)
        return total

    def updated(
        self, memory: Memory, indices: tuple[Index, ...], before: Expr | None, value: Expr, solution: Solution
    ) -> Expr:
        """An element after atomic operations of one kind, in whichever order."""
        access = solution.write.access
        if access.kind not in obligations.FOLDS:
            raise Refused(f"{access.place}: the atomic operation {access.kind} is not supported")
        start = before if before is not None else element_at(memory, offset_of(memory, indices))
        return COMBINED[access.kind](start, value)

    def written(self, solution: Solution) -> Expr:
        """What one store writes; of an atomic operation, the fold over the programs, iterations and lanes that reach
        the element."""
        write = solution.write
        if write.access.kind not in obligations.FOLDS:
            return value_at(solution, self.simplify)
        monoid, free, (each, rest) = write.access.kind, frozenset(solution.free), reached(solution)
        whole = [rest]
        value = where(each, substitute(solution.write.value, solution.values), NEUTRAL[monoid])
        if free:
            value = Fold(monoid, solution.free, value)
        if monoid != "sum":  # a maximum of nothing is left out
            some = [integers.less(0, v.extent) for v in solution.free]
            if any(part.free & free for part in some):
                raise Refused(f"{write.access.place}: whether any iteration gets here is not known")
            whole += some
        return self.simplify(where(and_(*whole), value, NEUTRAL[monoid]))

    # ------------------------------------------------------------------------------------------------ obligations

    def undefined(self) -> None:
        """No undefined value reaches a store, nor decides where something is stored."""
        with obligations.timed(Obligation("undefined", "proved", "no undefined value reaches a store")) as found:
            for formula in self.verdict.formulas:
                writes = self.kernel.outputs[formula.tensor]
                if formula.expr is None:
                    reaching = [p for w in writes for p in undefined_in(self.simplify(w.value, w.facts))]
                else:
                    stored = all(w.access.kind in obligations.STORES for w in writes)
                    told = {formula.tensor} if stored else set()   # coverage tells what is not written; sums add to it
                    reaching = [p for p in undefined_in(formula.expr[1]) if p not in told]
                shown = [s.write if (s := self.kernel.solutions[w]) else w for w in writes]
                deciding = [p for w in shown for e in (w.condition, w.offset) for p in undefined_in(e)]
                places = sorted({*reaching, *deciding})
                if places:
                    found.state, found.place = "undecided", places[0]
                    found.detail = f"an undefined value of {places[0]} reaches {formula.tensor}"
                    case = next((c for w in writes if (c := concrete.reaches_undefined(self.kernel, w))), None)
                    if case is not None:
                        found.state, found.counterexample = "violated", case
                    break
            if found.state == "proved":
                self.numbers(found)
        self.note(found)

    def numbers(self, found: Obligation) -> None:
        """What is stored is a number, as far as infinities and sums of nothing go."""
        definedness = Definedness(self.prover)
        for write in self.kernel.writes:
            if not definedness.is_number(write.value, write.facts):
                found.state, found.place = "undecided", str(write.access.place)
                found.detail = f"{write.memory.name} may be no number: −∞ − (−∞), 0·∞ or a division by a sum of nothing"
                self.doubtful.add(write.memory.name)

    def overflow(self) -> Facts:
        """Note whether numbers wrap around; the limits under which they do not."""
        limits = [Limit(self.settings.elements)] if self.settings.elements else LIMITS
        totals = {formula.tensor: formula.expr[1] for formula in self.verdict.formulas if formula.expr is not None}
        found, limit = obligations.overflow(self.kernel, limits, self.keeps, totals)
        if found.state == "undecided" and self.launch.example and not self.settings.elements:
            narrower = obligations.narrowed(self.kernel, LIMITS[-1], totals)
            if narrower is not None and all(map(self.keeps, narrower.besides)):
                found, limit = obligations.overflow(self.kernel, [narrower], self.keeps, totals)
        if found.state == "undecided" and self.launch.example:
            facts = limits[-1].facts(self.kernel)
            ranges = short(self.kernel, facts, totals) if all(map(self.keeps, facts)) else None
            if ranges is not None:
                self.verdict.preconditions += ranges
                found, limit = obligations.overflow(self.kernel, limits, self.keeps, totals)
        if limit is not None:
            self.verdict.preconditions.append(str(limit))
        self.note(found)
        return limit.facts(self.kernel) if limit is not None else ()

    def keeps(self, condition: Expr) -> bool:
        return not self.launch.example or concrete.holds([condition], self.launch.example)

    def by_names(self) -> IndexProver:
        """A prover that knows what is needed of data by the tensors' own names, too, as formulas have them."""
        prover = IndexProver(self.settings.work, ASKING * clock.left(), assumed=list(self.prover.assumed))
        for leaf, ends in self.prover.ranges.items():
            for name in (leaf, leaf.removesuffix("*")):
                prover.assume_range(name, *ends, self.prover.excepted[leaf])
        return prover

    def value(self, found: list[Expr | None]) -> None:
        """What is stored is the formula: by the inductive steps of the loops, and because nothing of tiles is left."""
        steps = sum(self.kernel.machine.steps.values())
        detail = "the stored value is the formula" + (f"; {steps} inductive steps of loops" if steps else "")
        definedness = Definedness(self.by_names())
        with obligations.timed(Obligation("value", "proved", detail)) as obligation:
            for name, writes, expr in zip(self.kernel.outputs, self.kernel.outputs.values(), found, strict=True):
                if expr is None:
                    obligation.state, obligation.place = "undecided", str(writes[0].access.place)
                    obligation.detail = f"which element of {name} is stored to cannot be told from the offset"
            for formula in self.verdict.formulas:
                if formula.expr is None:
                    continue
                indices, expr = formula.expr
                left = expr.free - frozenset(indices)
                infinite = not definedness.is_told(expr)
                if left or infinite:
                    obligation.state = "undecided"
                    obligation.detail = (
                        f"{formula.tensor} depends on the program or lane that writes it"
                        if left
                        else (f"an infinity is left in the formula of {formula.tensor}")
                    )
        self.note(obligation)


def sizes_in(launch: Launch) -> set[Size]:
    """The size symbols of a launch."""
    dims = [n for given in launch.arguments.values() if isinstance(given, Memory) for n in given.shape]
    exprs = [e for e in (*dims, *launch.grid, *launch.arguments.values()) if isinstance(e, Expr)]
    return {s for e in exprs for s in walk(e) if isinstance(s, Size)}


def renamed(covered: Expr, solutions: list[Solution | None], indices: tuple[Index, ...]) -> Expr:
    first = solutions[0]
    assert first is not None
    return substitute(covered, dict(zip(first.indices, indices, strict=True)))
