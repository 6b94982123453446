"""Sizes that stay symbols while host code runs: torch's symbolic integers, read back as our own sizes.

The code around a kernel computes with sizes: a grid of `cdiv(n, 1024)` programs, a stride, `if n <= 4096`. Example
tensors get symbolic sizes, torch carries them through, and what comes out at a launch is an expression over the
symbols. A branch that such code takes becomes a guard: a condition under which it would take it again. Sizes that are
equal in the example are one symbol, which is noted where nothing else says that they are equal; parameters may be held
`apart`, each a symbol of its own. A symbol is 2 or more: 0 and 1 are other programs to torch (broadcasting).

A short length that is written as a number may be that number and no size (a window of 3 × 3, the two of each pair):
`literal` shapes are taken so.

What a size is rounded to (`next_power_of_2(n)`) is a choice, not a size: the number is used, and noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import sympy
import torch
from torch._dynamo.source import LocalSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from samesame.formula.expr import (
    TRUE,
    Expr,
    Size,
    Unsupported,
    add,
    and_,
    compare,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    not_,
    or_,
    power,
    rebuild,
)
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim

LEAST = 2                                   # the smallest size that a symbol stands for
FEW = 3                                     # sizes that are equal in the example and are said one by one
SHORT = 8                                   # a length up to which a number in a shape may be meant as that number
BESIDE = 64                                 # the same where sizes that may vary are parameters
REMAINDERS = ("Mod", "PythonMod")           # torch's, by class
QUOTIENTS = ("FloorDiv", "CleanDiv")
NAMES = ("n", "m", "k", "p", "q", "r", "s", "t", "u", "v", "w")


class HostSizes:
    """The symbols of one run of host code."""

    def __init__(self, literal: bool = False, apart: bool = False) -> None:
        self.literal, self.apart = literal, apart
        self.written: dict[int, None] = {}  # short lengths that the host code writes as numbers
        self.env = ShapeEnv(duck_shape=True, specialize_zero_one=True)
        self.example: dict[sympy.Symbol, int] = {}
        self.names: dict[sympy.Symbol, str] = {}
        self.choices: dict[tuple[str, Any], Any] = {}  # by what is done, and to which expression
        self._parameters: dict[int, list[str]] = {}  # names of the parameters with a value
        self._own: dict[str, torch.SymInt] = {}  # the sizes of those that are held apart
        self._sizes: dict[sympy.Symbol, torch.SymInt] = {}
        self._divided: set[sympy.Symbol] = set()  # which are said by what divides them
        self._alike: dict[int, None] = {}  # values that sizes have which nothing says are equal
        self._made: dict[int, torch.SymInt] = {}
        self.places: dict[sympy.Symbol, list[str]] = {}  # the tensors' sizes that each symbol is, by name

    @property
    def are_named(self) -> bool:
        """Whether the launch function has sizes as parameters."""
        return bool(self._parameters)

    def parameter(self, value: int, name: str) -> int | torch.SymInt:
        """The size that a number among the launch function's arguments is."""
        alike = self._parameters.setdefault(value, [])
        if self.apart and alike and value >= LEAST:
            self._own[name] = made = self.symbol(value)
            self.names[made.node.expr] = name
            return made
        alike.append(name)
        return self.size(value, name)

    def shape(self, numbers: Sequence[Any]) -> list[Any]:
        """The sizes of one tensor of the example; what is no plain number is a size already."""
        longest = BESIDE if self.are_named else SHORT
        self.written |= dict.fromkeys(n for n in numbers if type(n) is int and LEAST <= n <= longest)
        if self.literal:
            return [self.size(n) if type(n) is int and n not in self.written else n for n in numbers]
        plain = [n for n in numbers if type(n) is int]
        self._alike |= dict.fromkeys(n for n in plain if plain.count(n) > 1 or n in self._parameters)
        return [self.size(n) if type(n) is int else n for n in numbers]

    def size(self, value: int, name: str = "") -> int | torch.SymInt:
        """The symbol for a size of the example; 0 and 1 stay numbers."""
        if value < LEAST:
            return value
        if value not in self._made:
            self._made[value] = self.symbol(value)
        symbol = self._made[value].node.expr
        if name:
            self.names.setdefault(symbol, name)
        return self._made[value]

    def symbol(self, value: int) -> torch.SymInt:
        """A new symbol with this value in the example."""
        source = LocalSource(f"size{len(self.example)}")
        symbol = self.env.create_symbol(value, source=source, dynamic_dim=DimDynamic.DYNAMIC)
        made = self.env.create_symintnode(symbol, hint=value, source=source)
        assert isinstance(made, torch.SymInt) and isinstance(symbol, sympy.Symbol)
        self.example[symbol] = value
        self._sizes[symbol] = made
        return made

    def suggest(self, name: str, value: Any) -> None:
        """A name for a symbol that has none: that of a parameter whose value it is."""
        if isinstance(value, torch.SymInt) and isinstance(value.node.expr, sympy.Symbol) and name.isidentifier():
            self.names.setdefault(value.node.expr, name)

    def note_shape(self, name: str, shape: Sequence[Any]) -> None:
        """The sizes of a tensor, by its name (x.shape[0])."""
        for d, n in enumerate(shape):
            if isinstance(n, torch.SymInt) and isinstance(n.node._expr, sympy.Symbol):
                self.places.setdefault(n.node._expr, []).append(f"{name}.shape[{d}]")

    def called(self, symbol: sympy.Symbol) -> str:
        """A size of the example as the host code calls it."""
        return self.names.get(symbol) or next(iter(self.places.get(symbol, ())), "a size")

    def number(self, value: Any) -> Any:
        """A plain number for what must be one, such as a block size: a size that is fixed thereby, or a choice."""
        if not isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return value
        expression = value.node.expr
        if not isinstance(value, torch.SymBool) and not isinstance(expression, sympy.Symbol | sympy.Number):
            return self.choice(value)
        return bool(value) if isinstance(value, torch.SymBool) else int(value)

    def choice(self, value: Any, function: str = "", result: Callable[[Any], Any] = lambda n: n) -> Any:
        """The number that `function` of a symbolic number, or this itself, is for the example, noted as a choice."""
        found = result(self.at_example(value))
        self.choices[function, value.node.expr] = found
        return found

    def at_example(self, value: Any) -> Any:
        """The number that a symbolic number is for the example, without a guard."""
        return value.node.hint if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool) else value

    def ask(self, condition: bool | torch.SymBool) -> bool:
        """Whether a condition on sizes is so in the example; where it is, it is a guard from here on."""
        asked = condition.node.expr if isinstance(condition, torch.SymBool) else None
        holds = bool(self.at_example(condition)) and bool(condition)
        if holds and asked is not None:
            self.divide(asked)
        return holds

    def divide(self, condition: sympy.Expr) -> None:
        """Of a mod b = 0, for two sizes of the example: a is b times a size of its own."""
        if not isinstance(condition, sympy.Eq) or condition.rhs != 0 or type(condition.lhs).__name__ not in REMAINDERS:
            return
        pair = condition.lhs.args
        if not all(isinstance(e, sympy.Symbol) and self.env.simplify(e) == e for e in pair):
            return
        a, b = map(self._sizes.__getitem__, pair)
        value = self.at_example(a) // self.at_example(b)
        if value >= LEAST:
            times = self.symbol(value)
            self.names[times.node.expr] = f"({self.called(pair[0])}//{self.called(pair[1])})"
            self._divided.add(pair[0])
            bool(a == b * times)

    def ties(self) -> Iterator[str]:
        """What is taken to be equal because it is in the example, and parameters of which no symbol is made."""
        for value, names in self._parameters.items():
            if value < LEAST:
                yield from (f"{name} = {value}" for name in names)
            else:
                yield from (f"{name} = {names[0]}" for name in names[1:])
        if self.literal and self.written:
            yield f"lengths written as {', '.join(map(str, sorted(self.written)))}"
        for value in self._alike:
            if value >= LEAST:
                found = self.places.get(self._made[value].node._expr, []) if value in self._made else []
                few = 1 < len(found) <= FEW
                yield " = ".join(found) if few else f"all sizes that are {value} in the example are equal"

    def finished(self) -> Reading:
        """The run is over: names for all symbols, and the reading of expressions by them."""
        used: set[str] = set()
        final: dict[sympy.Symbol, Dim] = {}
        fresh = iter(name for name in NAMES if name not in self.names.values())
        for symbol in self.example:
            replaced = self.env.simplify(symbol)
            if isinstance(replaced, sympy.Integer):
                final[symbol] = int(replaced)
            else:
                place = next(iter(self.places.get(symbol, ())), "")
                name = self.names.get(symbol) or place or next(fresh, f"size{len(used)}")
                name = name if name not in used else f"{name}_{len(used)}"
                used.add(name)
                final[symbol] = Size(name, LEAST)
        return Reading(self, final)


class Reading:
    """Turns torch's expressions into sizes and conditions over named symbols."""

    def __init__(self, host: HostSizes, symbols: Mapping[sympy.Symbol, Dim]) -> None:
        self.host, self.symbols = host, symbols

    @property
    def example(self) -> dict[str, int]:
        """The example's value of each size, by name."""
        pairs = ((size, self.host.example[symbol]) for symbol, size in self.symbols.items())
        return {size.name: value for size, value in pairs if isinstance(size, Size)}

    @property
    def fixed(self) -> tuple[str, ...]:
        """Sizes of the example that the host code held to their value, or to what others tell, and those that are one
        because they are equal in the example."""
        pairs = ((symbol, size) for symbol, size in self.symbols.items() if isinstance(size, int))
        held = [f"{self.host.called(symbol)} = {size}" for symbol, size in pairs]
        held += [f"{self.host.called(symbol)} = {self.text(e)}" for symbol, e in self.told_by_others()
                 if symbol not in self.host._divided]
        return tuple(dict.fromkeys((*held, *self.host.ties())))

    @property
    def parameters(self) -> dict[str, Dim]:
        """What each parameter is that is a number: the size that it names, one that is equal to it in the example and
        so has another name, or the number that it is held to."""
        made = self.host._made
        shared = {name: self.symbols[made[value].node._expr] if value in made else value
                  for value, names in self.host._parameters.items() for name in names}
        return shared | {name: self.symbols[own.node._expr] for name, own in self.host._own.items()}

    @property
    def tied(self) -> dict[str, Dim]:
        """Sizes that others tell, as the host code asked for that (K = 2·N), by name."""
        return {cast(Size, self.symbols[symbol]).name: whole(self.expression(e)) for symbol, e in self.told_by_others()}

    def told_by_others(self) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
        """The symbols of such sizes, and what tells them."""
        for symbol, size in self.symbols.items():
            if isinstance(size, Size) and (e := self.host.env.simplify(symbol)) != symbol:
                yield symbol, e

    @property
    def choices(self) -> dict[str, Any]:
        """The numbers that the host code chose by a size: what it made of which, and the result. Where what sizes are
        leaves one number only, nothing is chosen."""
        found = {
            f"{function}({self.text(e)})" if function else self.text(e): number
            for (function, e), number in self.host.choices.items()
            if self.named(self.host.env.simplify(e)).free_symbols
        }
        return found

    @property
    def solved(self) -> tuple[str, ...]:
        """Contracts on sizes under which the numbers that the host code works out of them are no choice."""
        found: dict[str, None] = {}
        for (function, e), number in self.host.choices.items():
            if not function and type(number) is int:
                found |= dict.fromkeys(self.equations(self.host.env.simplify(e), number))
        return tuple(found)

    def equations(self, e: sympy.Expr, number: int) -> Iterator[str]:
        """What sizes are where e is this number, as contracts: D = 24 where D // 2 is 12 and leaves no rest in the
        example, K = 32·G where K // G is 32; of a product that is a number, each size as it is in the example."""
        dividend, divisor = e.args if type(e).__name__ in QUOTIENTS else (e, sympy.Integer(1))
        result = number * divisor
        if dividend.xreplace(self.host.example) != result.xreplace(self.host.example):
            return
        if isinstance(dividend, sympy.Symbol):
            yield f"{self.text(dividend)} == {self.text(result)}"
        elif isinstance(dividend, sympy.Mul) and result.is_Integer:
            sizes = sorted(dividend.free_symbols, key=str)
            yield from (f"{self.text(size)} == {self.host.example[size]}" for size in sizes)

    @property
    def chosen(self) -> tuple[Expr, ...]:
        """What those choices say of the sizes, as conditions, where they have a formula."""
        found: dict[Expr, None] = {}
        for (function, e), number in self.host.choices.items():
            try:
                size = const(self.expression(self.host.env.simplify(e)))
            except Unsupported:
                continue
            if function == "next_power_of_2" and size.kind == "int" and number >= 1:
                found[and_(compare("≤", number // 2 + 1, size), compare("≤", size, number))] = None
        return tuple(c for c in found if c is not TRUE)

    def text(self, expression: Any) -> str:
        """A sympy expression as text, by the names of sizes."""
        return str(self.named(expression))

    def named(self, expression: Any) -> Any:
        """A sympy expression over the names of sizes, and over the numbers that some are held to."""
        return expression.xreplace(
            {s: sympy.Symbol(n.name) if isinstance(n, Size) else sympy.Integer(n) for s, n in self.symbols.items()}
        )

    def guards(self) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
        """The conditions under which the host code does what it did; and, as text, those that cannot be read."""
        read: dict[Expr, None] = {}
        unread: dict[str, None] = {}
        for guard in self.host.env.guards:
            expression = self.host.env.simplify(guard.expr)
            if expression in (sympy.true, sympy.S.true):
                continue
            try:
                read[self.condition(expression)] = None
            except Unsupported:
                unread[self.text(expression)] = None
        return tuple(c for c in read if c is not TRUE), tuple(unread)

    def number(self, value: Any) -> Any:
        """A number of the host code: as it is, or as an expression over the symbols; the example's where that has no
        formula, which counts as a choice."""
        if not isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return value
        expression = self.host.env.simplify(value.node.expr)
        try:
            if isinstance(value, torch.SymBool):
                return self.condition(expression)
            found = self.expression(expression)
            if isinstance(value, torch.SymInt):
                return whole(found)
            return found if isinstance(found, Expr) else float(found)
        except Unsupported:
            return self.host.choice(value)

    def laid_out(self, shape: Sequence[Any], strides: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """A tensor's shape and strides. Torch has max{n, 1} in the strides for a dimension of n, which is n wherever
        there are elements."""
        numbers = tuple(map(self.number, shape))
        some = {maximum(n, 1): n for n in numbers if isinstance(n, Expr)}

        def dense(e: Expr) -> Expr:
            return some.get(e) or rebuild(e, dense)

        steps = (canonical(dense(s)) if isinstance(s, Expr) else s for s in map(self.number, strides))
        return numbers, tuple(steps)

    def expression(self, e: Any) -> Any:
        """A sympy expression over the run's symbols: an Expr or an exact number. Raises Unsupported."""
        if isinstance(e, sympy.Symbol) and e in self.symbols:
            return self.symbols[e]
        if isinstance(e, sympy.Rational):
            return Fraction(int(e.p), int(e.q))
        if isinstance(e, sympy.Float):
            return Fraction(float(e))
        quotient = rounded_quotient(e)
        if quotient is not None:
            return floordiv(*map(self.expression, quotient))
        make = MAKE.get(type(e).__name__)
        if make is None:
            raise Unsupported(f"{e} is no size")
        return make(*map(self.expression, e.args))

    def condition(self, e: Any) -> Expr:
        """A sympy condition over the run's symbols. Raises Unsupported."""
        if isinstance(e, sympy.logic.boolalg.BooleanAtom):
            return TRUE if bool(e) else not_(TRUE)
        name = type(e).__name__
        if name in JOINED:
            return JOINED[name](*map(self.condition, e.args))
        if name not in COMPARED:
            raise Unsupported(f"{e} is no condition")
        left, right = map(self.expression, e.args)
        return compare(COMPARED[name], left, right)


def rounded_quotient(e: Any) -> tuple[Any, Any] | None:
    """Numerator and divisor of `ceil(a/b)` and `floor(a/b)`, as a floor division."""
    name = type(e).__name__
    if name not in ("CeilToInt", "FloorToInt", "TruncToInt") or type(e.args[0]).__name__ != "IntTrueDiv":
        return (e.args[0] + e.args[1] - 1, e.args[1]) if name == "CeilDiv" else None
    a, b = e.args[0].args
    return (a + b - 1, b) if name == "CeilToInt" else (a, b)


def whole(value: Expr | int | Fraction) -> Dim:
    """The canonical size. Raises Unsupported for what is none."""
    return canonical(int(value) if isinstance(value, Fraction) and value.denominator == 1 else const(value))


def exponent(value: Any) -> Fraction:
    if isinstance(value, Expr):
        raise Unsupported("a power with a symbolic exponent")
    return Fraction(value)


MAKE: dict[str, Callable[..., Any]] = {
    "Add": add,
    "Mul": mul,
    "Pow": lambda a, b: power(a, exponent(b)),
    "PowByNatural": lambda a, b: power(a, exponent(b)),
    "FloatPow": lambda a, b: power(a, exponent(b)),
    "OpaqueUnaryFn_sqrt": lambda a: power(a, Fraction(1, 2)),
    "FloorDiv": floordiv,
    "CleanDiv": floordiv,
    "Mod": mod,
    "PythonMod": mod,
    "Max": maximum,
    "Min": minimum,
    "ToFloat": lambda a: a,
    "TruncToFloat": lambda a: a,
    "Identity": lambda a: a,
    "FloatTrueDiv": lambda a, b: mul(a, power(b, -1)),
    "IntTrueDiv": lambda a, b: mul(a, power(b, -1)),
}
JOINED: dict[str, Callable[..., Expr]] = {"And": and_, "Or": or_, "Not": not_}
COMPARED = {
    "Equality": "=",
    "Unequality": "≠",
    "StrictLessThan": "<",
    "LessThan": "≤",
    "StrictGreaterThan": ">",
    "GreaterThan": "≥",
}
