"""Taste: which operators and dtypes a program is made of.

Those of findings that are known already are avoided. Of the others, those come first that were tried rarely since they
last reached a line of the compiler that was new.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MOST = 8                     # tries that count


class Taste(NamedTuple):
    """`tried`: how often an operator was tried since it last reached something new."""

    avoid: frozenset[str] = frozenset()
    tried: Mapping[str, int] = {}

    def pick(self, dice: random.Random, names: Sequence[str]) -> str:
        return dice.choices(names, [1 / (1 + min(self.tried.get(name, 0), MOST)) for name in names])[0]


PLAIN = Taste()
