"""Run a graph and keep every value.

Torch executes: each operator is called by the name it has in the graph. Nodes are pure, so an operator that writes into
its arguments is given copies, and what it wrote counts as its result. Two precisions: `own` runs the program as it is
written; `float64` runs the same program with every floating dtype widened, so that what differs between two programs is
what they compute and not how they round. The exception is a closed tensor, one that depends on no input and no
parameter: it is a constant of the program, a float32 table of angles for instance, so it is computed as written and
only then widened.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from math import prod
from typing import Any

import torch
from torch._ops import OpOverload

from samesame.evidence import Refused, SamesameError
from samesame.graph import COLLECTIVE, Dtype, Graph, Node
from samesame.operators.definitions import DEFINED
from samesame.operators.table import UNINITIALISED
from samesame.programs.alone import alone

Value = torch.Tensor | tuple[Any, ...]
Seen = Callable[[Node, Value, bool], None]
Changed = Callable[[Node, Value], Value]

OVERWRITES = frozenset(     # operators in place that write the whole of their first argument, and do not read it
    f"{name}_" for name in ("fill", "zero", "copy", "normal", "uniform", "random", "bernoulli", "exponential",
                            "log_normal", "cauchy", "geometric")
)
WIDE = {torch.complex32: torch.complex128, torch.complex64: torch.complex128, torch.complex128: torch.complex128}

# Dtypes that torch compares as they are.
COMPARED = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128})


def execute(
    graph: Graph,
    values: Mapping[str, torch.Tensor],
    *,
    precision: str = "float64",
    keep: bool = True,
    seen: Seen | None = None,
    changed: Changed | None = None,
) -> dict[str, Value]:
    """Every node's value by node name: a tensor, or a tuple where the operator has several results.

    `values` holds a tensor for each input and parameter, and for those constants that shall differ from
    `graph.tensors`. In "float64" every floating tensor is float64 and every complex one complex128; in "own" dtypes are
    as written. Without `keep`, only the roots' values are returned and the others freed after their last use; each is
    `seen` before, in float64, and whether it is a constant of the program. What an operator gives may be `changed`
    before others read it. Raises Refused when a value is missing, when
    an operator is unknown, random or fails, and when memory does not suffice.
    """
    if precision not in ("float64", "own"):
        raise ValueError(f"precision is {precision!r}; give 'float64' or 'own'")
    order, constants = list(graph.nodes) if keep else by_weights(graph.nodes), closed(graph)
    if precision == "float64":
        order.sort(key=lambda node: node.name not in constants)
    run = _Run(graph, values, None if keep else _uses(graph, order), seen, changed)
    with torch.no_grad(), few_threads(sizes(graph)):
        if precision == "own":
            run.nodes(order)
        else:
            run.constants(order[: len(constants)])
            with default_dtype(torch.float64):
                run.nodes(order[len(constants) :])
    return dict(run.results)


def by_weights(nodes: Sequence[Node]) -> list[Node]:
    """The nodes in an order in which those that read one weight stand together: layer by layer, where a program goes
    through its layers once for a prompt and once more for the next token. So no more than a layer's weights are widened
    at a time."""
    last: dict[Node, int] = {}                    # of the weights that a node depends on, the one that came last
    for place, node in enumerate(nodes):
        last[node] = max((last[part] for part in node.inputs), default=place if node.operator == "parameter" else -1)
    return sorted(nodes, key=last.__getitem__)


def rerun(
    graph: Graph, values: Mapping[str, torch.Tensor], known: Mapping[str, Value], nodes: Iterable[Node],
    changed: Changed | None = None,
) -> Mapping[str, Value]:
    """These nodes of a float64 run whose values elsewhere are `known`, such as from a run of a graph that is the same
    up to there, and these. No constant of the program may be among them; else as `execute`."""
    run = _Run(graph, values, changed=changed)
    run.wide, run.results = True, ChainMap({}, known)      # type: ignore[arg-type]    # what is known is only read
    with torch.no_grad(), default_dtype(torch.float64):
        run.nodes(nodes)
    return run.results


SMALL = 1 << 16
FAR = 200                   # steps between two uses of a weight that make it worth while to free it


@contextmanager
def on_threads(number: int) -> Iterator[None]:
    """So many threads in place of this process's own."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def few_threads(sizes: Iterable[int]) -> AbstractContextManager[None]:
    """One thread where every tensor is small (sizes in elements): waking others costs more than they save, and much
    more on a busy machine.
    """
    return on_threads(1 if all(size <= SMALL for size in sizes) else torch.get_num_threads())


def sizes(graph: Graph) -> Iterator[int]:
    """The number of elements of every tensor of a graph."""
    for node in graph.nodes:
        for part in node.type if isinstance(node.type, tuple) else (node.type,):
            yield prod(part.shape)


def pieces(value: torch.Tensor, size: int = 1 << 20) -> Iterator[torch.Tensor]:
    """The elements of a tensor, so many at a time: what is worked out of all of them needs no more memory."""
    flat = value.flatten()
    for start in range(0, flat.numel(), size):
        yield flat[start : start + size]


BYTES = frozenset(getattr(torch, name) for name in dir(torch) if name.startswith("float8_"))


def is_finite(value: torch.Tensor) -> bool:
    """Are all elements numbers, and none of them infinite?"""
    if value.dtype in BYTES:                                          # of which torch does nothing but convert them
        value = value.to(torch.float32)
    sums = ((piece, piece.sum()) for piece in pieces(value))          # faster, and a sum of numbers may be infinite
    return all(bool(torch.isfinite(total)) or bool(torch.isfinite(piece).all()) for piece, total in sums)


def elements(nodes: Iterable[Node]) -> dict[str, int]:
    """The number of elements of each of these nodes that is one tensor, by name."""
    return {node.name: prod(node.type.shape) for node in nodes if not isinstance(node.type, tuple)}


def closed(graph: Graph, sources: Collection[str] = ("input", "parameter")) -> frozenset[str]:
    """Names of the nodes that depend on none of these sources and on nothing that another rank has: constants of the
    program."""
    open_nodes: set[Node] = set()
    for node in graph.nodes:
        given = node.operator in sources or node.operator.startswith(COLLECTIVE)
        if given or any(part in open_nodes for part in node.inputs):
            open_nodes.add(node)
    return frozenset(node.name for node in graph.nodes if node not in open_nodes)


class _Run:
    """One execution: the results so far, and the precision they are in. Where `uses` says which steps read a value, the
    last first, it is freed after the last of them; a weight also where the next one is far."""

    def __init__(
        self,
        graph: Graph,
        values: Mapping[str, torch.Tensor],
        uses: dict[Node, list[float]] | None = None,
        seen: Seen | None = None,
        changed: Changed | None = None,
    ) -> None:
        self.graph, self.values, self.uses, self.seen, self.changed = graph, values, uses, seen, changed
        self.results: MutableMapping[str, Value] = {}
        self.wide, self.step = False, 0

    def constants(self, nodes: Iterable[Node]) -> None:
        """Constants of the program: as written, and widened then."""
        self.nodes(nodes)
        self.wide = True
        for name, value in self.results.items():
            self.results[name] = _widened(value)

    def nodes(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            try:
                self.results[node.name] = self.source(node) if node.is_source else self.apply(node)
            except SamesameError:
                raise
            except Exception as error:                             # a kernel of the user's may raise whatever it likes
                raise _failure(node, error, self.wide) from error
            if self.changed is not None and not node.is_source:
                self.results[node.name] = self.changed(node, self.results[node.name])
            if self.seen is not None:
                value = self.results[node.name]
                self.seen(node, value if self.wide else _widened(value), not self.wide)
            if self.uses is not None:
                self.forget(node, self.uses)

    def source(self, node: Node) -> torch.Tensor:
        value = self.values.get(node.name)
        if value is None and node.operator == "constant":
            value = self.graph.tensors.get(node.name)
        if value is None:
            raise Refused(f"no value is given for the {node.operator} {node.name} of {self.graph.name}")
        return _widened(value) if self.wide else value

    def apply(self, node: Node) -> Value:
        if node.operator == "getitem":
            return self.results[node.args[0].name][node.args[1]]
        if self.wide and node.operator == "aten.view.dtype":
            raise Refused(f"{node.origin.spoken} reads bits as another dtype, which has no meaning in real numbers")
        args = [self.argument(part) for part in node.args]
        kwargs = {name: self.argument(part) for name, part in node.kwargs.items()}
        operation = resolve(node.operator)
        if draws_numbers(operation, args, kwargs):
            raise Refused(f"{node.origin.spoken} draws random numbers ({node.operator}), so it has no single result")
        function = DEFINED.get(node.operator) if self.wide else None
        result = (function or pure(operation))(*args, **kwargs)
        return _widened(result) if self.wide else result

    def argument(self, argument: Any) -> Any:
        if isinstance(argument, Node):
            if argument.operator == "parameter" and argument.name not in self.results:
                self.results[argument.name] = self.source(argument)           # it was freed for a while
            return self.results[argument.name]
        if isinstance(argument, tuple):
            return [self.argument(part) for part in argument]
        if isinstance(argument, Dtype):
            dtype = getattr(torch, argument.name)
            return wide(dtype) if self.wide else dtype
        return argument

    def forget(self, node: Node, uses: dict[Node, list[float]]) -> None:
        for part in (*node.inputs, node):
            left = uses[part]
            while left and left[-1] <= self.step:
                left.pop()
            far = part.operator == "parameter" and left and FAR < left[-1] - self.step < math.inf
            if not left or far:
                self.results.pop(part.name, None)
        self.step += 1


def _uses(graph: Graph, order: Iterable[Node]) -> dict[Node, list[float]]:
    """The steps that read each value, the last first; roots are read at the end, by the caller."""
    steps: dict[Node, list[float]] = {node: [] for node in graph.nodes}
    for step, node in enumerate(order):
        for part in node.inputs:
            steps[part].append(step)
    for _, root in graph.roots:
        steps[root].append(math.inf)
    return {node: found[::-1] for node, found in steps.items()}


def _widened(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(wide(value.dtype))
    if isinstance(value, list | tuple):
        return tuple(map(_widened, value))
    return value


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype of 64-bit real or complex numbers in place of a narrower one; integers and booleans stay."""
    return torch.float64 if dtype.is_floating_point else WIDE.get(dtype, dtype)


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Inside, torch gives this dtype to a quotient of integers, a mean, a factory without dtype. It is the whole
    process's: a thread that came while another is inside would put the other's dtype back as what was before."""
    with alone():
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def _failure(node: Node, error: Exception, wide: bool) -> Refused:
    text = str(error).strip().splitlines() or [type(error).__name__]
    if out_of_memory(error):
        place = f"{node.operator} of {node.origin.spoken}"
        return Refused(f"not enough memory for {place}; give smaller inputs or fewer layers")
    hint = "; it has to take float64, in which both sides are compared" if wide and not is_torchs(node) else ""
    return Refused(f"{node.origin.spoken}: {node.operator} fails on these values: {text[0]}{hint}")


def is_torchs(node: Node) -> bool:
    """Whether an operator is torch's own, rather than a package's or the user's."""
    return node.operator.startswith("aten.")


def out_of_memory(error: BaseException) -> bool:
    """torch says it with errors of its own: one for accelerators, a RuntimeError for a CPU."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


# ------------------------------------------------------------------------------------------ operators as pure functions


@cache
def resolve(operator: str) -> OpOverload:
    """The torch operator of this name, such as `aten.add.Tensor`. Raises Refused where torch has none."""
    namespace, _, rest = operator.partition(".")
    name, _, overload = rest.partition(".")
    try:
        found: OpOverload = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    except (AttributeError, RuntimeError):
        hint = "" if namespace == "aten" else f"; import the package that defines {namespace} operators first"
        raise Refused(f"torch has no operator {operator}{hint}") from None
    return found


@cache
def pure(operation: OpOverload) -> Callable[..., Value]:
    """`operation` as a function without side effects whose result does not depend on how its arguments lie in memory.

    An operator that writes gets copies of the arguments it writes into, and returns first its results that are not
    those arguments, then those arguments as they are afterwards.
    """
    if str(operation) in OTHERWISE:
        return OTHERWISE[str(operation)]
    if operation._schema.name.replace("::", ".") in UNINITIALISED:
        return lambda *args, **kwargs: undefined_(operation(*args, **kwargs))
    if written(operation):
        return lambda *args, **kwargs: _on_copies(operation, args, kwargs)
    return operation


aten = torch.ops.aten


def _compact(x: torch.Tensor) -> torch.Tensor:
    """The tensor in memory of its own, row by row from the start: offsets are counted from there."""
    x = x.contiguous()
    return x if x.storage_offset() == 0 else x.clone()


# The first of these read strides and offsets; a graph knows none. The last wants scales in float32, whatever x is.
OTHERWISE: dict[str, Callable[..., Value]] = {
    "aten.view.default": aten.reshape.default,
    "aten._unsafe_view.default": aten.reshape.default,
    "aten.as_strided.default": lambda x, *where: aten.as_strided(_compact(x), *where),
    "aten.as_strided_scatter.default": lambda x, y, *where: aten.as_strided_scatter(_compact(x), y, *where),
    "aten.view_as_complex.default": lambda x: aten.view_as_complex(_compact(x)),
    "aten.view.dtype": lambda x, dtype: aten.view.dtype(x.contiguous(), dtype),
    "aten.fake_quantize_per_channel_affine_cachemask.default":
        lambda x, scale, *rest: aten.fake_quantize_per_channel_affine_cachemask(x, scale.float(), *rest),
}


def undefined_(tensor: torch.Tensor) -> torch.Tensor:
    """Fill memory that has no value yet with one that shows: NaN, the largest integer, True."""
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor.fill_(float("nan"))
    return tensor.fill_(True if tensor.dtype == torch.bool else torch.iinfo(tensor.dtype).max)


@cache
def written(operation: OpOverload) -> tuple[int, ...]:
    """Which of an operator's arguments it writes into, as positions in its schema."""
    arguments = operation._schema.arguments
    return tuple(k for k, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write)


def bound(operation: OpOverload, args: Iterable[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by their names in the schema; those not given are absent."""
    return dict(zip((a.name for a in operation._schema.arguments), args, strict=False)) | dict(kwargs)


def _on_copies(operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Value:
    named = bound(operation, args, kwargs)
    names = [operation._schema.arguments[position].name for position in written(operation)]
    for name in names:
        named[name] = _copied(named.get(name))
    returned = operation(**named)
    returned = returned if isinstance(returned, list | tuple) else () if returned is None else (returned,)
    fresh = [r for r, schema in zip(returned, operation._schema.returns, strict=True) if schema.alias_info is None]
    after = [tensor for name in names for tensor in tensors_in(named[name])]
    results = (*fresh, *after)
    return results[0] if len(results) == 1 else results


def _copied(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor):
        return argument.clone()
    return [part.clone() for part in argument] if isinstance(argument, list | tuple) else argument


def tensors_in(argument: Any) -> Iterator[torch.Tensor]:
    """Every tensor in a nested argument, from left to right."""
    if isinstance(argument, torch.Tensor):
        yield argument
    elif isinstance(argument, list | tuple):
        for part in argument:
            yield from tensors_in(part)


# Operators with a random part, unless this argument says that there is none of it.
RANDOM_UNLESS = {"dropout_p": 0.0, "p": 0.0, "train": False, "training": False}


def draws_numbers(operation: OpOverload, args: Iterable[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether this application depends on random numbers."""
    if torch.Tag.nondeterministic_seeded not in operation.tags:
        return False
    defaults = {a.name: a.default_value for a in operation._schema.arguments if a.has_default_value()}
    given = defaults | bound(operation, args, kwargs)
    return not any(isinstance(p := given.get(name), int | float) and p == off for name, off in RANDOM_UNLESS.items())
