"""A kernel launch as `lift` reads it: the kernel's TTIR, what each argument is, and the grid.

Sizes are numbers or expressions over size symbols, so that one launch stands for all sizes. `example` says what the
symbols were when the launch was recorded; `guards` are conditions under which the host code launches like this;
`constants` are the numbers that are written into the launch, such as block sizes. `trusted` says at which sizes the
host would launch like this, and so a failure counts: at all "sizes" that the guards allow, at the "example" only, as
the host chose a number by a size or wrote one down that a size has, or at "none", as nothing is known of the host.
`certain` says which sizes the host has written down, and not chosen a number by; it may have to run the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from samesame.formula.binders import rebuilt
from samesame.formula.definite import AboveZero
from samesame.formula.expr import Expr, Leaf, Size, const, index
from samesame.formula.sizes import replaced, symbols
from samesame.formula.tensor import Dim, Tensor
from samesame.kernels.stated import Stated

PLACE = index(Size("elements", 1))  # how many elements behind a tensor's first one another one lies


@dataclass(frozen=True)
class Memory:
    """A tensor argument: element d along dimension k lies strides[k]·d elements behind the pointer.

    `element` is Triton's name for the dtype (fp32, i64); two arguments with one `storage` share memory, in which the
    first element is number `base`, where that is known. `contents` is what it holds before the launch: "values" in
    every element, "parts" where some may be nobody's, a number that fills it, or None where nobody has written to it.
    `above_zero`: each element is known to be so.
    `shown` is the condition, over `PLACE`, under which an element is a finite number, where each of the others is known
    to be −∞; None: all are finite.
    """

    name: str
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    element: str
    storage: str = ""
    contents: float | str | None = "values"
    base: Dim | None = None
    above_zero: bool = False
    shown: Expr | None = None

    @property
    def kind(self) -> str:
        return "bool" if self.element == "i1" else "int" if self.element[0] in "iu" else "real"

    def leaf(self, name: str, shape: tuple[Dim, ...]) -> Leaf:
        """Its elements, by a name and in a shape."""
        return (AboveZero if self.above_zero else Leaf)(name, shape, self.kind)


Argument = Memory | Expr | int | float


def whole_numbers(element: str) -> tuple[int, int]:
    """The least and greatest number of an integer dtype, by Triton's name."""
    bits = int(element.lstrip("ui"))
    return (0, (1 << bits) - 1) if element.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


@dataclass(frozen=True)
class Launch:
    """One launch of one kernel. `arguments` are by the kernel's parameter names; `order` are those that the TTIR's
    function takes, in its order, where that is known: its own names for them may be others.

    Of what tensors hold, by name: `made` has formulas of what earlier steps made, `values` gives the example's elements
    behind a tensor's first one, as one row of numbers, and raises Refused where these cannot be had; None: there is no
    example. `told` has what `Memory.shown` is made of, over inputs as they were given, and `ranges` what earlier
    launches take these inputs to lie in, by their leaves. `put_back` are the parameters that a tuner resets to zero,
    and those that it restores, before it runs the kernel again; None: it is run once. `stated` are a user's contracts
    on what a tensor holds, by its name. `leaves_out`: it is known that the Triton which compiles this counts what is in
    no bin of a histogram nowhere."""

    name: str
    ttir: str
    arguments: Mapping[str, Argument]
    grid: tuple[Dim, ...]
    example: Mapping[str, int] = field(default_factory=dict)
    guards: tuple[Expr, ...] = ()
    place: str = ""
    constants: tuple[int, ...] = ()
    trusted: str = "sizes"
    order: tuple[str, ...] = ()
    starts: Mapping[str, Dim] = field(default_factory=dict)  # elements behind the tensor's first one, if not 0
    source: str = ""  # the file of the TTIR, where it was read from one
    put_back: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    stated: Mapping[str, tuple[Stated, ...]] = field(default_factory=dict)
    leaves_out: bool = False
    blocks: int = 1  # of threads, that run one program
    made: Mapping[str, Tensor] = field(default_factory=dict, repr=False)
    told: Mapping[str, Expr] = field(default_factory=dict)
    ranges: Mapping[str, tuple[Expr, Expr]] = field(default_factory=dict)
    values: Callable[[str], Any] | None = field(default=None, repr=False)
    certain: Callable[[], Mapping[str, int]] | None = field(default=None, repr=False)

    def at(self, sizes: Mapping[str, int]) -> Launch:
        """The same launch with some sizes held to numbers."""

        def fixed(given: Argument) -> Argument:
            if isinstance(given, Memory):
                shape, strides = (tuple(replaced(n, sizes) for n in dims) for dims in (given.shape, given.strides))
                base = None if given.base is None else replaced(given.base, sizes)
                shown = None if given.shown is None else with_sizes(given.shown, sizes)
                return replace(given, shape=shape, strides=strides, base=base, shown=shown)
            return with_sizes(given, sizes) if isinstance(given, Expr) else given

        return replace(
            self,
            arguments={name: fixed(given) for name, given in self.arguments.items()},
            grid=tuple(replaced(n, sizes) for n in self.grid),
            starts={name: replaced(n, sizes) for name, n in self.starts.items()},
            guards=tuple(with_sizes(guard, sizes) for guard in self.guards),
            ranges={leaf: (with_sizes(a, sizes), with_sizes(b, sizes)) for leaf, (a, b) in self.ranges.items()},
            example={name: n for name, n in self.example.items() if name not in sizes},
        )

    @property
    def written_down(self) -> dict[str, int]:
        """Sizes of the example that the launch holds as numbers: themselves, or by how many elements a tensor has."""
        found = {name for name, n in self.example.items() if n in self.constants}
        for given in self.arguments.values():
            if isinstance(given, Memory):
                shape = [replaced(n, self.example) for n in given.shape]
                own = frozenset[Size]().union(*map(symbols, given.shape))
                numbers = [n for n in shape if isinstance(n, int)]
                if len(own) > 1 and len(numbers) == len(shape) and prod(numbers) in self.constants:
                    found |= {size.name for size in own}
        return {name: n for name, n in self.example.items() if name in found}

    def held_in_turn(self) -> Iterator[dict[str, int]]:
        """What may be held to the example where not all is proved: sizes that are written down for certain, then all
        that may be."""
        down = self.written_down
        certain = self.certain() if down and self.certain is not None else down
        few = {name: n for name, n in down.items() if name in certain}
        if few and few != down:
            yield few
        if down:
            yield down

    def programs(self, axis: int) -> Expr:
        """How many programs there are along an axis."""
        return const(self.grid[axis]) if axis < len(self.grid) else const(1)


def with_sizes(expr: Expr, sizes: Mapping[str, int] | Mapping[str, Dim]) -> Expr:
    """An expression with numbers, or other sizes, in place of some sizes."""
    if isinstance(expr, Size):
        return const(sizes.get(expr.name, expr))
    return rebuilt(expr, lambda part: with_sizes(part, sizes))
