"""In which order to number bound variables, so that terms that differ only in their names become identical.

Variables are coloured by how they are used: first by the factors, then by the guards, again and again until use tells
no more of them apart (colour refinement). Ties that are left are broken in every way, refining after each choice; the
caller keeps the labelling whose term comes first. Real terms hardly ever leave more than a few labellings."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from samesame.formula.effort import current, limited, remember, step
from samesame.formula.guards import Guards, Literal
from samesame.formula.poly import Atom, Renaming, Var

User = tuple[Atom | Literal, str]  # what uses variables, with a note that tells equal users apart


def labellings(
    bound: tuple[Var, ...], guards: Guards, factors: tuple[tuple[Atom, Fraction], ...]
) -> Iterator[tuple[Var, ...]]:
    """Orders of the bound variables worth comparing: variables are told apart by how factors use them, then by guards;
    only those that no use tells apart are tried in every order."""
    if len(bound) == 1:
        yield bound
        return
    users: list[User] = [(a, str(e)) for a, e in factors]
    by_factors = refined({v: 0 for v in bound}, users)
    colours = refined(by_factors, [*users, *((g, "") for g in guards)])
    left = current().budget.permutations
    for order in _discrete(colours, [*users, *((g, "") for g in guards)]):
        yield order
        left -= 1
        if not left:
            limited(f"more than {current().budget.permutations} labellings of one term")
            return


def _discrete(colours: dict[Var, int], users: list[User]) -> Iterator[tuple[Var, ...]]:
    """All ways to break the ties of a colouring, refining again after each choice."""
    classes: dict[int, list[Var]] = {}
    for v, colour in colours.items():
        classes.setdefault(colour, []).append(v)
    tied = next((classes[c] for c in sorted(classes) if len(classes[c]) > 1), None)
    if tied is None:
        yield tuple(sorted(colours, key=lambda v: colours[v]))
        return
    step()
    for chosen in tied:
        apart = {v: 2 * c + (1 if c == colours[chosen] and v is not chosen else 0) for v, c in colours.items()}
        yield from _discrete(refined(apart, users), users)


def refined(colours: dict[Var, int], users: list[User]) -> dict[Var, int]:
    """The coarsest colouring finer than the given one that use respects: like colours occur alike in the users."""
    marks = [Var("mark", (k,), None, None) for k in range(2 * len(colours) + 2)]
    users = [(thing, note) for thing, note in users if any(v in thing.free for v in colours)]
    while True:
        colours = _ranked({v: (c, []) for v, c in colours.items()})
        if len(set(colours.values())) == len(colours):
            return colours
        seen = {}
        for v, c in colours.items():
            names = tuple((w, marks[0] if w is v else marks[1 + colours[w]]) for w in colours)
            seen[v] = (c, sorted(note + _renamed_key(thing, names) for thing, note in users if v in thing.free))
        finer = _ranked(seen)
        if finer == colours:
            return colours
        colours = finer


def _renamed_key(thing: Atom | Literal, names: Renaming) -> str:
    return _renamed(thing, tuple(pair for pair in names if pair[0] in thing.free)).key


@remember
def _renamed(thing: Atom | Literal, names: Renaming) -> Atom | Literal:
    return thing.rename(names)


def _ranked(seen: dict[Var, tuple[int, list[str]]]) -> dict[Var, int]:
    ranks = {signature: rank for rank, signature in enumerate(sorted({(c, tuple(s)) for c, s in seen.values()}))}
    return {v: ranks[c, tuple(s)] for v, (c, s) in seen.items()}
