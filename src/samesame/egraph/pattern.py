"""Patterns: terms with variables in them.

A pattern looks like a term, with variables: `slice(concat(*xs; d); d, lo, hi)`. Before the semicolon, a name stands
for any argument and `*xs` for any number of them; behind it, a name stands for any attribute and `*a` for any number.
A name that occurs twice must stand for equal arguments, or for the very same attribute. A *family* stands for one
operator out of several. Matching looks into classes, not terms: `permute(permute(x; p); q)` matches a node whose
argument is *equal to* a permute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Substitution = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Variable:
    """Any argument (a class of terms)."""

    name: str


@dataclass(frozen=True, slots=True)
class Several:
    """Any number of arguments, or of attributes: written `*name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """Any attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """This attribute and no other."""

    value: Any


@dataclass(frozen=True, slots=True)
class Family:
    """One operator out of several."""

    name: str
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator applied to patterns. At most one argument and one attribute is `Several`."""

    operator: str | Family
    arguments: tuple[Apply | Variable | Several, ...] = ()
    attributes: tuple[Attribute | Several | Literal, ...] = ()

    @property
    def operators(self) -> tuple[str, ...]:
        """Every operator that this may be."""
        return self.operator.operators if isinstance(self.operator, Family) else (self.operator,)


class Made(NamedTuple):
    """A description of a term, over the ids of terms that exist; it exists itself once it is added."""

    operator: str
    attributes: tuple[Any, ...]
    arguments: tuple[Made | int, ...]
