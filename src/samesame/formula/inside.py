"""What stands inside of a form: atoms, indices of elements, divisions; parts are shared, and each is told once."""

from __future__ import annotations

from collections.abc import Iterator

from samesame.formula.effort import remember
from samesame.formula.guards import Literal
from samesame.formula.poly import Atom, Element, Poly, Ratio, Thing
from samesame.formula.terms import Apply, Form, OpaqueAtom, Term


def inner_atoms(form: Form) -> Iterator[Atom]:
    """Every atom of a form, of its guards, and of what functions and comparisons in it are applied to; not what opaque
    operators are."""
    waiting, seen = [form], {form}
    while waiting:
        for term, _ in waiting.pop().terms:
            for thing in (*(a for a, _ in term.factors), *(g.subject for g in term.guards)):
                if isinstance(thing, Atom):
                    yield thing
                if isinstance(thing, Apply) and thing.argument not in seen:
                    seen.add(thing.argument)
                    waiting.append(thing.argument)


def inner_polys(atom: Atom) -> tuple[tuple[str, int, Poly], ...]:
    """Index expressions of leaf elements inside an atom, with tensor name and position; those under inner binders left
    out where they use them."""
    return _inner_polys(atom)


@remember
def _inner_polys(atom: Atom) -> tuple[tuple[str, int, Poly], ...]:
    found: list[tuple[str, int, Poly]] = []
    if isinstance(atom, Element | OpaqueAtom):
        name = atom.leaf.name if isinstance(atom, Element) else atom.name
        for position, p in enumerate(atom.indices):
            found.append((name, position, p))
            for a in p.atoms():
                found += _inner_polys(a)
    elif isinstance(atom, Ratio):
        for a in atom.numerator.atoms():
            found += _inner_polys(a)
    elif isinstance(atom, Apply):
        for term, _ in atom.argument.terms:
            hidden = frozenset(term.bound)
            found += [use for a, _ in term.factors for use in _inner_polys(a) if not use[2].free & hidden]
    return tuple(dict.fromkeys(found))                     # each once, as parts are shared


@remember
def ratios_in(thing: Thing) -> tuple[Ratio, ...]:
    """Division atoms anywhere inside, outermost first."""
    found: dict[Ratio, None] = {}
    seen = set[Thing]()     # parts are shared, and ways to one may be exponentially many

    def look(part: Thing) -> None:
        if part in seen:
            return
        seen.add(part)
        if isinstance(part, Ratio):
            found[part] = None
            look(part.numerator)
        elif isinstance(part, Poly):
            for a in part.atoms():
                look(a)
        elif isinstance(part, Element | OpaqueAtom):
            for p in part.indices:
                look(p)
            for whole in part.bodies if isinstance(part, OpaqueAtom) else ():
                look(whole.form)
        elif isinstance(part, Literal):
            look(part.subject)
        elif isinstance(part, Apply):
            look(part.argument)
        elif isinstance(part, Form):
            for term, _ in part.terms:
                look(term)
        elif isinstance(part, Term):
            for inner in (*(a for a, _ in part.factors), *part.guards):
                look(inner)

    look(thing)
    return tuple(found)
