"""Where programs come from: one file a generator, one line each in this table.

A generator makes a program from dice and a taste (which operators to avoid, and which to try).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from samesame.fuzz.generators import algebra, beside, operators, statements
from samesame.fuzz.generators.taste import Taste
from samesame.fuzz.program import Program

Generator = Callable[[random.Random, Taste], Program]

GENERATORS: dict[str, Generator] = {
    "operators": operators.generate,
    "statements": statements.generate,
    "algebra": algebra.generate,
    "values": beside.generate,
}
