"""What a user's contracts say of the elements of a tensor, and what follows from that.

`Elements` puts each element in a range, or lets it be one of a few numbers besides; `Distinct` says that no two
elements are equal, which is all that a write through an index needs to go to a place of its own; `Ascending`, that none
is less than the one before, as where rows begin that lie behind one another; `Above`, that reals are above zero. All
are looked up in the example's tensor before anything is proved, and printed with the verdict.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

from samesame.formula.expr import Expr, Load, and_, const, not_, or_, walk
from samesame.formula.sizes import canonical, replaced, size_text, value_at
from samesame.formula.tensor import Dim
from samesame.kernels.indices import integers

NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
FORMULAS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "<": integers.less,
    "<=": integers.at_most,
    ">": lambda a, b: integers.less(b, a),
    ">=": lambda a, b: integers.at_most(b, a),
    "==": integers.equal,
    "!=": lambda a, b: not_(integers.equal(a, b)),
}


@dataclass(frozen=True)
class Elements:
    """low ≤ element ≤ high (None: no such end) of each element of a tensor, or it is one of the numbers `but`. `read`:
    the host code read this from the tensor, and nobody states it."""

    text: str
    tensor: Any  # the host's; of a finished capture a View
    low: Any
    high: Any
    but: tuple[int, ...] = ()
    read: bool = False

    def words(self, name: str) -> str:
        each = f"{name}[…]"
        low = "" if self.low is None else f"{size_text(self.low)} ≤ "
        high = "" if self.high is None else f" < {size_text(canonical(const(self.high) + 1))}"
        return f"{low}{each}{high}" + "".join(f" or {each} = {n}" for n in self.but)

    def broken(self, row: np.ndarray, sizes: Mapping[str, int]) -> np.ndarray:
        """The places of elements that are not so."""
        low, high = (end if end is None else value_at(end, sizes) for end in (self.low, self.high))
        inside = np.ones(row.shape, bool) if low is None else row >= low
        inside = inside if high is None else inside & (row <= high)
        return np.flatnonzero(~reduce(operator.or_, (row == n for n in self.but), inside))


@dataclass(frozen=True)
class Distinct:
    """No two elements of a tensor are equal, of those that stand in `sign` to `bound` ("": of all)."""

    text: str
    tensor: Any
    sign: str = ""
    bound: Any = 0

    def words(self, name: str) -> str:
        return f"distinct({name}[{name} {self.sign} {size_text(self.bound)}])" if self.sign else f"distinct({name})"

    def broken(self, row: np.ndarray, sizes: Mapping[str, int]) -> np.ndarray:
        """The places of elements that an earlier one equals."""
        places = np.arange(row.size)
        if self.sign:
            places = places[NUMBERS[self.sign](row, value_at(self.bound, sizes))]
        _, first = np.unique(row[places], return_index=True)
        return np.setdiff1d(places, places[first])


@dataclass(frozen=True)
class Ascending:
    """No element of a tensor is less than the one before it, as of where rows begin that lie one after the other."""

    text: str
    tensor: Any

    def words(self, name: str) -> str:
        return f"ascending({name})"

    def broken(self, row: np.ndarray, sizes: Mapping[str, int]) -> np.ndarray:
        """The places of elements that are less than the one before."""
        return np.flatnonzero(row[1:] < row[:-1]) + 1


@dataclass(frozen=True)
class Above:
    """Each element of a tensor of reals is above zero, as long as it holds what it was given."""

    text: str
    tensor: Any

    def words(self, name: str) -> str:
        return f"0 < {name}[…]"

    def broken(self, row: np.ndarray, sizes: Mapping[str, int]) -> np.ndarray:
        """The places of elements that are not so."""
        return np.flatnonzero(~(row > 0))


Stated = Elements | Distinct | Ascending | Above


@dataclass(frozen=True)
class Apart:
    """What the solver is told of a tensor with distinct elements, as one row of so many."""

    claim: Distinct
    elements: Dim

    @property
    def among(self) -> tuple[str, Dim] | None:
        """The sign and the bound of those that are distinct; None where all are."""
        return (self.claim.sign, self.claim.bound) if self.claim.sign else None

    def tells(self, one: Load, other: Load) -> Expr:
        """Equal elements are one element."""
        (i,), (j,) = one.indices, other.indices
        n = integers.tidied(const(self.elements))
        inside = [integers.at_least_zero(i), integers.less(i, n), integers.at_least_zero(j), integers.less(j, n)]
        if self.claim.sign:
            inside.append(FORMULAS[self.claim.sign](one, integers.tidied(const(self.claim.bound))))
        return or_(not_(and_(*inside, integers.equal(one, other))), integers.equal(i, j))


@dataclass(frozen=True)
class Rising:
    """What the solver is told of a tensor that ascends, as one row of so many."""

    elements: Dim

    def tells(self, one: Load, other: Load) -> Expr:
        """Of two elements, which one comes later is no less."""
        (i,), (j,) = one.indices, other.indices
        n = integers.tidied(const(self.elements))
        inside = [integers.at_least_zero(i), integers.less(i, n), integers.at_least_zero(j), integers.less(j, n)]
        orders = (
            or_(not_(integers.at_most(i, j)), integers.at_most(one, other)),
            or_(not_(integers.at_most(j, i)), integers.at_most(other, one)),
        )
        return or_(not_(and_(*inside)), and_(*orders))


@dataclass(frozen=True)
class Sum:
    """That no sum of elements that stand at one place of tensors as long as each other, each so many times, is more
    than a number: where rows begin and how long they are, of rows that lie in one tensor."""

    times: Mapping[str, int]
    most: Expr

    def of(self, values: Mapping[str, Any]) -> Any:
        """The sum."""
        return sum(c * values[name] for name, c in self.times.items())

    def told(self, claims: Sequence[Expr]) -> Iterator[Expr]:
        """What it says of elements that occur in claims, outside what a fold binds."""
        places: dict[tuple[Expr, ...], dict[str, Load]] = {}
        for e in outer_loads(claims):
            places.setdefault(e.indices, {})[e.leaf.name.removesuffix("*")] = e
        for there in places.values():
            if there.keys() >= self.times.keys():
                total = reduce(integers.plus_, (integers.times_(there[name], c) for name, c in self.times.items()))
                yield integers.at_most(total, self.most)

    def at(self, sizes: Mapping[str, Dim]) -> Sum:
        """The same with others in place of some sizes."""
        return Sum(self.times, integers.tidied(const(replaced(self.most, dict(sizes)))))

    def kept(self, values: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """Values that keep it, the sum's greater parts less where these do not."""
        found = {name: values[name].copy() for name in self.times}
        for name, c in self.times.items():
            over = np.maximum(self.of(found) - value_at(self.most, sizes), 0)
            found[name] -= np.minimum(over, np.maximum(found[name], 0)) if c == 1 else 0
        return found

    def __str__(self) -> str:
        parts = [("" if c == 1 else "−" if c == -1 else f"{c}·", name) for name, c in self.times.items()]
        whole = " + ".join(f"{c}{name}[…]" for c, name in parts).replace("+ −", "− ")
        return f"{whole} ≤ {size_text(canonical(self.most))}"


def outer_loads(claims: Sequence[Expr]) -> Iterator[Load]:
    """Elements that occur in claims, outside what a fold binds."""
    outer = frozenset[Any]().union(*(claim.free for claim in claims))
    loads = dict.fromkeys(e for claim in claims for e in walk(claim) if isinstance(e, Load))
    return (e for e in loads if e.free <= outer)


def followed(claims: Sequence[Expr], held: Mapping[str, Apart] | Mapping[str, Rising]) -> Iterator[Expr]:
    """What is held of any two elements, said of those that occur in claims, outside what a fold binds."""
    loads = [e for e in outer_loads(claims) if e.leaf.name in held]
    for one, other in combinations(loads, 2):
        if one.leaf == other.leaf:
            yield held[one.leaf.name].tells(one, other)
