"""A kernel launch as `lift` reads it: the kernel's TTIR, what each argument is, and the grid.

Sizes are numbers or expressions over size symbols, so that one launch stands for all sizes. `example` says what the
symbols were when the launch was recorded; `guards` are conditions under which the host code launches like this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from samesame.formula.expr import Expr, const
from samesame.formula.tensor import Dim


@dataclass(frozen=True)
class Memory:
    """A tensor argument: element d along dimension k lies strides[k]·d elements behind the pointer.

    `element` is Triton's name for the dtype (fp32, i64); two arguments with one `storage` share memory.
    """

    name: str
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    element: str
    storage: str = ""

    @property
    def kind(self) -> str:
        return "bool" if self.element == "i1" else "int" if self.element.lstrip("u").startswith("i") else "real"


Argument = Memory | Expr | int | float


@dataclass(frozen=True)
class Launch:
    """One launch of one kernel. `arguments` are by the kernel's parameter names, constexprs left out."""

    name: str
    ttir: str
    arguments: Mapping[str, Argument]
    grid: tuple[Dim, ...]
    example: Mapping[str, int] = field(default_factory=dict)
    guards: tuple[Expr, ...] = ()
    place: str = ""

    def programs(self, axis: int) -> Expr:
        """How many programs there are along an axis."""
        return const(self.grid[axis]) if axis < len(self.grid) else const(1)
