"""Stores to places that data says, as keys go to their slots of a cache.

Which program, iteration or lane reaches an element cannot be told from the element, as slots[t] does not tell t. It
need not be where no two of them reach one element, which a contract may say of the slots; or where all that may reach
it store one value, as those that ban the tokens of a list do: then it does not matter which of them is last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from samesame.formula.definite import is_undefined
from samesame.formula.expr import Index, Load, walk
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.tiles.detile import Solution, Write, tells_programs
from samesame.kernels.tiles.memory import tells_elements


def goes_by_data(solution: Solution | None) -> bool:
    """Whether a store writes numbers to elements that hang on variables which they do not tell, as slots[t] on t."""
    if solution is None or not solution.free or solution.write.access.kind != "store":
        return False
    known = solution.write.memory.kind != "bool"
    return known and all(any(v in a.free for a in solution.at) for v in solution.free)


def places_in(solution: Solution | None) -> list[str]:
    """The tensors of integers that say where a store goes, as slots[t] does, by name."""
    if not goes_by_data(solution):
        return []
    loads = [e for a in cast(Solution, solution).at for e in walk(a) if isinstance(e, Load) and not is_undefined(e)]
    return [e.leaf.name.removesuffix("*") for e in loads if e.leaf.kind == "int" and e.indices]


def stores_one_value(write: Write, solution: Solution, programs: Sequence[Index], simplify: Simplifier) -> bool:
    """Whether an element tells the program and all that the stored value hangs on, whichever iterations and lanes of
    that program reach it."""
    made = set(solution.write.variables) - set(write.variables)  # digits, of a program perhaps
    matter = {*programs, *made, *solution.write.value.free}
    if not matter.isdisjoint(solution.free) or not tells_elements(write.memory, simplify):
        return False
    return not tells_programs(solution, simplify)
