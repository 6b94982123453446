"""The table of meanings: an operator's name, and the function that says what it means.

A meaning takes the operator's own arguments, in the order and with the names and defaults of torch's schema, with
formula tensors for tensors, and returns a formula tensor, or a tuple of them. It raises `Unsupported` with the
reason where it has no formula. An entry is found by its full name, overload included (`aten.sum.dim_IntList`), or
by its packet (`aten.relu`) where all overloads take the same arguments. Arguments that say how a result is stored
(`device`, `layout`, `memory_format`, …) are no part of a meaning and are dropped before it is called.

A complex tensor is a formula tensor of kind "complex" with one dimension more, last, of size two: real and
imaginary part. Only the functions in `complex.py` know that; a movement is applied to each part by itself, and any
other meaning refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from samesame.formula.expr import Unsupported, eq, where
from samesame.formula.tensor import Tensor, tensor

Meaning = Callable[..., Any]                               # arguments -> Tensor or tuple of Tensors
F = TypeVar("F", bound=Meaning)

STORAGE = frozenset(["device", "layout", "pin_memory", "memory_format", "non_blocking", "generator", "out", "implicit"])

# torch tags what draws random numbers, but not what returns memory as it finds it.
UNINITIALISED = frozenset(
    "aten." + name
    for name in ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
)

REAL: dict[str, Meaning] = {}                              # what an operator means for real, int and bool tensors
COMPLEX: dict[str, Meaning] = {}                           # … and for complex ones
_movements: set[str] = set()


def packet(operator: str) -> str:
    """`aten.add.Tensor` without its overload: `aten.add`."""
    return ".".join(operator.split(".")[:2])


def meaning(*operators: str) -> Callable[[F], F]:
    """Enter a function into the table as the meaning of these operators."""
    return _enter(REAL, operators)


def complex_meaning(*operators: str) -> Callable[[F], F]:
    """The same where an argument is complex, or where the operator makes a complex tensor of real ones."""
    return _enter(COMPLEX, operators)


def movement(*operators: str) -> Callable[[F], F]:
    """The meaning of operators that only move elements: each one of the result is an element of an argument."""

    def enter(function: F) -> F:
        _movements.update(map(packet, operators))
        complex_meaning(*operators)(_by_parts(function))
        return meaning(*operators)(function)

    return enter


def _enter(table: dict[str, Meaning], operators: tuple[str, ...]) -> Callable[[F], F]:
    def enter(function: F) -> F:
        for operator in operators:
            if operator in table:
                raise ValueError(f"{operator} has two meanings")
            table[operator] = function
        return function

    return enter


def movements() -> frozenset[str]:
    return frozenset(_movements)


def meaning_of(operator: str) -> Meaning | None:
    """The meaning of `aten.add.Tensor`, or None: looked up by full name, then by packet."""
    real, on_complex = (table.get(operator) or table.get(packet(operator)) for table in (REAL, COMPLEX))
    if real is None and on_complex is None:
        return None

    @wraps(real or on_complex)                             # type: ignore[arg-type]
    def apply(*args: Any, **kwargs: Any) -> Any:
        kept = {name: value for name, value in kwargs.items() if name not in STORAGE}
        function = on_complex if real is None or _complex_takes_part((args, kwargs)) else real
        if function is None:
            raise Unsupported(f"{operator} of complex numbers has no formula")
        return function(*args, **kept)

    return apply


# ------------------------------------------------------------------------------------------------------------ complex


def is_complex(x: Tensor) -> bool:
    return x.kind == "complex"


def _complex_takes_part(argument: Any) -> bool:
    """Is a complex tensor among the arguments, or a complex number?"""
    if isinstance(argument, dict):
        argument = tuple(argument.values())
    if isinstance(argument, tuple | list):
        return any(map(_complex_takes_part, argument))
    return isinstance(argument, complex) or (isinstance(argument, Tensor) and is_complex(argument))


def join(real: Tensor, imaginary: Tensor) -> Tensor:
    """The complex tensor of these two parts."""
    def at(*i: Any) -> Any:
        return where(eq(i[-1], 0), real[i[:-1]], imaginary[i[:-1]])

    return tensor((*real.shape, 2), at, "complex")


def parts(z: Tensor) -> tuple[Tensor, Tensor]:
    """Real and imaginary part; those of a real tensor are itself and zeros. Their shapes are those that torch says."""
    if not is_complex(z):
        return z, tensor(z.shape, lambda *i: 0, z.kind)
    if not z.rank:
        raise Unsupported("a complex number that is not said by its parts")
    shape = z.shape[:-1]
    return tensor(shape, lambda *i: z[(*i, 0)]), tensor(shape, lambda *i: z[(*i, 1)])


def tensors_in(argument: Any) -> tuple[Tensor, ...]:
    """Every formula tensor in a nested argument."""
    if isinstance(argument, Tensor):
        return (argument,)
    if isinstance(argument, dict):
        argument = tuple(argument.values())
    return sum(map(tensors_in, argument), ()) if isinstance(argument, tuple | list) else ()


def _by_parts(function: Meaning) -> Meaning:
    def on_part(part: int) -> Callable[[Any], Any]:
        def pick(argument: Any) -> Any:
            if isinstance(argument, Tensor):
                return parts(argument)[part]
            return type(argument)(map(pick, argument)) if isinstance(argument, tuple | list) else argument

        return pick

    @wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        if not all(map(is_complex, tensors_in((args, kwargs)))):
            raise Unsupported("real and complex tensors moved together")
        real, imaginary = (
            function(*map(on_part(k), args), **{name: on_part(k)(value) for name, value in kwargs.items()})
            for k in (0, 1)
        )
        return join(real, imaginary) if isinstance(real, Tensor) else tuple(map(join, real, imaginary))

    return apply
