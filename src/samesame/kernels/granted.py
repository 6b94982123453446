"""What is taken for granted beside the formula: hints to the compiler, integers that floats hold, the length of grids.

Each is proved for all sizes, or it is a need, which is printed and which the recorded launch keeps: a limit on a size,
or the hint itself where it holds in every lane of the example. What the launch itself breaks is violated, with the
case; what can be neither proved nor looked at stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from samesame.formula import polynomials
from samesame.formula.expr import (
    FALSE,
    ZERO,
    Compare,
    Expr,
    FloorDiv,
    Fold,
    Index,
    Lambda,
    Load,
    Num,
    Opaque,
    and_,
    index,
    walk,
)
from samesame.formula.show import unicode
from samesame.kernels import concrete
from samesame.kernels.execution.exact import NAMES
from samesame.kernels.execution.hints import Hint
from samesame.kernels.execution.values import fits_by_design
from samesame.kernels.formulas.present import presentable
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import greatest
from samesame.kernels.indices.solver import Facts, with_fact
from samesame.kernels.obligations import WORD, Kernel, fits, timed
from samesame.kernels.verdict import Obligation

AXES = ("x", "y", "z")
LARGEST = {  # numbers of floats that a kernel may easily exceed
    "fp16": 65504,
    "fp8_e4m3fn": 448,
    "fp8_e4m3fnuz": 240,
    "fp8_e5m2": 57344,
    "fp8_e5m2fnuz": 57344,
}
MOST_PROGRAMS = ((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1)  # of a grid, along each axis


@dataclass
class Granted:
    """What a kernel takes for granted. `keeps` says whether the recorded launch meets a condition on sizes, `known` are
    the limits under which nothing overflows. What is found: `obligations`, `needs` that nearly every program keeps, and
    `demands`, which one may well break."""

    kernel: Kernel
    keeps: Callable[[Expr], bool]
    known: Facts = ()
    needs: dict[str, None] = field(default_factory=dict)
    demands: dict[str, None] = field(default_factory=dict)
    obligations: list[Obligation] = field(default_factory=list)

    def find(self) -> None:
        self.narrow()
        for words, parts in (("hints", self.hints), ("exact", self.exact), ("grid", self.grid)):
            with timed(Obligation(words, "proved")) as found:
                told = parts(found)
            if told:
                self.obligations.append(found)

    def need(self, condition: Expr, among: dict[str, None]) -> bool:
        """Note a condition on sizes as one of these needs and assume it, if the recorded launch keeps it."""
        if condition is FALSE or not hangs_on_sizes(condition) or not self.keeps(condition):
            return False
        prover = self.kernel.simplify.prover
        for part in with_fact((), condition):
            if not prover.proves((), part):
                prover.assume(part)
                among[unicode(presentable(without_quotient(part)))] = None
        return True

    def narrow(self) -> None:
        """What is stored in a short float has to be no larger than that holds, but for what comes from one like it."""
        alike = {f"{read.memory.name}*": read.memory.element for read in self.kernel.reads}
        for write in self.kernel.writes:
            element, value = write.memory.element, write.value
            copied = isinstance(value, Load) and alike.get(value.leaf.name) == element
            if element in LARGEST and not copied:
                self.needs[f"|{write.memory.name}[…]| ≤ {LARGEST[element]}"] = None

    # ------------------------------------------------------------------------------------------------------------ hints

    def hints(self, found: Obligation) -> bool:
        """Every hint to the compiler holds."""
        found.detail = "what the kernel tells the compiler to take for granted is so"
        hints = self.kernel.machine.hints
        for hint in hints:
            self.hint(hint, found)
            if found.state == "violated":
                break
        return bool(hints)

    def hint(self, hint: Hint, found: Obligation) -> None:
        prover = self.kernel.simplify.prover
        claim = integers.tidied(hint.condition[tuple(index(n) for n in hint.condition.shape)])
        path = with_fact((), integers.tidied(and_(*hint.path)))
        if prover.proves(path, claim) or (not path and self.need(claim, self.demands)):
            return
        place = str(hint.place)
        holds, case = concrete.anywhere(self.kernel, and_(*hint.path), claim)
        self.demands[f"{hint.words} at {place}"] = None
        if case is not None:
            found.state, found.place, found.counterexample = "violated", place, case | {"line": place}
            found.detail = f"{hint.words} is not so"
        elif not holds and found.state == "proved":
            found.state, found.place, found.detail = "undecided", place, f"{hint.words} is not shown to be so"

    # ----------------------------------------------------------------------------------------------- integers in floats

    def exact(self, found: Obligation) -> bool:
        """Integers that are kept in floats, and taken for integers again, are no longer than a float's digits."""
        found.detail = "floats hold the integers that pass through them"
        parts = dict.fromkeys(sorted(self.kernel.machine.taken_back, key=lambda held: held.digits))
        for held in parts:
            number = held.block[tuple(index(n) for n in held.block.shape)]
            facts, bits = with_fact((), integers.tidied(and_(*held.path))), held.digits + 1
            expr = integers.tidied(number)
            if fits_by_design(expr, bits) or fits(self.kernel, (expr, facts, held.place, bits, None), self.known, True):
                continue
            most, least = greatest(expr), greatest(integers.times_(expr, -1))
            limit = (1 << held.digits) - 1
            wanted = and_(*(integers.at_most(end, limit) for end in (most, least) if end is not None))
            if most is not None and least is not None and self.need(wanted, self.demands):
                continue
            found.state, found.place = "undecided", str(held.place)
            name = NAMES.get(bits, f"a float of {held.digits} bits")
            found.detail = f"{name} does not hold every integer that is here"
            example = self.kernel.machine.launch.example
            if most is not None and least is not None and example and hangs_on_sizes(wanted):
                found.state, found.counterexample = "violated", {"sizes": dict(example), "line": found.place}
                break
        for place in self.rounded():
            self.demands[f"no rounding changes the index that floats give at {place}"] = None
        return bool(parts)

    def rounded(self) -> Iterator[str]:
        """Accesses whose place is decided by a rounded float."""
        for access in (*self.kernel.reads, *self.kernel.writes):
            parts = {e for expr in (access.offset, access.condition) for e in walk(expr)}
            if any(isinstance(e, Opaque) and e.name == "trunc" for e in parts):
                yield str(access.access.place)

    # ------------------------------------------------------------------------------------------------------------ grids

    def grid(self, found: Obligation) -> bool:
        """A grid has no more programs along an axis than a device takes."""
        machine = self.kernel.machine
        if machine.launch.trusted == "none":
            return False
        arguments = tuple(
            integers.at_most(given, (1 << (WORD - 1)) - 1) for given in machine.scalars.values() if given.kind == "int"
        )
        for axis, most in enumerate(MOST_PROGRAMS):
            programs = integers.tidied(machine.launch.programs(axis))
            condition = integers.at_most(programs, most)
            known = (*self.known, *arguments)
            if self.kernel.simplify.prover.proves(known, condition) or self.need(condition, self.needs):
                continue
            found.state, found.place = "violated", machine.launch.place
            found.detail = f"more than {most} programs along {AXES[axis]}"
            found.counterexample = {"sizes": dict(machine.launch.example), "programs": unicode(presentable(programs))}
            return True
        return False


def without_quotient(condition: Expr) -> Expr:
    """k·⌊a / d⌋ ≤ c as a ≤ d·⌊c / k⌋ + d − 1, for numbers c, d, k > 0; anything else as it is."""
    if not isinstance(condition, Compare) or condition.op != "≤" or condition.left is not ZERO:
        return condition
    terms = polynomials.polynomial(condition.right)
    (atoms, k), *others = [(m, -c) for m, c in terms.items() if m] or [((), 0)]
    if others or k <= 0 or len(atoms) != 1 or not isinstance(atoms[0], FloorDiv):
        return condition
    divisor = atoms[0].divisor
    if not isinstance(divisor, Num):
        return condition
    d = int(divisor.value)
    return without_quotient(integers.at_most(atoms[0].numerator, d * (terms.get((), 0) // k) + d - 1))


def hangs_on_sizes(condition: Expr) -> bool:
    """Whether nothing but sizes decides a condition."""
    return not condition.free and not any(isinstance(e, Load | Fold | Lambda | Opaque | Index) for e in walk(condition))
