"""Specification: what a program computes, as forms.

It has tensors, outputs, and *boundaries* between them: operators that forms do not express stay calls of torch, whose
arguments are forms before them and whose results are tensors for the forms after them. `operators.py` makes one of a
captured graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from samesame.formula.expr import Leaf, Size
from samesame.optimize.forms import Form, base, walk
from samesame.optimize.names import Digests

KEPT = "aten.alias.default"                          # computes its argument once; the result has a dimension an axis
MEMORY = frozenset({"aten.empty.memory_format", "aten.empty_like.default", "aten.new_empty.default"})
Dims = tuple[tuple[str, ...], ...]                   # the axes of each dimension, the last fastest; () has one element


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor that forms load. A weight is a parameter or buffer by its path in the module, which may be packed ahead;
    an input is by the name of the argument; a result is of a boundary. Row-major, unless `strides` say otherwise."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: Literal["input", "weight", "result"]
    path: str = ""
    value: Any = None                                # of a small constant without a path, as nested lists
    strides: tuple[int, ...] | None = None
    marked: bool = False                             # whether torch says that it was written to

    @property
    def kind(self) -> str:
        return "bool" if self.dtype == "bool" else "int" if "int" in self.dtype else "real"

    @property
    def ends(self) -> tuple[int, int] | None:
        """The least and the largest of a table's integers; None of other tensors."""
        if self.value is None or self.kind != "int":
            return None
        numbers = [*numbers_in(self.value)]
        return (min(numbers), max(numbers)) if numbers else None


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor to be computed: `dims` are the axes of each of its dimensions. Row-major, unless `strides` say that the
    program returns it otherwise. `copied`: the program returns it in memory of its own, were it an input."""

    name: str
    form: Form
    dims: Dims
    dtype: str
    strides: tuple[int, ...] | None = None
    copied: bool = False

    @property
    def turned(self) -> tuple[int, ...]:
        """The dimensions in the order in which they lie in memory, the last fastest."""
        steps = self.strides or (0,) * len(self.dims)
        return tuple(sorted(range(len(self.dims)), key=lambda d: -steps[d]))


@dataclass(frozen=True, slots=True)
class Call:
    """A boundary: torch's operator on outputs (nested in `arguments` as in a graph's node), and its results' names;
    `several` where it returns them in a sequence, if only one."""

    operator: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    results: tuple[str, ...]
    several: bool = False

    @property
    def node(self) -> str:
        """The graph's node that it is."""
        return self.results[0].rpartition(".")[0] if self.several else self.results[0]

    @property
    def takes(self) -> tuple[Output, ...]:
        """What forms compute for it, from left to right; what it takes twice is there twice."""
        return outputs_in((self.arguments, self.keywords))


@dataclass(frozen=True, slots=True)
class Specification:
    """The tensors by name, the extent of every axis, the calls in their order, the outputs."""

    name: str
    tensors: Mapping[str, Tensor]
    extents: Mapping[str, int]
    outputs: tuple[Output, ...]
    calls: tuple[Call, ...] = ()
    arguments: tuple[str, ...] = ()                  # the inputs in the order of the program's parameters
    looked: tuple[tuple[Form, str], ...] = ()        # integers that have to be places along an axis
    variables: tuple[str, ...] = ()                  # the tensors that a function refers to, by their paths

    def roots(self) -> tuple[Output, ...]:
        """Everything to be computed by forms: what the calls take, and what the program returns."""
        return (*(output for call in self.calls for output in call.takes), *self.outputs)

    @property
    def is_guarded_alone(self) -> bool:
        """Whether some integers have to be places that nothing is looked up at: a one-hot vector's, say. Forms raise no
        error there."""
        at = {self.looked_at(*each) for each in look_ups(root.form for root in self.roots())}
        return any(self.looked_at(*each) not in at for each in self.looked)

    def looked_at(self, i: Form, axis: str) -> Hashable:
        """What integers say, and how many places there are along the axis: the same under any names of axes."""
        return Digests(lambda each: self.extents[base(each)]).renamed(i)[0], self.extents[base(axis)]

    def named(self, role: str) -> list[str]:
        """The tensors of this role."""
        return [name for name, tensor in self.tensors.items() if tensor.role == role]

    def shape(self, output: Output) -> tuple[int, ...]:
        return tuple(prod(self.extents[axis] for axis in dim) for dim in output.dims)

    def leaves(self) -> dict[str, Leaf]:
        """The tensors as formulas load them, each of sizes of its own: loads are in range by the shapes."""
        return {name: Leaf(name, tuple(Size(f"{name}.{d}", 1) for d in range(len(t.shape))), t.kind)
                for name, t in self.tensors.items()}


def look_ups(forms: Iterable[Form]) -> Iterator[tuple[Form, str]]:
    """At which integers something is looked up, and along which axis."""
    return ((x.arguments[1], x.attributes[0]) for x in walk(*forms) if x.operator == "lookup")


def are_places(i: Form, size: int, tensors: Mapping[str, Tensor]) -> bool:
    """Whether integers are those of a table, and all of them places along an axis of this size."""
    ends = tensors[i.attributes[0]].ends if i.operator == "load" else None
    return ends is not None and ends[0] >= 0 and ends[1] < size


def numbers_in(table: Any) -> Iterator[Any]:
    """The numbers of nested lists."""
    if isinstance(table, list):
        for part in table:
            yield from numbers_in(part)
    else:
        yield table


def outputs_in(argument: Hashable) -> tuple[Output, ...]:
    """Every output in a nested argument, from left to right."""
    if isinstance(argument, Output):
        return (argument,)
    return sum(map(outputs_in, argument), ()) if isinstance(argument, tuple) else ()
