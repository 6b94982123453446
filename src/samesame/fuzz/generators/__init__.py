"""Where programs come from: one file a generator, one line each in this table.

A generator makes a program from dice; operators that it is asked to avoid (findings that are known already) do not
occur in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from samesame.fuzz.generators import algebra, operators, statements
from samesame.fuzz.program import Program

Generator = Callable[[random.Random, frozenset[str]], Program]

GENERATORS: dict[str, Generator] = {
    "operators": operators.generate,
    "statements": statements.generate,
    "algebra": algebra.generate,
}
