"""Products over ranges, as sums in the exponent: Π_{k<n} f(k) = exp(Σ_{k<n} log f(k)).

Domains split and join in sums, so they do in products: Π_{k<t} f · f(t) = Π_{k≤t} f, and what a scan multiplies step
by step is a product over all steps. The logarithm is real where the factor is known to be positive. Of any other factor
it is formal: `factor(f)`, of which nothing is used but factor(f·g) = factor(f) + factor(g) and that the product of
factor(f) alone is f. A product's atom is "prod" over one term of such a sum, or, of a factor that is the same all
along, over how often it occurs: Π_{k<n} f = f^n is prod(n·factor(f)), also where n is a sum. Its exponent is whole.

The same holds for exp of sums over ranges: `gathered` adds up the exponents of a term's factors, so that neighbouring
domains meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from functools import reduce
from math import gcd

from samesame.formula.contents import content
from samesame.formula.effort import remember
from samesame.formula.expr import Unsupported
from samesame.formula.functions import by_cells, exp, log, power
from samesame.formula.poly import Atom
from samesame.formula.primes import prime_factors
from samesame.formula.rewrite import Draft, multiply, positive, under
from samesame.formula.signs import is_generic
from samesame.formula.terms import (
    MINUS_INFINITY,
    Apply,
    Factors,
    Form,
    Term,
    add,
    constant,
    form_of,
    lone_atom,
    of_atom,
    scale,
    shape,
    value_of,
)


def logarithms(form: Form) -> tuple[Form, Form]:
    """A factor's logarithm in two parts: the real one of what is positive, the formal one of the rest."""
    return by_cells(form, _real_part), by_cells(form, _formal_part)


def _real_part(form: Form) -> Form:
    if not form.terms:
        return form
    positives, _, _ = _parted(form)
    return reduce(add, (scale(log(of_atom(a)), e) for a, e in positives), constant(0))


def _formal_part(form: Form) -> Form:
    """Σ exponent · factor(atom); a zero, and what has a fractional power, is one formal factor."""
    if not form.terms:
        return of_atom(Apply("factor", form))
    _, rest, size = _parted(form)
    parts = [scale(of_atom(Apply("factor", constant(q))), k) for q, k in prime_factors(abs(size))]
    if size < 0:
        parts.append(of_atom(Apply("factor", constant(-1))))
    for a, e in rest:
        whole = e.denominator == 1
        parts.append(scale(of_atom(Apply("factor", of_atom(a) if whole else of_atom(a, e))), e if whole else 1))
    return reduce(add, parts, constant(0))


@remember
def _parted(form: Form) -> tuple[Factors, Factors, Fraction]:
    """number · Π atom^exponent, the atoms parted into those known to be positive and the rest."""
    if form.has(MINUS_INFINITY):
        raise Unsupported("a product over −∞ appears")
    size, common, rest = content(form, is_generic)
    if rest.terms[0][1] < 0:
        size, rest = -size, scale(rest, -1)
    atoms = dict(common)
    if value_of(rest) != 1:
        if len(rest.terms) == 1 and rest.terms[0][0].plain and rest.terms[0][1] == 1:
            for a, e in rest.terms[0][0].factors:
                atoms[a] = atoms.get(a, Fraction(0)) + e
        else:
            atoms[Apply("sum", rest)] = Fraction(1)
    items = tuple(atoms.items())
    return tuple(f for f in items if positive(f[0])), tuple(f for f in items if not positive(f[0])), size


def product_of(exponents: Form) -> Form:
    """Π over what a sum of formal factors says."""
    return by_cells(exponents, _product_on_cell)


def _product_on_cell(exponents: Form) -> Form:
    result = constant(1)
    counts: dict[Atom, list[tuple[Term, Fraction]]] = {}
    for term, c in exponents.terms:
        if c.denominator != 1:
            raise Unsupported("a product to a fractional power appears")
        lone = lone_atom(Form(((term, Fraction(1)),)), "factor")
        base = _repeated(term)
        if isinstance(lone, Apply) and value_of(lone.argument) is not None:
            result = multiply(result, power(lone.argument, c))  # a number is the term's coefficient, and no factor
        elif base is None:
            result = multiply(result, of_atom(Apply("prod", Form(((term, Fraction(1)),))), c))
        else:
            counts.setdefault(base, []).append((term, c))
    return reduce(multiply, (_power_of_one(*item) for item in counts.items()), result)


def _power_of_one(base: Atom, counts: list[tuple[Term, Fraction]]) -> Form:
    """f^n, where n is a number of indices and sizes: what divides all of n is the atom's exponent."""
    if len(counts) == 1 and lone_atom(Form(((counts[0][0], Fraction(1)),))) is base and isinstance(base, Apply):
        return power(base.argument, counts[0][1])
    whole = gcd(*(c.numerator for _, c in counts)) if len(counts) > 1 else counts[0][1]
    return of_atom(Apply("prod", Form(tuple((term, c / whole) for term, c in counts))), Fraction(whole))


def _repeated(term: Term) -> Atom | None:
    """The factor of which a term says how often it occurs; None where factors differ along a range."""
    factors = [a for a, e in term.factors if isinstance(a, Apply) and a.head == "factor" and e == 1]
    return factors[0] if term.plain and len(factors) == 1 else None


def factor(form: Form) -> Form:
    """A formal factor whose argument has changed; what is positive by now stays formal too."""
    return by_cells(form, _factor_on_cell)


def _factor_on_cell(form: Form) -> Form:
    if not form.terms:
        return _formal_part(form)
    positives, _, _ = _parted(form)
    whole = reduce(add, (scale(of_atom(Apply("factor", of_atom(a))), e) for a, e in positives), constant(0))
    return add(whole, _formal_part(form))


# ------------------------------------------------------------------------------------------------------------ gathering


def gather(draft: Draft) -> Form | None:
    """Factors whose exponents join when they are added up: exp(Σ_A f)·exp(Σ_B f) = exp(Σ_{A∪B} f) for neighbouring
    domains, and the same for products. Exponents of different signs stay apart, so that what cancels is noted."""
    sums = [(a, e) for a, e in draft.factors if isinstance(a, Apply) and a.head == "exp"]
    if len(sums) > 1 and any(_over_a_range(a) for a, _ in sums):
        whole = _joined((a.argument, e) for a, e in sums if isinstance(a, Apply))
        if whole is not None:
            return under(_without(draft, sums), exp(whole))
    if any(isinstance(a, Apply) and a.head == "prod" for a, _ in draft.factors):
        for sign in (1, -1):
            some = [(a, e) for a, e in draft.factors if e.denominator == 1 and e * sign > 0 and not _is_exp(a)]
            whole = _joined((_exponent(a), e) for a, e in some)
            if whole is not None:
                return under(_without(draft, some), product_of(whole))
            for alike in _powers_of_one(some):
                whole = form_of((t, c * e) for a, e in alike for t, c in _exponent(a).terms)
                return under(_without(draft, alike), product_of(whole))
    return None


def _powers_of_one(factors: Factors | list[tuple[Atom, Fraction]]) -> Iterator[list[tuple[Atom, Fraction]]]:
    """Several powers of one factor, as f and f^n are."""
    groups: dict[Atom, list[tuple[Atom, Fraction]]] = {}
    for a, e in factors:
        bases = {_repeated(t) for t, _ in _exponent(a).terms}
        if len(bases) == 1 and (base := bases.pop()) is not None:
            groups.setdefault(base, []).append((a, e))
    yield from (alike for alike in groups.values() if len(alike) > 1)


def _is_exp(atom: Atom) -> bool:
    return isinstance(atom, Apply) and atom.head == "exp"


def _exponent(atom: Atom) -> Form:
    """The formal logarithm of a factor."""
    if isinstance(atom, Apply) and atom.head == "prod":
        return atom.argument
    return of_atom(Apply("factor", of_atom(atom)))


def _over_a_range(atom: Atom) -> bool:
    return isinstance(atom, Apply) and any(t.bound for t, _ in atom.argument.terms)


def _joined(parts: Iterable[tuple[Form, Fraction]]) -> Form | None:
    """Σ exponent · form, if adding up makes fewer terms of them."""
    items = [(t, c * e) for form, e in parts for t, c in form.terms]
    if not _may_join(items):
        return None
    whole = form_of(items)
    return whole if len(whole.terms) < len(items) else None


def _may_join(items: list[tuple[Term, Fraction]]) -> bool:
    """Whether two of the terms look like one sum over two domains, or like a sum and a point of it."""
    counts = Counter((len(t.bound), c, shape(t.factors)) for t, c in items)
    return any(
        bound and ((number > 1 and _same_body(items)) or counts[bound - 1, c, names])
        for (bound, c, names), number in counts.items()
    )


def _same_body(items: list[tuple[Term, Fraction]]) -> bool:
    return len({(t.factors, t.bound, c) for t, c in items}) < len(items)


def _without(draft: Draft, factors: Collection[tuple[Atom, Fraction]]) -> Draft:
    return Draft(draft.bound, draft.guards, tuple(f for f in draft.factors if f not in factors))
