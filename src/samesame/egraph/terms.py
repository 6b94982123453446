"""Terms, and the reasons for which two of them are equal.

A term applies an operator, with attributes, to earlier terms: `slice(#4; 1, 0, 64)` is the operator `slice` with the
attributes 1, 0 and 64, applied to term 4. Arguments stand before the semicolon and attributes behind it, here and in
rules. A term never changes once it is made; what changes is which terms are known to be equal, and each equality has
a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from samesame.evidence import SamesameError


class EGraphError(SamesameError):
    """An equality that cannot hold, such as one between terms of different types, or a term that cannot be made."""


@dataclass(frozen=True, slots=True)
class Term:
    """An operator, its attributes (hashable values), its arguments (ids of earlier terms), and the term's type."""

    operator: str
    attributes: tuple[Hashable, ...] = ()
    arguments: tuple[int, ...] = ()
    type: Hashable = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Equal because something outside the e-graph says so: an input relation, a proof, a test."""

    id: str


@dataclass(frozen=True, slots=True)
class RuleUse:
    """Equal because a rule says so, of these terms and attributes.

    `substitution` maps each variable of the rule's left side to a term id, a tuple of term ids (for `*xs`), or an
    attribute value.
    """

    rule: str
    substitution: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Congruence:
    """Equal because operator and attributes are the same and the arguments are equal, one by one."""


CONGRUENCE = Congruence()
Reason = Evidence | RuleUse | Congruence


def exact(value: Any) -> Hashable:
    """A key that tells 1, 1.0 and True apart, which Python calls equal and a tensor program does not."""
    kind = type(value)
    if kind is tuple:
        return (tuple, *map(exact, value))
    return (kind, repr(value)) if kind is float or kind is complex else (kind, value)


def show_term(
    term: int, terms: Mapping[int, Term], depth: int = 3, name: Callable[[int], str | None] | None = None
) -> str:
    """The term as text, `depth` operators deep.

    What lies deeper is `#id`. `name` may name a term, and ends the text there.
    """
    named = name(term) if name else None
    if named is not None:
        return named
    here = terms[term]
    if here.arguments and depth == 0:
        return f"#{term}"
    if not here.arguments and not here.attributes:
        return here.operator
    arguments = ", ".join(show_term(argument, terms, depth - 1, name) for argument in here.arguments)
    attributes = ", ".join(map(str, here.attributes))
    return f"{here.operator}({arguments}{'; ' if attributes else ''}{attributes})"
