"""Reading a captured graph as forms, from its inputs to its outputs.

A value is a form and the axes of each dimension. What an operator means is a row of a table (`operators.py`); this
file has what rows are made of. Operands are brought together by *labels*, as einsum names dimensions: what has one
label gets the same axes. A dimension may consist of several axes, the last fastest: a reshape then only groups them
anew, or splits one in two, and nothing is moved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import chain, count, islice
from math import inf, prod
from typing import Any, Literal, TypeVar

from samesame.formula.expr import Unsupported
from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators.explain import bind, compares_beyond
from samesame.operators.table import UNINITIALISED, packet
from samesame.optimize.built import SMALL
from samesame.optimize.constants import constants
from samesame.optimize.counted import COUNTED, is_counted, reach
from samesame.optimize.forms import (
    ZERO,
    Form,
    Part,
    Piece,
    Place,
    along,
    base,
    but_indices,
    cast,
    concat,
    digits,
    fold,
    fresh,
    load,
    made,
    number,
    plus,
    substitute,
    times,
    walk,
)
from samesame.optimize.specification import KEPT, Call, Dims, Output, Tensor
from samesame.optimize.tables import of_tables

Labels = Sequence[Sequence[Hashable]]                # a label for each dimension of each value
LONG = 30                                            # operators of a value that is computed once
WINDOWS = {"aten.slice.Tensor", "aten.select.int", "aten.split.Tensor", "aten.split_with_sizes.default",
           "aten.unsafe_split.Tensor", "aten.unsafe_split_with_sizes.default", "aten.flip.default",
           "aten.fliplr.default", "aten.flipud.default", "aten.rot90.default", "aten.diagonal.default",
           "aten.diagonal_copy.default"}             # what is read so is read elsewhere than where it is read whole
FEW_ROWS = 8                                         # of a matrix that is put together
MOVES = frozenset({"load", "number", "position", "concat", "cast", "lookup"})       # no arithmetic
FEW_BITS = frozenset({"int8", "uint8", "int16"})     # integers whose sums wrap around
CASTS = {"aten._to_copy.default", "aten.to.dtype"}
LETTERS = "ijklmnpqrstuvwxyzabcdefgho"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: the axes of its form that no dimension has are none, those of dimensions that the form lacks repeat
    it. Raises Unsupported where two dimensions have one axis, along which a form would be a diagonal."""

    form: Form
    dims: Dims
    dtype: str

    def __post_init__(self) -> None:
        axes = [axis for dim in self.dims for axis in dim]
        if len({*axes}) < len(axes):
            raise Unsupported("two dimensions along one axis")

    @property
    def rank(self) -> int:
        return len(self.dims)


ROWS: dict[str, Callable[..., Any]] = {}             # (reader, operands and settings) → Value, or a tuple of them
INDEXED = set[str]()                                 # of these, those that read elements at integers of another tensor
Row = TypeVar("Row", bound=Callable[..., Any])


def row(*operators: str) -> Callable[[Row], Row]:
    """Enter a function into the table as what these operators mean."""
    def enter(function: Row) -> Row:
        ROWS.update(dict.fromkeys(operators, function))
        return function
    return enter


class Reader:
    """Values of a graph's nodes, and what they needed: tensors, extents of axes, calls of torch."""

    def __init__(self, graph: Graph, until: float = inf, calls: frozenset[str] = frozenset()) -> None:
        self.graph, self.stay = graph, calls         # operators that stay calls of torch, though forms express them
        self.looked: list[tuple[Form, str]] = []     # integers that have to be within an axis
        self.values: dict[Node, Any] = {}
        self.tensors: dict[str, Tensor] = {}
        self.extents: dict[str, int] = {}
        self.calls: list[Call] = []
        self.arguments: list[Output] = []
        self._halves: dict[Any, Any] = {}
        self._put: dict[Any, Form] = {}
        self._numbered: dict[tuple[Form, frozenset[str]], Form] = {}
        self._names = chain(LETTERS, (f"{letter}{n}" for n in count(1) for letter in LETTERS))
        self.constants, self.worked_out = constants(graph), set[Node]()     # what is a table, of what could be one
        self.parts, self.wholes = set[Node](), set[Node]()
        self.got = {(node.args[0], node.args[1]) for node in graph.nodes if node.operator == "getitem"}
        for node in graph.nodes:
            (self.parts if node.operator in WINDOWS else self.wholes).update(node.inputs)
        for node in graph.nodes:
            if time.monotonic() > until:
                raise Unsupported(f"its {len(graph.nodes)} operators take longer to be read as formulas; give it more "
                                  "with --minutes")
            self.values[node] = self._read(node)
            value = self.values[node]
            if node in self.parts & self.wholes and (is_computed(value) or (is_long(value) and self.is_written(value))):
                self.values[node] = self.kept(value, node.name)

    # ------------------------------------------------------------------------------------------------------- nodes

    def _read(self, node: Node) -> Any:
        if node.operator == "getitem":
            return self.values[node.args[0]][node.args[1]]
        if node.is_source:
            return self._source(node)
        args, keywords = bind(node.operator, node.args, node.kwargs)
        names = names_of(node.operator)
        function = next((ROWS[name] for name in names if name in ROWS), None)
        if node.name in self.constants and not self.worked_out.isdisjoint(node.inputs):
            return self._worked_out(node)
        if function is not None and self.stay.isdisjoint(names) and not compares_beyond(node):
            before = len(self.calls), len(self.arguments), len(self.looked)
            try:
                taken = partial(self._taken, node)
                given = map_nodes(taken, args)
                named = {name: map_nodes(taken, value) for name, value in keywords.items()}
                return self._checked(node, takes(function, self, *given, **named)())
            except Unsupported:
                calls, arguments, looked = before            # what it had kept by then
                del self.calls[calls:], self.arguments[arguments:], self.looked[looked:]
        return self._worked_out(node) if node.name in self.constants else self._boundary(node)

    def _taken(self, node: Node, operand: Node) -> Any:
        """What an operator reads. A form is of reals: there are none of complex numbers, and integers of few bits are
        made real first, as torch does, or only moved. Nor are integers made wider: part of a sum or a product of them
        would be worked out, and wrap around, before."""
        value, result = self.values[operand], kinds_of(node)[0]
        real = (result is not None and "float" in result.dtype) or any(map(self.is_real, node.args))
        if any("complex" in kind.dtype for kind in (*kinds_of(node), *kinds_of(operand)) if kind is not None):
            raise Unsupported("complex numbers")
        if not isinstance(value, Value) or self.kind(value) != "int":
            return value
        if not INDEXED.isdisjoint(names_of(node.operator)):
            return value
        if real and not is_counted(value.form, self.size, self.tensors):
            raise Unsupported("reals that are made of computed integers")
        if node.operator in CASTS:
            return value
        if "float" in result.dtype and value.dtype in FEW_BITS:
            return Value(cast(result.dtype, value.form), value.dims, result.dtype)
        if result.dtype not in (value.dtype, "bool") and (value.dtype in FEW_BITS or result.dtype == "int64"):
            raise Unsupported("arithmetic of integers")
        return value

    def is_real(self, argument: Any) -> bool:
        """Whether an operator reads a real there."""
        value = self.values[argument] if isinstance(argument, Node) else argument
        return self.kind(value) == "real" if isinstance(value, Value) else isinstance(value, float)

    def _checked(self, node: Node, result: Any) -> Any:
        """A row must give the shapes that the program has; the dtype is the program's. Of several results one may be
        none that the program does not read."""
        found = result if isinstance(result, tuple) else (result,)
        typed = list[Value | None]()
        for place, (value, kind) in enumerate(zip(found, kinds_of(node), strict=True)):
            if value is None and (node, place) not in self.got:
                typed.append(None)
                continue
            if value is None:
                raise Unsupported("a result that no row gives")
            if kind.dtype in (*FEW_BITS, "int32") and not is_moved(value.form):
                raise Unsupported("arithmetic of integers of few bits")
            if "int" in kind.dtype and has_fold(value.form) and reach(value.form, self.size, self.tensors) > COUNTED:
                raise Unsupported("integers that are made of sums, which kernels keep as reals")
            if tuple(map(self.size, value.dims)) != tuple(kind.shape):
                raise Unsupported(f"{node.operator} read with the shape {tuple(map(self.size, value.dims))}")
            typed.append(Value(value.form, value.dims, kind.dtype))
        return tuple(typed) if isinstance(node.type, tuple) else typed[0]

    def _source(self, node: Node) -> Value:
        tensor = self.graph.tensors[node.name]
        if node.operator == "constant" and tensor.dim() == 0 and not node.origin.parameter:
            return Value(number(tensor.item()), (), str(tensor.dtype).removeprefix("torch."))
        role: Literal["input", "weight"] = "input" if node.operator == "input" else "weight"
        assert isinstance(node.type, TensorType)
        path = node.origin.parameter
        value = tensor.tolist() if role == "weight" and not path and tensor.numel() <= SMALL else None
        self.tensors[node.name] = Tensor(node.name, tuple(node.type.shape), node.type.dtype, role, path, value)
        return self._loaded(node.name)

    def _worked_out(self, node: Node) -> Value:
        """What the program makes of nothing but numbers, as a table."""
        self.worked_out.add(node)
        value = self.constants[node.name]
        dtype = str(value.dtype).removeprefix("torch.")
        if not value.dim():
            return Value(number(value.item()), (), dtype)
        self.tensors[node.name] = Tensor(node.name, tuple(value.shape), dtype, "weight", "", value.tolist())
        return self._loaded(node.name)

    def _loaded(self, name: str) -> Value:
        tensor = self.tensors[name]
        axes = [self.axis(size) for size in tensor.shape]
        return Value(load(name, *axes), tuple((axis,) for axis in axes), tensor.dtype)

    def kept(self, value: Value, name: str = "") -> Value:
        """A value that is computed once, as a tensor with a dimension for each axis: where it is read whole and in
        parts, a part of its form is no part of what computes it. By the name of its node, or as no node's."""
        name = name or f"kept.{len(self.calls)}"
        output = self.output(name, value)
        self.arguments.append(output)
        self.calls.append(Call(KEPT, (output,), (), (name,)))
        shape = tuple(self.size([axis]) for dim in value.dims for axis in dim)
        self.tensors[name] = Tensor(name, shape, output.dtype, "result")
        loaded = self._loaded(name)
        axes = iter(loaded.dims)
        return Value(loaded.form, tuple(sum((next(axes) for _ in dim), ()) for dim in value.dims), value.dtype)

    def is_written(self, value: Value) -> bool:
        """Whether there are numbers in all of it: memory that is written to piece by piece is no tensor before."""
        blank = {name for call in self.calls if packet(call.operator) in UNINITIALISED for name in call.results}
        return not any(x.operator == "load" and x.attributes[0] in blank for x in walk(value.form))

    def _boundary(self, node: Node) -> Any:
        """The operator as torch has it, on values that forms compute; its results are new tensors."""
        given: dict[Node, Output] = {}

        def argument(part: Node) -> Output:
            if part not in given:
                given[part] = self.output(part.name, self.values[part])
                self.arguments.append(given[part])
            return given[part]

        arguments = map_nodes(argument, node.args)
        keywords = tuple((name, map_nodes(argument, value)) for name, value in node.kwargs.items())
        kinds = kinds_of(node)
        names = tuple(f"{node.name}.{k}" for k in range(len(kinds))) if isinstance(node.type, tuple) else (node.name,)
        self.calls.append(Call(node.operator, arguments, keywords, names, isinstance(node.type, tuple)))
        for name, kind in zip(names, kinds, strict=True):
            self.tensors[name] = Tensor(name, tuple(kind.shape), kind.dtype, "result")
        values = tuple(map(self._loaded, names))
        return values if isinstance(node.type, tuple) else values[0]

    def output(self, name: str, value: Value) -> Output:
        return Output(name, value.form, value.dims, value.dtype)

    # -------------------------------------------------------------------------------------------------------- axes

    def axis(self, size: int) -> str:
        """A new axis."""
        name = next(self._names)
        self.extents[name] = size
        return name

    def size(self, axes: Iterable[str]) -> int:
        return prod(self.extents[base(axis)] for axis in axes)

    def shape(self, value: Value) -> tuple[int, ...]:
        return tuple(map(self.size, value.dims))

    def kind(self, value: Any) -> str:
        """"real", "int" or "bool"."""
        if isinstance(value, Value):
            return "bool" if value.dtype == "bool" else "int" if "int" in value.dtype else "real"
        return {bool: "bool", int: "int"}.get(type(value), "real")

    def halves(self, axis: str, outer: int) -> tuple[str, str]:
        """The axis as two digits, `outer` of the slower one; always the same two."""
        whole = self.extents[base(axis)]
        if whole % outer:
            raise Unsupported("a reshape that no axis follows")
        key = base(axis), outer
        if key not in self._halves:
            self._halves[key] = self.axis(outer), self.axis(whole // outer)
        ticks = axis[len(base(axis)) :]
        high, low = self._halves[key]
        return high + ticks, low + ticks

    def window(self, axis: str, length: int, step: int) -> str:
        """An axis for a part of this one; windows of one length have the same, wherever they begin."""
        key = base(axis), "window", length, step
        if key not in self._halves:
            self._halves[key] = self.axis(length)
        return f"{self._halves[key]}{axis[len(base(axis)) :]}"

    def apart(self, new: Iterable[str], value: Value, places: Mapping[str, Place] | None = None) -> list[str]:
        """Axes for a part of a value, by names that no other of its axes has: of the products of all rows the columns
        may be cut as the rows were, and are no diagonal."""
        taken = {axis for dim in value.dims for axis in dim}
        taken |= {axis for place in (places or {}).values() for axis in place.axes}
        return [fresh(axis, taken) for axis in new]

    def read_at(self, value: Value, places: Mapping[str, Place], dims: Iterable[tuple[str, ...]]) -> Value:
        fixed = frozenset(axis for axis, place in places.items() if place.offset or place.axis is None)
        return Value(self.put(self.in_numbers(value.form, fixed), places), tuple(dims), value.dtype)

    def put(self, form: Form, places: Mapping[str, Place]) -> Form:
        """The form read at these places. What was read before is known: else each step of a recurrence that is written
        out would go through all steps before it."""
        return substitute(form, places, self._put, self._cut)

    def _cut(self, joined: Form, place: Place) -> tuple[str, list[Piece]]:
        """The pieces of a concatenation in which a place lies: first + step·i + what its other axes add, and each such
        run of elements in one part."""
        def step_of(p: Part) -> int:
            return p.factor * self.size(p.over)

        if any(p.factor < 0 for p in place.parts):
            raise Unsupported("a concatenation from its end")
        if rows := self._rows_of(joined, place):
            return rows
        lead = max(place.parts, key=step_of, default=Part("", 0))          # no axis: one element
        others = tuple(p for p in place.parts if p is not lead)
        if any(p.axis == lead.axis for p in others):
            raise Unsupported("a diagonal of a concatenation")
        reach = sum(step_of(p) * (self.size([p.axis]) - 1) for p in others)
        step, length = (step_of(lead), self.size([lead.axis])) if lead.axis else (1, 1)
        first, pieces, start, begun = place.start(lambda axis: self.size([axis])), list[Piece](), 0, 0
        for part, x in zip(joined.attributes[1], joined.arguments, strict=True):
            end = start + (self.size([part]) if part else 1)
            until = min(max(-((first - end) // step), 0), length)          # steps that begin before the end
            if until > begun:
                if first + step * (until - 1) + reach >= end:
                    raise Unsupported("a run of elements in two parts of a concatenation")
                axis = self._along_piece(part, lead.axis, until - begun, step, others)
                at = ((Part(axis, *lead[1:]), *others) if axis else others), first + step * begun - start
                pieces.append(Piece(self.in_numbers(x, frozenset({part or ""})), part, Place(*at), axis))
            start, begun = end, max(begun, until)
        return lead.axis, pieces

    def _rows_of(self, joined: Form, place: Place) -> tuple[str, list[Piece]] | None:
        """A concatenation that is read as few rows, each of which is one: a stack of four numbers as a matrix."""
        if len(place.parts) != 2 or place.offset or place.past:
            return None
        steps = {p.axis: p.factor * self.size(p.over) for p in place.parts}
        high, low = sorted(steps, key=lambda axis: -steps[axis])
        width, rows, row, have = self.size([low]), list[Form](), list[tuple[str | None, Form]](), 0
        if steps[low] != 1 or steps[high] != width or low in joined.axes or self.size([high]) > FEW_ROWS:
            return None
        for part, x in zip(joined.attributes[1], joined.arguments, strict=True):
            row.append((part, x))
            have += self.size([part]) if part else 1
            if have == width:
                parts, xs = zip(*row, strict=True)
                rows.append(self.put(x, {part: along(low)}) if part and len(row) == 1 else concat(low, parts, xs))
                row, have = [], 0
        if row or len(rows) != self.size([high]):
            return None
        return high, [Piece(x, None, Place(), None) for x in rows]

    def _along_piece(self, part: str | None, axis: str, length: int, step: int, others: Sequence[Part]) -> str | None:
        """The axis of so many steps within a part: the place's own where they are all of its, the part where they are
        all of it."""
        if not part or not axis:
            return None
        if length == self.size([axis]):
            return axis
        own = part if (length, step) == (self.size([part]), 1) else self.window(part, length, step)
        return fresh(own, {p.axis for p in others})

    def in_numbers(self, form: Form, axes: frozenset[str]) -> Form:
        """The form with the strides of these axes as numbers, so that they may be anywhere."""
        axes = axes.intersection(form.axes)
        if not axes:
            return form
        if (form, axes) not in self._numbered:
            self._numbered[form, axes] = self._in_numbers(form, axes)
        return self._numbered[form, axes]

    def _in_numbers(self, form: Form, axes: frozenset[str]) -> Form:
        def number_of(place: Place) -> Place:
            parts = (p if p.axis not in axes else Part(p.axis, p.factor * self.size(p.over)) for p in place.parts)
            return Place(tuple(parts), place.offset, place.past)

        if not form.arguments:
            places = (number_of(place) if isinstance(place, Place) else place for place in form.attributes)
            return Form(form.operator, tuple(places), ())
        inner = axes.difference(form.attributes[1]) if form.operator in ("fold", "concat") else axes
        if form.operator == "lookup":
            x, i = form.arguments
            inside = self.in_numbers(x, axes.difference(form.attributes)), self.in_numbers(i, axes)
            return made(form.operator, form.attributes, inside)
        return made(form.operator, form.attributes, tuple(self.in_numbers(x, inner) for x in form.arguments))

    def labelled(
        self, values: Sequence[Value], labels: Labels
    ) -> tuple[list[Form], dict[Hashable, tuple[str, ...]]]:
        """The forms of values whose dimensions have labels, over the same axes where they have the same label; and the
        axes of each label. A dimension of one element is repeated."""
        axes = self._axes_of_labels(values, labels)
        forms = []
        for value, own in zip(values, labels, strict=True):
            places: dict[str, Place] = {}
            for dim, label in zip(value.dims, own, strict=True):
                places.update(self._onto(dim, axes[label]))
            forms.append(self.put(value.form, places))
        return forms, axes

    def _axes_of_labels(self, values: Sequence[Value], labels: Labels) -> dict[Hashable, tuple[str, ...]]:
        """For each label the finest dimension that has it, in the value of the highest rank; no axis serves two."""
        places = [(-value.rank, dim, label) for value, own in zip(values, labels, strict=True)
                  for dim, label in zip(value.dims, own, strict=True)]
        best: dict[Hashable, tuple[tuple[Any, ...], tuple[str, ...]]] = {}
        for rank, dim, label in places:
            order = (self.size(dim) == 1, -len(dim), rank)
            if label not in best or order < best[label][0]:
                best[label] = order, dim
        taken, axes = set[str](), dict[Hashable, tuple[str, ...]]()
        for label, (_, dim) in best.items():
            own = []
            for axis in dim:
                own.append(fresh(axis, taken))
                taken.add(own[-1])
            axes[label] = tuple(own)
        return axes

    def _onto(self, dim: tuple[str, ...], target: tuple[str, ...]) -> dict[str, Place]:
        """Places that turn the axes of a dimension into others."""
        if self.size(dim) == 1 and (len(dim) != len(target) or self.size(target) != 1):
            return dict.fromkeys(dim, Place())
        if self.size(dim) != self.size(target):
            raise Unsupported("operands whose sizes do not fit")
        if len(dim) == 1:
            return {dim[0]: digits(target)}
        if [self.extents[base(a)] for a in dim] == [self.extents[base(a)] for a in target]:
            return {a: along(b) for a, b in zip(dim, target, strict=True)}
        raise Unsupported("a dimension that operands split in different ways")

    # --------------------------------------------------------------------------------------------------- combining

    def lifted(self, value: Any) -> Value:
        """A number as a value."""
        if isinstance(value, Value):
            return value
        if isinstance(value, complex) or value in (float("inf"),) or value != value:
            raise Unsupported(f"the number {value}")
        return Value(number(value), (), "float32")

    def pointwise(self, function: Callable[..., Form], *operands: Any) -> Value:
        """The function of each element; operands broadcast as in torch."""
        values = list(map(self.lifted, operands))
        self.require_one_dtype(x for x in operands if isinstance(x, Value))
        labels = [[k - value.rank for k in range(value.rank)] for value in values]
        forms, axes = self.labelled(values, labels)
        rank = max(value.rank for value in values)
        dims = tuple(axes[k - rank] for k in range(rank))
        reals = all(self.kind(value) == "real" for value in values)
        early = of_tables(function, forms, self.size, self.put) if reals else None
        return Value(early or function(*forms), dims, values[0].dtype)

    def require_one_dtype(self, given: Iterable[Value]) -> None:
        """Of tensors, as a number takes theirs. Raises Unsupported for integers of two dtypes, and for reals where the
        dtype that comes of them hangs on dimensions: a form has none with one element."""
        tensors = list(given)
        ints, reals = ({x.dtype for x in tensors if kind in x.dtype} for kind in ("int", "float"))
        single = any(x.rank and prod(self.shape(x)) == 1 for x in tensors)
        if len(ints) > 1 or (len(reals) > 1 and single):
            raise Unsupported("operands of two dtypes")

    def contracted(self, values: Sequence[Value], labels: Labels, out: Sequence[Hashable]) -> Value:
        """Einsum: products summed over every label that the result lacks. Integers would be summed up as reals."""
        if any(self.kind(value) != "real" for value in values):
            raise Unsupported("a contraction of integers")
        forms, axes = self.labelled(values, labels)
        gone = [axis for label, own in axes.items() if label not in out for axis in own]
        return Value(self.summed(gone, times(*forms)), tuple(axes[label] for label in out), values[0].dtype)

    def summed(self, axes: Iterable[str], x: Form) -> Form:
        """The sum over axes; where a factor is zero but at `i = j`, only that is summed, and so it is of a matrix that
        such a one is added to."""
        axes, factors = list(axes), factors_of(x)
        for factor in factors:
            others = [y for y in factors if y is not factor]
            for gone, kept in diagonal_of(factor):
                if gone in axes and self.size([gone]) == self.size([kept]):
                    inner = times(*others, factor.arguments[1])
                    return self.summed([a for a in axes if a != gone], self.put(inner, {gone: along(kept)}))
            if factor.operator == "plus" and any(
                    gone in axes for term in factor.arguments for y in factors_of(term) for gone, _ in diagonal_of(y)):
                return plus(*(self.summed(axes, times(*others, term)) for term in factor.arguments))
        return fold("sum", axes, x)

    def reduced(self, value: Value, dims: Sequence[int], keep: bool) -> Dims:
        return tuple(() if d in dims else dim for d, dim in enumerate(value.dims) if keep or d not in dims)


def channel(value: Value, rank: int) -> Value:
    """A number for each channel, dimension 1 of so many."""
    return Value(value.form, (*value.dims, *[()] * (rank - 2)), value.dtype)


def names_of(operator: str) -> tuple[str, ...]:
    """An operator's names in the table: with its overload, and without."""
    return operator, ".".join(operator.split(".")[:2])


def kinds_of(node: Node) -> tuple[Any, ...]:
    """The types of what a node gives, one or several."""
    return node.type if isinstance(node.type, tuple) else (node.type,)


def has_fold(form: Form) -> bool:
    return any(x.operator == "fold" for x in walk(form))


def is_moved(form: Form) -> bool:
    """Whether elements are only moved; where to may be computed."""
    return all(x.operator in MOVES for x in walk(form, arguments=but_indices))


def is_computed(value: Any) -> bool:
    """Whether there is more to a value than elements of tensors, one by one."""
    return isinstance(value, Value) and any(part.operator == "fold" for part in walk(value.form))


def is_long(value: Any) -> bool:
    """Whether a value of reals takes many operators, which a step that reads its neighbours would do again for each of
    them, and the step after that for each of theirs."""
    return isinstance(value, Value) and "float" in value.dtype and any(islice(walk(value.form), LONG, None))


def diagonal_of(form: Form) -> list[tuple[str, str]]:
    """The two axes outside whose diagonal the form is zero, either first; none where it is not so."""
    if form.operator != "where" or form.arguments[2] is not ZERO or form.arguments[0].operator != "compare":
        return []
    condition = form.arguments[0]
    i, j = (side.attributes[0].axis if side.operator == "position" else None for side in condition.arguments)
    return [(i, j), (j, i)] if condition.attributes == ("=",) and i and j else []


def factors_of(form: Form) -> tuple[Form, ...]:
    return form.arguments if form.operator == "times" else (form,)


def takes(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """The call with these arguments; `Unsupported` where the function does not take them."""
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise Unsupported(str(error)) from None
    return partial(function, *args, **kwargs)
