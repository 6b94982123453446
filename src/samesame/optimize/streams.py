"""Streams: what a program adds to again and again is one tensor at each step.

Each block of a residual network adds to what all blocks before it have made: `x + f₁ + f₂ + f₃`, which is one sum here.
The fᵢ are kept, as norms and matmuls read them several times; were they kept alone, the tenth block would read ten
tensors where it could read one. So a fold is kept with its companions, the terms of all sums that it is a term of; and
of a longer sum than one that is kept, that one is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from samesame.optimize.forms import Form, plus, walk
from samesame.optimize.names import Digests, nameless

Terms = frozenset[str]                               # of a sum, each without the names of axes


def streams(forms: Collection[Form], kept: Collection[str], digests: Digests) -> tuple[set[Terms], set[str]]:
    """The sums that are kept or should be, as their terms; and the kept folds that they stand for."""
    sums = [x for x in walk(*forms) if x.operator == "plus"]
    alone = {nameless(x) for x in forms} | {
        nameless(y) for x in walk(*forms) if x.operator != "plus" for y in x.arguments}
    takers: dict[str, list[tuple[Form, Form]]] = {}
    for x in sums:
        for y in x.arguments:
            if y.operator == "fold" and nameless(y) in kept and nameless(y) not in alone:
                takers.setdefault(nameless(y), []).append((y, x))
    folds = {own: common for own, uses in takers.items() if len(common := companions(uses)) > 1}
    wholes = {single_terms(x) for x in sums if nameless(x) in kept}
    found = {terms for terms in {*folds.values(), *wholes} if len(terms) > 1 and is_one(terms, sums, digests)}
    return found, {own for own, terms in folds.items() if terms in found}


def companions(uses: Iterable[tuple[Form, Form]]) -> Terms:
    """The terms of all these sums that have no axes but those of the fold."""
    return frozenset.intersection(*(
        single_terms(plus(*(y for y in x.arguments if {*y.axes} <= {*own.axes}))) for own, x in uses))


def single_terms(x: Form) -> Terms:
    """A sum's terms, but for those that it has several of."""
    return frozenset(y for y, times in Counter(map(nameless, x.arguments)).items() if times == 1)


def is_one(terms: Terms, sums: Iterable[Form], digests: Digests) -> bool:
    """Whether these are the same sum wherever they are terms, up to the names of its axes."""
    parts = {digests.renamed(terms_of(x, terms))[0] for x in sums if terms <= {*map(nameless, x.arguments)}}
    return len(parts) == 1


def streams_in(x: Form, streams: Iterable[Terms]) -> Iterator[tuple[Form, list[Form]]]:
    """The streams that a sum continues, or is, and what it adds to each."""
    own = {*map(nameless, x.arguments)}
    for terms in streams:
        if terms <= own:
            yield terms_of(x, terms), [y for y in x.arguments if nameless(y) not in terms]


def terms_of(x: Form, terms: Terms) -> Form:
    """The part of a sum that these terms are."""
    return plus(*(y for y in x.arguments if nameless(y) in terms))
