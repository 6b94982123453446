"""Conditions that ordinary values break: a headline says them, since it is to be true without the rest of the report.

Most conditions are about numbers that nobody gives (a divisor that is 0, where neither program has a value) or say how
a literal was read. A zero that is negative where its sign is asked for (`signbit(-x)` at 0), rows in no order where one
looks in them, numbers beyond a threshold at which a function turns into a line, counts of nothing and maxima over
nothing are neither.
"""

from __future__ import annotations

from collections.abc import Iterable

from samesame.formula.assumptions import COUNT, SOME, Assumption, Holds, Said

_PROVISO = "proviso"
_NO_EMPTY_MAXIMUM = f"every maximum is {SOME}"           # which of them, its condition says


def unsigned(what: str) -> Said:
    return Said(_PROVISO, f"a zero is positive where {what} asks for its sign")


def rising(what: str) -> Said:
    return Said(_PROVISO, f"the rows that {what} looks in are in rising order")


def beyond(what: str, less: float) -> Said:
    """A function that is a line beyond a threshold is read as what it is below; `less` by how much a line that is."""
    return Said(_PROVISO, f"{what} is read above its threshold as below it, {less:.2g} less")


def provisos(assumptions: Iterable[Assumption]) -> list[str]:
    """What a headline is to say of what proofs took for granted, each once."""
    return list(dict.fromkeys(text for one in assumptions if (text := _told(one))))


def _told(one: Assumption) -> str:
    if isinstance(one, Holds) and one.kind == SOME:
        return _NO_EMPTY_MAXIMUM
    return str(one) if isinstance(one, Said | Holds) and one.kind in (_PROVISO, COUNT) else ""
