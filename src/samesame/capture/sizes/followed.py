"""Sizes that remember: numbers that stand for sizes of tensors while a program runs, and note what it asks of them.

`x.shape[1]` gives a `Followed`: it acts as the number 5 wherever Python looks, and knows that it is a dimension of a
tensor. Arithmetic keeps the expression (`2·T + 1`, `T // 8`, `1/√T`); a comparison is answered as it would be for the
number, and the answer is noted as a condition, with the line that asked. What leaves for code that can only take plain
numbers (`range`, `int()`, a list's index, numpy) asks for one by `__index__`, `__float__` or their like, and that is
noted too: from there on nobody knows what becomes of the size. It is no subclass of int, since code in C reads the
digits of an int without asking. To `isinstance` it is an int, and to torch's parsers of arguments one of torch's own
symbolic sizes, which they let pass to whoever overrides a function.
"""

from __future__ import annotations

import gc
import math
import operator
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from types import CellType
from typing import Any

import torch

from samesame.capture.alive import all_gone_through
from samesame.formula.expr import Expr, Num, Size, Unsupported, add, const, floordiv, mod, mul, power
from samesame.formula.region import COMPARE, Condition, holding
from samesame.formula.tensor import Dim
from samesame.graph import Origin

Atoms = frozenset[Size]                                    # of an expression: dimensions of tensors, `name:dimension`
NOTHING: Atoms = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """A condition that the program took for granted from here on, and the line that asked."""

    condition: Condition
    origin: Origin


@dataclass(frozen=True, slots=True)
class Lost:
    """Where a size became a number that nobody follows: what was done, to what was made of which dimensions."""

    what: str
    atoms: Atoms
    origin: Origin


@dataclass(slots=True)
class Log:
    """What a run asked of its sizes. `here()` is the line that is running; `out` are the sizes that were given out."""

    here: Callable[[], Origin]
    asked: dict[Condition, Asked] = field(default_factory=dict)
    lost: dict[tuple[str, Atoms, Origin], Lost] = field(default_factory=dict)
    out: list[weakref.ref[Any]] = field(default_factory=list)

    def ask(self, op: str, a: Any, b: Any) -> bool:
        """The answer for the run's numbers to a comparison, which is noted."""
        answer = bool(COMPARE[op](plain(a), plain(b)))
        left, right = expression(a), expression(b)
        atoms = atoms_of(a) | atoms_of(b)
        if left is None or right is None:
            self.lose("compares a number made of sizes", atoms)
        elif atoms:
            condition = holding(op, left, right, answer)
            if condition not in self.asked:
                self.asked[condition] = Asked(condition, self.here())
        return answer

    def lose(self, what: str, atoms: Atoms) -> None:
        if atoms:
            loss = Lost(what, atoms, self.here())
            self.lost[what, atoms, loss.origin] = loss


class Whole(int, torch.SymInt):                            # type: ignore[misc]
    """What a size is to isinstance."""


class Real(float, torch.SymFloat):                         # type: ignore[misc]
    """What a real number made of sizes is to isinstance."""


class Followed:
    """A number made of sizes: its value in this run, and the expression it is; None where that has no words here, and
    then only of which dimensions it is made."""

    __slots__ = ("__weakref__", "atoms", "expr", "log", "value")

    def __init__(self, log: Log, value: int | float, expr: Expr | None, atoms: Atoms) -> None:
        self.log, self.value, self.expr, self.atoms = log, value, expr, atoms
        log.out.append(weakref.ref(self))

    @property
    def __class__(self) -> type:                           # to isinstance it is what it stands for
        return Whole if type(self.value) is int else Real

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError("a size has the type it has")

    def lost(self, what: str) -> int | float:
        """The plain number, noted as one that nobody follows."""
        self.log.lose(what, self.atoms)
        return self.value

    # ------------------------------------------------------------------------------------------------ to plain numbers

    def __index__(self) -> int:
        return operator.index(self.lost("takes a size as a plain number"))    # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(self.lost("calls int() on a size"))

    def __trunc__(self) -> int:
        return math.trunc(self.lost("truncates a size"))

    def __float__(self) -> float:
        return float(self.lost("calls float() on a size"))

    def __complex__(self) -> complex:
        return complex(self.lost("calls complex() on a size"))

    def __hash__(self) -> int:
        return hash(self.lost("looks a size up in a table"))

    def __str__(self) -> str:
        return str(self.lost("writes a size as text"))

    def __repr__(self) -> str:
        return repr(self.lost("writes a size as text"))

    def __format__(self, form: str) -> str:
        return format(self.lost("writes a size as text"), form)

    def __reduce__(self) -> Any:
        return type(self.value), (self.lost("copies a size out"),)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.value, name)
        self.lost(f"asks a size for its {name}")
        return found

    # ----------------------------------------------------------------------------------------------------- questions

    def __bool__(self) -> bool:
        return self.log.ask("≠", self, 0)

    def __lt__(self, other: Any) -> Any:
        return self._asked("<", other)

    def __le__(self, other: Any) -> Any:
        return self._asked("≤", other)

    def __gt__(self, other: Any) -> Any:
        return self._asked(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._asked("≥", other)

    def __eq__(self, other: Any) -> Any:
        return self._asked("=", other)

    def __ne__(self, other: Any) -> Any:
        return self._asked("≠", other)

    def _asked(self, op: str, other: Any) -> Any:
        return self.log.ask(op, self, other) if is_number(other) else NotImplemented

    # ---------------------------------------------------------------------------------------------------- arithmetic

    def __round__(self, digits: int | None = None) -> Any:
        if isinstance(self.value, int):
            return self
        return made(self.log, round(self.value, digits), lambda: None, self)

    def __floor__(self) -> Any:
        return self if isinstance(self.value, int) else operator.floordiv(self, 1)

    def __ceil__(self) -> Any:
        return self if isinstance(self.value, int) else operator.neg(operator.floordiv(operator.neg(self), 1))

    def __neg__(self) -> Any:
        return operator.sub(0, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self


def is_number(value: Any) -> bool:
    return type(value) is Followed or (isinstance(value, int | float) and not hasattr(value, "shape"))


def plain(value: Any) -> Any:
    """The number that a size is in this run; anything else is itself."""
    return value.value if type(value) is Followed else value


def expression(value: Any) -> Dim | None:
    """What a number is made of."""
    if type(value) is Followed:
        return value.expr
    if isinstance(value, float):
        return const(Fraction(value)) if math.isfinite(value) else None
    return int(value)


def atoms_of(value: Any) -> Atoms:
    return value.atoms if type(value) is Followed else NOTHING


def made(log: Log, value: Any, expr: Callable[[], Expr | int | None], *of: Any) -> Any:
    """The number that was made of others, with its expression where there is one."""
    atoms = frozenset().union(*map(atoms_of, of))
    if type(value) not in (int, float) or not atoms:
        return value
    try:
        known = None if any(expression(part) is None for part in of) else expr()
    except (Unsupported, ZeroDivisionError):
        known = None
    return Followed(log, value, None if known is None else const(known), atoms)


def _quotient(a: Dim, b: Dim) -> Expr:
    """a // b, where both may be fractions: ⌊(2/3)·T⌋ is 2·T // 3."""
    scale = 1
    for side in (a, b):
        for part in _coefficients(const(side)):
            scale = scale * part.denominator // math.gcd(scale, part.denominator)
    return floordiv(mul(scale, a), mul(scale, b))


def _coefficients(e: Expr) -> list[Fraction]:
    return [e.value] if isinstance(e, Num) else [n for child in e.children for n in _coefficients(child)]


def _powered(a: Dim, b: Dim) -> Expr | None:
    exponent = const(b)
    if isinstance(exponent, Num) and exponent.value.denominator <= 4 and abs(exponent.value) <= 4:
        return power(a, exponent.value)
    return None


def _shifted(a: Dim, b: Dim) -> Expr | None:
    return mul(a, 1 << b) if isinstance(b, int) and b >= 0 else None


def _unshifted(a: Dim, b: Dim) -> Expr | None:
    return floordiv(a, 1 << b) if isinstance(b, int) and b >= 0 else None


ARITHMETIC: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Dim, Dim], Expr | None]]] = {
    "add": (operator.add, add),
    "sub": (operator.sub, lambda a, b: add(a, mul(-1, b))),
    "mul": (operator.mul, mul),
    "truediv": (operator.truediv, lambda a, b: mul(a, power(b, -1))),
    "floordiv": (operator.floordiv, _quotient),
    "mod": (operator.mod, mod),
    "pow": (operator.pow, _powered),
    "lshift": (operator.lshift, _shifted),
    "rshift": (operator.rshift, _unshifted),
    "and": (operator.and_, lambda a, b: None),
    "or": (operator.or_, lambda a, b: None),
    "xor": (operator.xor, lambda a, b: None),
}


def _arithmetic(name: str, swapped: bool) -> Callable[[Followed, Any], Any]:
    compute, express = ARITHMETIC[name]

    def apply(self: Followed, other: Any, *modulus: Any) -> Any:
        if modulus or not is_number(other):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        value = compute(plain(a), plain(b))
        return made(self.log, value, lambda: express(expression(a), expression(b)), a, b)    # type: ignore[arg-type]

    return apply


def _divmod(swapped: bool) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        a, b = (other, self) if swapped else (self, other)
        return (a // b, a % b) if is_number(other) else NotImplemented

    return apply


for _name in ARITHMETIC:
    setattr(Followed, f"__{_name}__", _arithmetic(_name, False))
    setattr(Followed, f"__r{_name}__", _arithmetic(_name, True))
for _name, _is_swapped in (("__divmod__", False), ("__rdivmod__", True)):
    setattr(Followed, _name, _divmod(_is_swapped))


class Shape(tuple[Any, ...]):
    """A tensor's shape of sizes that remember; a torch.Size to isinstance."""

    kind: type = torch.Size

    @property
    def __class__(self) -> type:
        return Shape.kind

    @__class__.setter
    def __class__(self, kind: type) -> None:
        raise TypeError("a shape has the type it has")

    def numel(self) -> Any:
        return math.prod(self)

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return Shape(found) if isinstance(place, slice) else found

    def __add__(self, other: Any) -> Any:
        return Shape(super().__add__(tuple(other)))

    def __radd__(self, other: Any) -> Any:
        return Shape(tuple(other) + tuple(self))

    def __mul__(self, times: Any) -> Any:
        return Shape(super().__mul__(times))

    def __reduce__(self) -> Any:
        return Shape.kind, (tuple(self),)

    __hash__ = tuple.__hash__


def taken_back(log: Log) -> None:
    """Plain numbers again wherever the program keeps a size of this run: in attributes, closures, lists, tables.
    What is found holds sizes of this run, so it is nothing that another thread's run or program is about to build."""
    kept = [found for given in log.out if (found := given()) is not None]
    log.out.clear()
    if not kept:
        return
    with all_gone_through():
        for thing in kept:
            for holder in gc.get_referrers(thing):
                if isinstance(holder, tuple) and not isinstance(holder, Followed):
                    number: Any = torch.Size(map(plain, holder)) if type(holder) is Shape else tuple(map(plain, holder))
                    for outer in gc.get_referrers(holder):
                        _put_back(outer, holder, number)
                else:
                    _put_back(holder, thing, thing.value)


def _put_back(holder: Any, thing: Any, number: Any) -> None:
    if type(holder) is dict:
        for key in [key for key, value in holder.items() if value is thing]:
            holder[key] = number
    elif type(holder) is list:
        holder[:] = [number if part is thing else part for part in holder]
    elif type(holder) is CellType and holder.cell_contents is thing:
        holder.cell_contents = number


FUNCTIONS: dict[str, Callable[[Dim], Expr | None]] = {     # of the module math, of one number
    "sqrt": lambda a: power(a, Fraction(1, 2)),
}


def mathematics(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the module math that takes sizes that remember."""
    express = FUNCTIONS[name]

    def apply(*args: Any, **options: Any) -> Any:
        logs = [a.log for a in args if type(a) is Followed]
        if not logs:
            return function(*args, **options)
        value = function(*map(plain, args), **options)
        return made(logs[0], value, lambda: express(*map(expression, args)), *args)    # type: ignore[arg-type]

    return apply
