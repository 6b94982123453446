"""Regions: the sizes for which something was shown, as bounds of each size and conditions on several.

A program that asks `T > 64` is one program up to 64 and perhaps another one beyond. What it answered itself is a
condition; a region is what a list of conditions leaves around the sizes at which they were asked. Conditions on one
size that can only turn once as it grows become bounds, those that others imply are dropped, and the rest is kept as it
is: `T mod 3 = 0`, `B·T < 1000`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

from samesame.formula import binders
from samesame.formula.expr import Add, Expr, Extremum, FloorDiv, Mod, Mul, Num, Pow, Size, Unsupported, add, const, mul
from samesame.formula.sizes import at_least, canonical, encoded, replaced, size_text, symbols
from samesame.formula.tensor import Dim

FAR = 1 << 60                                              # what holds up to here is taken to hold at every size
COUNTED = 1 << 12                                          # so many values of a bounded size are tried one by one
Values = Mapping[str, int]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "≤": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    "≠": lambda a, b: a != b,
    "≥": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}
OPPOSITE = {"<": "≥", "≤": ">", "=": "≠", "≠": "=", "≥": "<", ">": "≤"}


@dataclass(frozen=True, slots=True)
class Condition:
    """`left op right`, where both are made of sizes and numbers."""

    op: str
    left: Dim
    right: Dim

    @property
    def names(self) -> frozenset[str]:
        return frozenset(symbol.name for side in (self.left, self.right) for symbol in symbols(side))

    def holds(self, values: Values) -> bool:
        return COMPARE[self.op](number_at(self.left, values), number_at(self.right, values))

    def at(self, values: Mapping[Expr, Dim]) -> Condition:
        """With other sizes in place of symbols."""
        return Condition(self.op, put(self.left, values), put(self.right, values))

    def __str__(self) -> str:
        return f"{size_text(self.left)} {self.op} {size_text(self.right)}"


def holding(op: str, left: Dim, right: Dim, answer: bool) -> Condition:
    """The condition that a question with this answer leaves."""
    return Condition(op if answer else OPPOSITE[op], left, right)


def number_at(size: Dim, values: Values) -> Any:
    """The number that an expression of sizes is at these values: exact, but for roots. Raises Unsupported."""
    match size:
        case int():
            return size
        case Num(value):
            return value
        case Size(name, _):
            return values[name]
        case Add(terms):
            return sum(number_at(term, values) for term in terms)
        case Mul(factors):
            product: Any = 1
            for factor in factors:
                product = product * number_at(factor, values)
            return product
        case Pow(base, exponent):
            number = number_at(base, values)
            return Fraction(number) ** int(exponent) if exponent.denominator == 1 else float(number) ** float(exponent)
        case FloorDiv(a, b):
            return floor(Fraction(number_at(a, values)) / Fraction(number_at(b, values)))
        case Mod(a, b):
            return number_at(a, values) % number_at(b, values)
        case Extremum(op, parts):
            return (max if op == "max" else min)(number_at(part, values) for part in parts)
    raise Unsupported(f"{size_text(size)} is no size")


def put(size: Dim, values: Mapping[Expr, Dim]) -> Dim:
    """The expression with others in place of its parts, in canonical form where it has one."""
    if isinstance(size, int):
        return size
    found = binders.put(size, lambda part: const(values[part]) if part in values else None)
    try:
        return canonical(found)
    except Unsupported:
        return found


@dataclass(frozen=True, slots=True)
class Region:
    """Bounds of each symbol, both ends included and None where there is no upper one, and further conditions."""

    bounds: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()

    def holds(self, values: Values) -> bool:
        """Whether these values of all its symbols lie in it."""
        inside = (low <= values[name] and (high is None or values[name] <= high)
                  for name, (low, high) in self.bounds.items())
        return all(inside) and all(condition.holds(values) for condition in self.conditions)

    def __str__(self) -> str:
        bounds = [f"{name} ≥ {low}" if high is None else f"{low} ≤ {name} ≤ {high}"
                  for name, (low, high) in self.bounds.items()]
        with_ = f" with {listed(list(map(str, self.conditions)))}" if self.conditions else ""
        return f"{listed(bounds)}{with_}"

    def beyond(self, example: Values) -> Iterator[dict[str, int]]:
        """Values just outside of it, one symbol at a time, the others as in the example: past each end, and where each
        further condition first fails."""
        for name, (low, high) in self.bounds.items():
            yield from ({**example, name: n} for n in (high and high + 1, low - 1) if n)
        for condition in self.conditions:
            for name in sorted(condition.names):
                tried = ({**example, name: n} for n in range(self.bounds[name][0], COUNTED))
                outside = next((values for values in tried if not condition.holds(values)), None)
                if outside is not None:
                    yield outside
                    break

    def form(self) -> dict[str, Any]:
        """The region as what the `json` module writes."""
        return {
            "bounds": {name: [low, high] for name, (low, high) in self.bounds.items()},
            "conditions": [[c.op, encoded(c.left), encoded(c.right)] for c in self.conditions],
        }


def listed(parts: Sequence[str]) -> str:
    """`B ≥ 2, T ≥ 2 and D ≥ 2`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def around(example: Values, sizes: Sequence[Size], conditions: Iterable[Condition]) -> Region:
    """The region about the example that the conditions leave; all must hold there. `sizes` are all symbols, with their
    minima."""
    bounds: dict[str, tuple[int, int | None]] = {size.name: (size.minimum, None) for size in sizes}
    others: list[Condition] = []
    for condition in dict.fromkeys(map(_tidy, conditions)):
        names = condition.names
        if not names:
            continue
        name = next(iter(names))
        interval = _interval(condition, name, example) if len(names) == 1 else None
        if interval is None:
            others.append(condition)
        else:
            low, high = bounds[name]
            tighter = [n for n in (high, interval[1]) if n is not None]
            bounds[name] = max(low, interval[0]), min(tighter, default=None)
    kept = tuple(c for c in others if not _implied(c, bounds))
    return Region(bounds, kept)


def _tidy(condition: Condition) -> Condition:
    """The condition with everything that moves on the left, where it is one of whole sizes."""
    try:
        gap = canonical(add(condition.left, mul(-1, condition.right)))
    except Unsupported:
        return condition
    if isinstance(gap, int):
        return Condition(condition.op, gap, 0)
    parts = [(part, _leading(part)) for part in (gap.terms if isinstance(gap, Add) else (gap,))]
    number = sum(int(part.value) for part, _ in parts if isinstance(part, Num))
    moving = [part for part, _ in parts if not isinstance(part, Num)]
    if all(_leading(part) < 0 for part in moving):
        turned = {"<": ">", "≤": "≥", ">": "<", "≥": "≤"}.get(condition.op, condition.op)
        return Condition(turned, canonical(add(*(mul(-1, part) for part in moving))), number)
    positive = [part for part in moving if _leading(part) > 0]
    negative = [mul(-1, part) for part in moving if _leading(part) < 0]
    return Condition(condition.op, canonical(add(0, *positive)), canonical(add(-number, *negative)))


def _leading(part: Expr) -> int:
    """The sign of a term's coefficient."""
    numbers = [part] if isinstance(part, Num) else list(part.factors) if isinstance(part, Mul) else []
    return -1 if any(isinstance(n, Num) and n.value < 0 for n in numbers) else 1


def _interval(condition: Condition, name: str, example: Values) -> tuple[int, int | None] | None:
    """The values of the one size of a condition, about the example's, for which it holds; None where it may turn more
    than once, or where it only leaves out a single value."""
    direction = _direction(add(condition.left, mul(-1, condition.right)))
    if direction is None:
        return None
    here = example[name]
    if condition.op == "≠":
        if isinstance(condition.left, Size) and isinstance(condition.right, int):
            return None
        below = number_at(condition.left, example) < number_at(condition.right, example)
        condition = Condition("<" if below else ">", condition.left, condition.right)

    def turns(inside: int, outside: int) -> int:
        """The last value from the one towards the other for which the condition holds."""
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            inside, outside = (middle, outside) if condition.holds({name: middle}) else (inside, middle)
        return inside

    low = 0 if condition.holds({name: 1}) else turns(here, 1)
    return low, None if condition.holds({name: FAR}) else turns(here, FAR)


def _direction(size: Dim) -> int | None:
    """1 where an expression never falls as its sizes grow, −1 where it never rises, 0 for a number, None if unknown.
    Sizes are 1 or more."""
    match size:
        case int() | Num():
            return 0
        case Size():
            return 1
        case Add(parts) | Extremum(_, parts):
            return _common(map(_direction, parts))
        case Mul(factors):
            sign = -1 if _leading(size) < 0 else 1
            rest = [f for f in factors if not isinstance(f, Num)]
            if any((_least(f) or 0) < 0 or _least(f) is None for f in rest):
                return None
            found = _common(map(_direction, rest))
            return None if found is None else sign * found
        case Pow(base, exponent) if (_least(base) or 0) > 0:
            found = _direction(base)
            return None if found is None else found if exponent > 0 else -found
        case FloorDiv(a, Num(value)) if value > 0:
            return _direction(a)
    return None


def _least(size: Dim) -> float | None:
    """A number that an expression is never below, where sizes are 1 or more."""
    match size:
        case Pow(base, _):
            least = _least(base)
            return None if least is None or least < 0 else 0.0 if least == 0 else 1e-300
        case Num(value):
            return float(value)
    try:
        return at_least(canonical(size))
    except Unsupported:
        return None


def _common(directions: Iterable[int | None]) -> int | None:
    found = set(directions) - {0}
    return 0 if not found else found.pop() if len(found) == 1 else None


def _implied(condition: Condition, bounds: Mapping[str, tuple[int, int | None]]) -> bool:
    """Whether the bounds alone make it true."""
    names = condition.names
    ranges = [range(bounds[name][0], (bounds[name][1] or FAR) + 1) for name in names]
    if len(ranges) == 1 and len(ranges[0]) <= COUNTED:
        return all(condition.holds({name: n}) for name in names for n in ranges[0])
    left, right = condition.left, condition.right
    if len(ranges) == 1 and condition.op == "≠" and isinstance(left, Size) and isinstance(right, int):
        return right not in ranges[0]
    raised: dict[str, Dim] = {name: Size(name, bounds[name][0]) for name in names}
    try:
        gap = canonical(add(condition.left, mul(-1, condition.right)))
        above, below = at_least(replaced(gap, raised)), at_least(replaced(canonical(mul(-1, const(gap))), raised))
    except Unsupported:
        return False
    return {
        "≥": above is not None and above >= 0,
        ">": above is not None and above > 0,
        "≤": below is not None and below >= 0,
        "<": below is not None and below > 0,
        "≠": (above is not None and above > 0) or (below is not None and below > 0),
        "=": gap == 0,
    }[condition.op]
