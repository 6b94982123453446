"""The solver's side of index arithmetic: polynomials and literals as Z3 terms, and feasibility.

Every query may do so much work by Z3's own count, and runs no longer than the proof has left. Only `unsat` counts;
`unknown` is never a proof. `with recording() as queries:` keeps the text of what was answered, for certificates.

Z3 works in contexts that belong to one thread each, so every thread has its own."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import z3

from samesame.formula.effort import current, limited, step
from samesame.formula.poly import NOTHING, Atom, IntegerAtom, Poly, Ratio, Var

if TYPE_CHECKING:  # these build on the solver
    from samesame.formula.guards import Guards, Literal


_recorded: ContextVar[dict[str, None] | None] = ContextVar("recorded", default=None)


@contextmanager
def recording() -> Iterator[dict[str, None]]:
    """Keep the questions that the solver answers with `unsat` inside the block, as SMT-LIB text, each once."""
    found: dict[str, None] = {}
    token = _recorded.set(found)
    try:
        yield found
    finally:
        _recorded.reset(token)


def new_context() -> z3.Context:
    """A context of its own, for one thread at a time."""
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())  # terms that lie in a circle any thread may throw away
    return made


class _Here(threading.local):
    """This thread's solver."""

    def __init__(self) -> None:
        self.context = new_context()


_here = _Here()


def context() -> z3.Context:
    """Z3's context of this thread."""
    return _here.context


def decided(solver: z3.Solver, work: int, seconds: float) -> Any:
    """What a solver finds in so much work by Z3's own count, which is the same on every machine; `seconds` are what the
    whole run has left."""
    solver.set("rlimit", work)
    solver.set("timeout", max(1, int(1000 * min(seconds, 3600))))
    return solver.check()


class Translation:
    """Z3 terms for polynomials, and the facts their atoms bring along."""

    def __init__(self, forgetting: frozenset[Var] = NOTHING) -> None:
        self.forgetting = forgetting
        self.context = context()
        self.facts: list[Any] = []
        self._atoms: dict[Atom, Any] = {}

    def poly(self, p: Poly) -> Any:
        total: Any = z3.IntVal(0, self.context)
        for m, c in p.terms:
            term: Any = z3.IntVal(c, self.context)
            for a in m:
                term = term * self.atom(a)
            total = total + term
        return total

    def atom(self, a: Atom) -> Any:
        if a not in self._atoms:
            self._atoms[a] = self._quotient_or_remainder(a) if isinstance(a, Ratio) else self._plain(a)
        return self._atoms[a]

    def _plain(self, a: Atom) -> Any:
        found = self._atoms[a] = z3.Int(f"a{len(self._atoms)}", self.context)
        low, high = cast(IntegerAtom, a).range(self.forgetting)
        if low is not None:
            self.facts.append(found >= self.poly(low))
        if high is not None:
            self.facts.append(found <= self.poly(high))
        return found

    def _quotient_or_remainder(self, a: Ratio) -> Any:
        q, r = (z3.Int(f"{name}{len(self._atoms)}", self.context) for name in "qr")
        self._atoms[Ratio("//", a.numerator, a.divisor)], self._atoms[Ratio("mod", a.numerator, a.divisor)] = q, r
        divisor = self.poly(a.divisor)
        self.facts += [self.poly(a.numerator) == q * divisor + r, r >= 0, r < divisor]
        return q if a.op == "//" else r

    def literal(self, literal: Literal) -> Any:
        if literal.poly is None:
            holds = self.boolean(cast(Atom, literal.subject))
            return holds if literal.op == "holds" else z3.Not(holds)
        value = self.poly(literal.poly)
        return value >= 0 if literal.op == "≥0" else value == 0 if literal.op == "=0" else value != 0

    def boolean(self, a: Atom) -> Any:
        """An opaque boolean."""
        if a not in self._atoms:
            self._atoms[a] = z3.Bool(f"b{len(self._atoms)}", self.context)
        return self._atoms[a]

    def all(self, guards: Iterable[Literal]) -> Any:
        return z3.And(*map(self.literal, guards), self.context)


def unsatisfiable(guards: Guards, forgetting: frozenset[Var] = NOTHING) -> bool:
    """Whether no integers satisfy the literals together with the ranges of their atoms."""
    translation = Translation(forgetting)
    return refuted(translation, [translation.all(guards)])


def refuted(translation: Translation, claims: list[Any]) -> bool:
    """Whether the claims contradict each other and what is known of the atoms."""
    step()
    effort = current()
    solver = z3.Solver(ctx=translation.context)
    solver.add(*claims, *translation.facts)
    effort.solver_calls += 1
    answer = decided(solver, effort.budget.solver, effort.seconds_left())
    if answer == z3.unknown:
        effort.solver_unknown += 1
        limited(f"a solver query of more than {effort.budget.solver:,} steps")
    effort.solver_proofs += answer == z3.unsat
    recorded = _recorded.get()
    if recorded is not None and answer == z3.unsat:
        recorded[solver.to_smt2()] = None
    return bool(answer == z3.unsat)
