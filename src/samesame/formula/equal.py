"""Are two formulas equal, for every value of their inputs?

Both sides are brought into normal form; identical normal forms settle most claims. Otherwise the difference must
vanish, tried in order of cost: over a common denominator; with free indices that are divided split in two; by
counting, with the solver, how often each body occurs at every point; with small constant domains written out; and in
*generic position*, where every index expression is a variable of its own and all the rest is counting. Whatever does
not close is not proved, which says nothing against it."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import count

from samesame.formula.angles import by_angles
from samesame.formula.any_place import at_any_place
from samesame.formula.arguments import shared_arguments
from samesame.formula.assumptions import Assumption, Within, read_back
from samesame.formula.attempts import AT_ONCE, ATTEMPTS, writes_out_quotients
from samesame.formula.boundaries import at_boundaries
from samesame.formula.counting import never_counts, never_differs
from samesame.formula.defined import assume_defined
from samesame.formula.effort import Budget, Effort, OutOfBudget, assume, remember, spending, unassumed
from samesame.formula.emptied import without_empty
from samesame.formula.evident_roots import without_evident_roots
from samesame.formula.expr import Expr, Index, Load, Unsupported, index, numeric, walk
from samesame.formula.extreme_places import at_its_place
from samesame.formula.functions import exp, power, truth_of
from samesame.formula.generic import in_generic_position, windows_in_generic_position
from samesame.formula.guards import Guards, Literal
from samesame.formula.idle import without_idle_clamps
from samesame.formula.inside import inner_atoms, ratios_in
from samesame.formula.labelling import labellings
from samesame.formula.laws import LAWS
from samesame.formula.left_out import with_all_places
from samesame.formula.logarithms import by_magnitudes
from samesame.formula.masked_divisors import is_seen_not_to_vanish, masked_divisor, masks_of, multiplied_out
from samesame.formula.normal import indicator, normal, size_poly
from samesame.formula.places import places_one_by_one, with_values
from samesame.formula.poles import assume_counts, without_guards_at_poles
from samesame.formula.poly import Atom, Var, exact_quotient, number, variable
from samesame.formula.reached import where_lookups_reach
from samesame.formula.refine import refined
from samesame.formula.rewrite import BinderEscape, Draft, guarded, multiply, substitute, under
from samesame.formula.roots import by_roots
from samesame.formula.shares import without_shares
from samesame.formula.signs import is_positive, never_vanishes, piece_of
from samesame.formula.sizes import size_text
from samesame.formula.tallied import by_tallies
from samesame.formula.tensor import Dim, Tensor
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    Apply,
    Factors,
    Form,
    OpaqueAtom,
    Term,
    add,
    constant,
    form_of,
    lone_atom,
    next_open,
    of_atom,
    opened,
    scale,
    subtract,
)
from samesame.formula.thresholds import by_thresholds
from samesame.formula.waves import by_waves
from samesame.formula.written_out import pinned_labels, products_written_out, quotients_written_out, unrolled

__all__ = ["Budget", "NotProved", "Proved", "prove_equal", "prove_tensors_equal"]


DEFAULT = Budget()
IDENTICAL = "identical normal forms"


@dataclass(frozen=True)
class Proved:
    """Equal wherever both sides are defined, under the conditions.

    `method` is "normal form" or "smt" (the solver decided something about indices); `detail` names the step that
    closed the proof. `infinite` if a −∞ matters to it otherwise than as exp(−∞) = 0: it is left in what was proved, or
    was left out of a maximum that is, or compared with."""

    method: str
    conditions: tuple[Assumption, ...]
    detail: str
    infinite: bool = False

    def unconditional(self, granted: Iterable[Assumption] = ()) -> bool:
        """Whether it holds as it is, or under no more than what is granted, as that integers are in their range."""
        return set(granted).issuperset(self.conditions)


@dataclass(frozen=True)
class NotProved:
    """Nothing was established; `reason` says where the proof stopped, with every limit that was hit."""

    reason: str


def prove_equal(left: Expr, right: Expr, *, budget: Budget = DEFAULT) -> Proved | NotProved:
    """Prove two expressions equal for all values of their free indices, sizes and leaves. Booleans count as 1 and 0.

    Never raises on hard input: what cannot be decided within the budget is not proved.
    """
    left, right = numeric(left), numeric(right)
    deadline = time.thread_time() + budget.seconds

    def whole(found: Proved, left: Expr, right: Expr) -> Proved:
        with deep_recursion():
            conditions = without_evident_roots(found.conditions, left, right)
            return replace(found, conditions=without_empty(conditions, left, right))

    first = _attempts(left, right, budget, deadline)
    with deep_recursion():
        picked = with_values(left), with_values(right)
    if isinstance(first, Proved):
        return whole(first, left, right)
    for sides in (None if picked == (left, right) else picked, at_any_place(left, right)):
        if sides is not None and time.thread_time() < deadline:
            again = _attempts(*sides, budget, deadline)
            if isinstance(again, Proved):
                taken = (*integers_in_range(left, right), *again.conditions)
                return whole(replace(again, conditions=tuple(dict.fromkeys(taken))), *sides)
    return first


def _attempts(left: Expr, right: Expr, budget: Budget, deadline: float) -> Proved | NotProved:
    """One attempt after the other, each of the later ones where it is worth it."""
    first: Proved | NotProved | None = None
    for settings in AT_ONCE if any(map(writes_out_quotients, (left, right))) else ():
        answer = _attempt(left, right, replace(budget, seconds=budget.seconds / 4), _at_once, **settings)
        if isinstance(answer, Proved):
            return answer
    for worth_it, settings in ATTEMPTS:
        rest = deadline - time.thread_time()
        if first is None or (rest > 0 and any(map(worth_it, (left, right)))):
            answer = _attempt(left, right, replace(budget, seconds=rest), _prove, **settings)
            if isinstance(answer, Proved):
                return answer
            first = first or answer
    assert first is not None
    return first


def _attempt(
    left: Expr, right: Expr, budget: Budget, prove: Callable[[Form, Form], str], *,
    thorough: bool = False, by_signs: bool = False, by_factors: bool = False, longer: bool = False,
) -> Proved | NotProved:
    with spending(budget, LAWS, thorough, by_signs, by_factors, longer) as effort, deep_recursion():
        try:
            sides = normal(left), normal(right)
            detail = prove(*sides)
            assume_counts(left, right)
        except Unsupported as unsupported:
            return NotProved(_with_limits(str(unsupported), effort))
        except RecursionError:
            return NotProved("the formula is nested too deeply")
        except BinderEscape as escape:
            return NotProved(f"internal check failed: {escape}")
        except _Open as open_:
            return NotProved(_with_limits(lettered(f"left over: {open_}", left.free | right.free), effort))
        method = "smt" if effort.solver_proofs else "normal form"
        conditions = (*dict.fromkeys(integers_in_range(left, right)), *read_back(effort.assumed))
        infinite = effort.infinite or any(map(_holds_infinity, sides))
        return Proved(method, conditions, detail, infinite)


def _holds_infinity(form: Form) -> bool:
    """Whether −∞ is one of its values or of an opaque operator's, or may have been left out of one of its maxima."""
    return form.has(MINUS_INFINITY) or any(_may_hide_infinity(a) for a in inner_atoms(form))


def _may_hide_infinity(atom: Atom) -> bool:
    if isinstance(atom, OpaqueAtom):
        return any(_holds_infinity(part.form) for part in atom.bodies)
    return isinstance(atom, Apply) and atom.head == "max"


def integers_in_range(*exprs: Expr) -> Iterator[Assumption]:
    """What proofs take for granted of integer leaves."""
    for expr in exprs:
        for e in walk(expr):
            if isinstance(e, Load) and e.leaf.kind == "int" and e.leaf.bounds is not None:
                yield Within(e.leaf.name, *e.leaf.bounds)


def lettered(key: str, free: frozenset[Index]) -> str:
    """The key of a form with letters for the free indices, in the order in which these were made."""
    letters = {f"i{v.serial}": LETTERS[k % len(LETTERS)] for k, v in enumerate(sorted(free, key=lambda v: v.serial))}
    return re.sub(r"\bi\d+\b", lambda name: letters.get(name[0], name[0]), key)


LETTERS = "ijklmnpq"
MOST_HIDDEN = 4                             # masks of −∞ that may overlap in any way
MOST_SHOWN = 160                            # letters of what was left over


def prove_tensors_equal(left: Tensor, right: Tensor, *, budget: Budget = DEFAULT) -> Proved | NotProved:
    """Prove two tensors of the same shape equal, element by element; a boolean tensor counts as 0 and 1."""
    unlike = shapes_differ(left, right)
    if unlike:
        return NotProved(unlike)
    indices = tuple(index(size) for size in left.shape)
    try:
        a, b = left[indices], right[indices]
    except Unsupported as unsupported:
        return NotProved(str(unsupported))
    return prove_equal(a, b, budget=budget)


def shapes_differ(left: Tensor, right: Tensor) -> str:
    """How the shapes differ; empty where they are the same at all sizes."""
    if left.rank != right.rank:
        return f"the ranks differ: {left.rank} and {right.rank}"
    for d, (m, n) in enumerate(zip(left.shape, right.shape, strict=True)):
        if not same_size(m, n):
            return f"dimension {d} differs: {size_text(m)} and {size_text(n)}"
    return ""


def same_size(m: Dim, n: Dim) -> bool:
    """Whether two dimensions are the same number or polynomial."""
    if isinstance(m, int) and isinstance(n, int):
        return m == n
    with spending(Budget(), LAWS):
        try:
            return size_poly(m) is size_poly(n)
        except Unsupported:
            return False


class _Open(Exception):
    """The difference did not vanish; the message shows a part of it."""


def abridged(key: str) -> str:
    """A key as people are shown it: cut off where it is long, without the digests of what was shortened before."""
    text = re.sub("…[0-9a-f]{32}", "…", key)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN].rstrip()}…"


def _with_limits(reason: str, effort: Effort) -> str:
    return "; ".join([reason, *effort.limits])


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for formulas nested a few hundred deep."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 8000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# ------------------------------------------------------------------------------------------------------------ the steps


def _prove(left: Form, right: Form) -> str:
    """The step that closed the proof; raises _Open if none did."""
    if left is right:
        return IDENTICAL
    hidden, left, right = _without_infinities(left, right)
    difference = without_shares(subtract(left, right), left, right)
    if difference.terms and _cancels_over_masks(difference, left, right):
        return "the difference cancels over a common denominator, where masks leave something"
    try:
        return vanishes(difference)
    except _Open:
        if 0 < len(hidden) <= MOST_HIDDEN and _differ_only_on(hidden, left, right):
            return "the difference cancels where −∞ does not hide it"
        changed = without_guards_at_poles(difference, left, right)
        if changed is None:
            raise
    return f"{vanishes(changed)}, where both sides have a value"


def _at_once(left: Form, right: Form) -> str:
    """The same, without any work on quotients that the sides do not share."""
    if left is right:
        return IDENTICAL
    _, *rest = _without_infinities(left, right)
    difference = subtract(*rest)
    if not difference.terms:
        return "the difference cancels"
    for told, write_out in UNDIVIDED:
        written_out = write_out(difference)
        if written_out is not None and not written_out.terms:
            return told
    raise _Open(abridged(difference.key))


def _without_infinities(left: Form, right: Form) -> tuple[tuple[Guards, ...], Form, Form]:
    """Both sides without the terms that are undefined or −∞, which must be the same; and on which cells these are."""
    (mine, left), (yours, right) = map(_split_absorbing, (left, right))
    if mine is not yours and not all(_in_the_same_places(mine, yours, what) for what in (UNDEFINED, MINUS_INFINITY)):
        raise _Open("the sides are undefined or −∞ in different places")
    return tuple(dict.fromkeys(term.guards for term, _ in mine.terms if not term.bound)), left, right


def _differ_only_on(cells: Iterable[Guards], left: Form, right: Form) -> bool:
    """Whether both are the same but for cells on which something is added to them that absorbs it: −∞ + x is −∞,
    whatever number x is."""
    with unassumed() as counts:
        for cell in cells:
            there = [guarded(cell, side) for side in (left, right)]
            if there[0] is not there[1]:
                for side in there:
                    assume_defined(side)                 # what is left out without its value is so where it has one
            left, right = subtract(left, there[0]), subtract(right, there[1])
        same = vanishes_quietly(subtract(left, right))
        if same:
            counts()
    return same


def _in_the_same_places(left: Form, right: Form, symbol: str) -> bool:
    """Whether both are undefined, or −∞, at the same places: a few terms in any way, many as often at each."""
    held = [[(term, c) for term, c in form.terms if any(a.key == symbol for a, _ in term.factors)]
            for form in (left, right)]
    if any(t.bound or len(t.factors) > 1 or t.factors[0][1] != 1 or c < 0 for terms in held for t, c in terms):
        return False
    mine, yours = ([t.guards for t, _ in terms] for terms in held)
    if max(len(mine), len(yours)) <= MOST_HIDDEN:
        return vanishes_quietly(subtract(reduce(_or_there, mine, constant(0)), reduce(_or_there, yours, constant(0))))
    return vanishes_quietly(subtract(*(add(*(guarded(cell, constant(1)) for cell in some)) for some in (mine, yours))))


def _or_there(some: Form, cell: Guards) -> Form:
    """1 at some places, and on a cell."""
    return add(some, guarded(cell, subtract(constant(1), some)))


def _split_absorbing(form: Form) -> tuple[Form, Form]:
    absorbing = [item for item in form.terms if any(a.key in (UNDEFINED, MINUS_INFINITY) for a, _ in item[0].factors)]
    return Form(tuple(absorbing)), Form(tuple(item for item in form.terms if item not in absorbing))


def vanishes(form: Form) -> str:
    """Why a difference is zero everywhere; raises _Open if no step shows it."""
    if not form.terms:
        return "the difference cancels"
    halves = split_free_index(form)                       # first: denominators are longer than the index they hold
    if halves is not None:
        return f"{vanishes(halves)}, with a free index split"
    with unassumed() as counts:
        quotients = quotients_written_out(form)           # before: a common denominator of many is long
        if quotients is not None and (not quotients.terms or never_occurs(quotients)):
            counts()
            return "small sums of quotients written out"
    shared = shared_arguments(form, vanishes_quietly)     # before equal denominators are multiplied out one by one
    if shared is not None:
        return f"{vanishes(shared)}, for functions of equal arguments"
    cleared = clear_denominators(form)
    if not cleared.terms:
        return "the difference cancels over a common denominator"
    halves = split_free_index(cleared)
    if halves is not None:
        return f"{vanishes(halves)}, with a free index split"
    for step_name, change in STEPS:
        with unassumed() as counts:
            changed = change(cleared)
            changed = None if changed is None else clear_denominators(changed)
            if changed is not None and (not changed.terms or never_occurs(changed)):
                counts()
                return step_name if not changed.terms else f"{step_name}; bodies counted by the solver"
    raise _Open(abridged(cleared.key))


def clear_denominators(form: Form) -> Form:
    """The form times its denominators, as long as each is a sum that is never empty."""
    for _ in range(ROUNDS):
        worst: dict[Apply, Fraction] = {}
        for term, _ in form.terms:
            bound = frozenset(term.bound)
            for a, e in term.factors:
                if (
                    e < 0
                    and isinstance(a, Apply)
                    and a.head == "sum"
                    and not a.free & bound
                    and never_vanishes(a.argument)
                ):
                    worst[a] = min(e, worst.get(a, e))
        if not worst:
            return form
        atom = min(worst, key=lambda a: a.key)
        if not is_positive(atom.argument):
            _refuse_zero(atom.argument)
            assume("≠ 0", atom.argument, tuple(_shared_guards(form)))
        form = multiply(form, of_atom(atom, -worst[atom]))
    return form


def _cancels_over_masks(form: Form, left: Form, right: Form) -> bool:
    """Whether the difference of the sides times what both divide by over what masks leave is nothing."""
    masks = masks_of(left, right, _shared_guards(form))
    with unassumed() as counts:
        for _ in range(ROUNDS if masks else 0):
            divisor = masked_divisor(form, masks)
            if divisor is None:
                break
            _refuse_zero(divisor.argument)
            form = multiplied_out(form, divisor, masks, tuple(_shared_guards(form)))
        if not form.terms:
            counts()
    return not form.terms


def _shared_guards(form: Form) -> frozenset[Literal]:
    """The guards under which all terms stand, about nothing that one of them binds: elsewhere the form is 0 anyway."""
    own = (frozenset(g for g in term.guards if not g.free & frozenset(term.bound)) for term, _ in form.terms)
    return frozenset.intersection(*own)


def _refuse_zero(denominator: Form) -> None:
    """A denominator that is zero everywhere, although its normal form does not show it, may not be cleared."""
    if is_seen_not_to_vanish(denominator):
        return
    if never_occurs(denominator) or ((written_out := unrolled(denominator)) is not None and never_occurs(written_out)):
        raise Unsupported(f"the denominator {denominator.key[:100]} is zero")


ROUNDS = 8  # denominators under denominators


def split_free_index(form: Form) -> Form | None:
    """A free index 0 ≤ i < E·q that is divided by q becomes h·q + l: the same set of points, and no division."""
    for ratio in (r for term, _ in form.terms for r in ratios_in(term)):
        for v in sorted(form.free & ratio.numerator.free, key=lambda v: v.key):
            if (
                ratio.numerator.coefficient(v) != 1
                or v.low is None
                or v.high is None
                or v.low.terms
                or ratio.divisor.free
            ):
                continue
            extent = exact_quotient(v.high + 1, ratio.divisor)
            if extent is None or extent.constant == 1:
                continue
            first = next(k for k in count() if not any(w.sort == "part" and w.number[0] >= k for w in form.free))
            high = Var("part", (first,), number(0), extent - 1)
            low = Var("part", (first + 1,), number(0), ratio.divisor - 1)
            return substitute(form, ((v, variable(high) * ratio.divisor + variable(low)),))
    return None


def never_occurs(form: Form) -> bool:
    """Whether every body (bound variables and factors) occurs with total weight zero at every point, by the solver."""
    if not form.terms:
        return True
    bodies: dict[tuple[tuple[Var, ...], Factors], list[tuple[Fraction, Guards]]] = {}
    for term, c in form.terms:
        bodies.setdefault((term.bound, term.factors), []).append((c, term.guards))
    cancel = all(
        any(guards for _, guards in weighted) and never_counts(_symmetrised(bound, factors, weighted))
        for (bound, factors), weighted in bodies.items()
    )
    if cancel or any(term.bound for term, _ in form.terms):
        return cancel
    values_matter = any(g.poly is None for t, _ in form.terms for g in t.guards) or any(a.integer for a in form.atoms())
    if not values_matter or not never_differs(form):
        return False
    assume_defined(form)                                  # to the solver 0 times anything is 0, but log 0 is no number
    return True


def _symmetrised(
    bound: tuple[Var, ...], factors: Factors, weighted: list[tuple[Fraction, Guards]]
) -> list[tuple[Fraction, Guards]]:
    """Weights spread over the body's symmetries: a body that does not change when variables swap counts both ways."""
    symmetries = symmetries_of(bound, factors)
    if len(symmetries) == 1:
        return weighted
    return [
        (c / len(symmetries), tuple(g.rename(names) for g in guards)) for c, guards in weighted for names in symmetries
    ]


@remember
def symmetries_of(bound: tuple[Var, ...], factors: Factors) -> tuple[tuple[tuple[Var, Var], ...], ...]:
    """Renamings of the bound variables that leave the factors as they are; the identity is among them."""
    if len(bound) < 2:
        return ((),)
    found: list[tuple[tuple[Var, Var], ...]] = []
    for order in labellings(bound, (), factors):
        names = tuple((v, w) for v, w in zip(order, bound, strict=True) if v is not w)
        renamed = {(a.rename(names) if a.free else a, e) for a, e in factors}
        if renamed == set(factors):
            found.append(names)
    return tuple(found) if () in found else ((),)


def by_cases(form: Form) -> Form | None:
    """max(d, 0) as [d > 0]·d and |d| as ±d, where they are factors; None if there are none."""
    items: list[tuple[Term, Fraction]] = []
    changed = False
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        split = [
            (a, e, cases) for a, e in factors if e.denominator == 1 and e > 0 and (cases := _cases_of(a)) is not None
        ]
        changed = changed or bool(split)
        product = constant(1)
        for _, e, cases in split:
            product = multiply(product, power(cases, e))
        gone = [a for a, _, _ in split]
        draft = Draft(bound, guards, tuple((a, e) for a, e in factors if a not in gone))
        items += ((t, c * d) for t, d in under(draft, product).terms)
    return form_of(items) if changed else None


def _cases_of(atom: Atom) -> Form | None:
    """The atom as a form with guards, if it is max(d, 0) or |d|."""
    if not isinstance(atom, Apply) or atom.head not in ("max", "fn:abs"):
        return None
    if atom.head == "fn:abs":
        inner = atom.argument
        return subtract(scale(multiply(indicator(truth_of("positive", inner)), inner), 2), inner)
    terms = [t for t, _ in atom.argument.terms]
    if len(terms) != 2 or not all(t.plain for t in terms) or all(piece_of(t).terms for t in terms):
        return None
    inner = add(*map(piece_of, terms))
    return multiply(indicator(truth_of("positive", inner)), inner)


def logarithms_gathered(form: Form) -> Form | None:
    """Σ c·log a + rest is zero where Π a^c · exp(rest) is one, for positive a; None if there are no logarithms."""
    found = [a for t, _ in form.terms if (a := lone_atom(Form(((t, Fraction(1)),)), "log")) is not None]
    if not found or not all(isinstance(a, Apply) and is_positive(a.argument) for a in found):
        return None
    return subtract(exp(form), constant(1))


def functions_of_equal_arguments(form: Form) -> Form | None:
    return shared_arguments(form, vanishes_quietly, told=False)


def vanishes_quietly(form: Form) -> bool:
    """Whether a step shows that it is zero; what is assumed for that counts only then."""
    with unassumed() as counts:
        try:
            vanishes(form)
        except OutOfBudget:
            raise
        except (_Open, Unsupported):
            return False
        counts()
    return True


UNDIVIDED: tuple[tuple[str, Callable[[Form], Form | None]], ...] = (
    ("what labels choose written out", pinned_labels),
    ("small sums written out", products_written_out),
)
STEPS: tuple[tuple[str, Callable[[Form], Form | None]], ...] = (
    ("the difference cancels", lambda form: form),
    ("look-ups are in range", where_lookups_reach),
    ("no index is clamped where its conditions hold", without_idle_clamps),
    ("small sums written out", unrolled),
    ("conditions on counts worked out", by_tallies),
    ("integers by thresholds", by_thresholds),
    ("what labels choose written out", pinned_labels),
    ("places of a row are each another one", places_one_by_one),
    ("an extremum is what stands at its place", at_its_place),
    ("indices in generic position", in_generic_position),
    ("domains refined", refined),
    ("maxima by cases", by_cases),
    ("logarithms gathered", logarithms_gathered),
    ("functions of equal arguments", functions_of_equal_arguments),
    ("what conditions pin has its value", at_boundaries),
    ("windows written out, in generic position", windows_in_generic_position),
    ("angles of sums", by_angles),
    ("sums of waves", by_waves),
    ("all places less those left out", with_all_places),
    ("products under one root", by_roots),
    ("logarithms of magnitudes", by_magnitudes),
)
