"""Conditions that ordinary values break: a headline says them, since it is to be true without the rest of the report.

Most conditions are about numbers that nobody gives (a divisor that is 0, where neither program has a value) or say how
a literal was read. A zero that is negative where its sign is asked for (`signbit(-x)` at 0), and rows in no order where
one looks in them, are neither.
"""

from __future__ import annotations

from collections.abc import Iterable

from samesame.formula.shares import NO_EMPTY_COUNT

UNSIGNED = "a zero is positive where {} asks for its sign"
RISING = "the rows that {} looks in are in rising order"
_ENDINGS = (*(words.partition("{}")[2] for words in (UNSIGNED, RISING)), NO_EMPTY_COUNT)


def provisos(conditions: Iterable[str]) -> list[str]:
    """Those of the conditions that a headline is to say, each once."""
    return [condition for condition in dict.fromkeys(conditions) if condition.endswith(_ENDINGS)]
