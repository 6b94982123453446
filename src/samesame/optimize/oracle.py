"""The oracle: a program in float64, and what rounding may do to each element of what it returns.

The estimate is a running error analysis in the program's own order of operations, node by node. An operator moves the
errors of what it reads (measured by reading it with these errors added, signs at random) and adds its own: half a unit
in the last place of what it stores, and √K units of the sum of the magnitudes of its terms where it sums K products.
Most programs that are right need not be given all of that: what the last operators add, as if all that they read were
exact, is known for a fraction of the price. So an answer has both, and the whole analysis is made when it is asked for.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from shutil import disk_usage
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from samesame.evidence import Refused
from samesame.graph import Graph, Node
from samesame.operators.execute import closed, execute, few_threads, on_threads, rerun, sizes
from samesame.operators.table import movements, packet
from samesame.optimize import rounding
from samesame.optimize.rounding import FLOAT32, called, terms, unit

Estimates = list[torch.Tensor]                             # for each output, of each element
ROOM = 1 << 30                                             # bytes of answers that are kept on disk
EVERY = 100                                                # draws, after which each number of threads is tried again
SIGNS, SIGNS_INSIDE = 2, 8                                 # tries: an error inside reaches a whole row, or misses it
MOVEMENTS = movements() - {"aten.copy"}                    # which is a cast, too


class Answer:
    """What the oracle says of one draw: the outputs, and what rounding may do to them, by the last operators alone
    (`last`) and by all of them (`whole`, worked out when it is asked for)."""

    def __init__(self, exact: list[torch.Tensor], last: Estimates, whole: Callable[[], Estimates]) -> None:
        self.exact, self.last, self._whole = exact, last, whole

    @cached_property
    def whole(self) -> Estimates:
        return self._whole()


class Turns:
    """How many threads are the fastest: each of some `numbers` has its turn, now and then again. Where something else
    is at work, operators that hand out many small parts wait for a core at each of them, on all cores a hundred times
    as long as on one."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers, self.count, self.took = list(dict.fromkeys(numbers)), 0, dict[int, float]()

    @property
    def best(self) -> int:
        """The number whose turn it is, or that was the fastest in its last one."""
        turn = self.count % EVERY
        return self.numbers[turn] if turn < len(self.numbers) else min(self.took, key=lambda n: self.took[n])

    @contextmanager
    def timed(self) -> Iterator[None]:
        """A turn."""
        number, begun = self.best, time.monotonic()
        yield
        self.took[number] = time.monotonic() - begun
        self.count += 1


class Oracle:
    """The graph in float64 with these weights: its outputs, and what rounding may do to each element of them."""

    def __init__(self, graph: Graph, weights: Mapping[str, torch.Tensor]) -> None:
        self.graph, self.constants = graph, closed(graph)
        self.last = last_operators(graph) - self.constants
        self.weights = {node.name: wide(weights[node.name]) for node in graph.sources("parameter")}
        self.sizes = {name: weight.abs() for name, weight in self.weights.items()}
        self.generator = torch.Generator()
        largest = max(math.prod(type_.shape) for node in graph.nodes for type_ in _each(node.type))
        self.signs = 2.0 * torch.randint(0, 2, (2 * largest,), generator=self.generator, dtype=torch.float64) - 1
        self.of_constants: dict[str, Any] | None = None            # the same on every draw
        self.fixed = closed(graph, ["input"])                      # as well, with these weights; and its values
        self.known: dict[str, Any] | None = None
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else torch.get_num_threads()
        self.turns = Turns([1, cores])

    def __call__(self, inputs: Mapping[str, torch.Tensor], draw: int, outside: bool) -> Answer:
        """Signs of errors hang on the number of the `draw`. Where the inputs have a NaN or ∞ (`outside`), attention is
        what arithmetic makes of it."""
        values = {**self.weights, **{name: wide(x) for name, x in inputs.items()}}
        with self.turns.timed(), self.running():
            known = self.values(values, _unattended if outside else None)
            last = self.errors(draw, known, {}, self.last)
        return Answer(self.roots(known), self.estimates(last, known), lambda: self.whole(draw, known))

    def values(self, given: Mapping[str, torch.Tensor], changed: Callable[[Node, Any], Any] | None) -> dict[str, Any]:
        """Every node's value; those that no input has to do with are worked out once."""
        if self.known is None:
            known = execute(self.graph, given)
            self.known = {name: known[name] for name in self.fixed}
            if changed is None:
                return known
        others = (node for node in self.graph.nodes if node.name not in self.fixed)
        return {**self.known, **rerun(self.graph, given, self.known, others, changed)}

    def whole(self, draw: int, known: dict[str, Any]) -> Estimates:
        """What rounding in all operators may do, on a draw where these values are known."""
        with self.running():
            if self.of_constants is None:
                self.of_constants = self.errors(0, known, {}, self.constants)
            others = {node.name for node in self.graph.nodes} - self.constants
            return self.estimates(self.errors(draw, known, self.of_constants, others), known)

    @contextmanager
    def running(self) -> Iterator[None]:
        """On as many threads as are the fastest; and attention as arithmetic has it: torch's fused one makes zeros of a
        query with a NaN."""
        with on_threads(self.turns.best), few_threads(sizes(self.graph)), sdpa_kernel(SDPBackend.MATH):
            yield

    def roots(self, known: Mapping[str, Any]) -> list[torch.Tensor]:
        return [known[node.name] for _, node in self.graph.roots]

    def estimates(self, errors: Mapping[str, Any], known: Mapping[str, Any]) -> Estimates:
        return [torch.zeros_like(known[node.name]) if (error := errors.get(node.name)) is None else error
                for _, node in self.graph.roots]

    def errors(
        self, seed: int, known: dict[str, Any], before: Mapping[str, Any], names: Collection[str]
    ) -> dict[str, Any]:
        """The errors of these nodes beside those before. A program computes its constants, too, but a mask is what it
        is."""
        self.generator.manual_seed(seed)
        errors = dict(before)
        for node in self.graph.nodes:
            if not node.is_source and node.name in names:
                fixed = node.name in self.constants and any(
                    is_mask(value, getattr(torch, type_.dtype))
                    for value, type_ in zip(_each(known[node.name]), _each(node.type), strict=True))
                errors[node.name] = None if fixed else self.error(node, known, errors)
        return errors

    def error(self, node: Node, known: dict[str, Any], errors: dict[str, Any]) -> Any:
        """The error of a node's value: what its operator makes of the errors it reads, and its own; None for none."""
        name = called(node)
        if name == "getitem":
            several = errors.get(node.args[0].name)
            return None if several is None else several[node.args[1]]
        value, read = known[node.name], {part.name: errors.get(part.name) for part in node.inputs}
        if not any(tensor.is_floating_point() for tensor in _each(value)):
            return None
        if (count := terms(node)) > 1:
            return self.of_sum(node, known, read, count)
        if packet(node.operator) in MOVEMENTS:
            return self.carried(node, known, read)
        types = node.type if isinstance(node.type, tuple) else (node.type,)
        units = tuple(unit(type_.dtype) for type_ in types)
        stored = tuple(0.0 for _ in units) if name in rounding.EXACT else units
        if name in rounding.INSIDE:
            off = min(max(stored), FLOAT32) * math.sqrt(max(rounding.INSIDE[name](node), 1))
            read = {n: _map(lambda x, e: _sum(off * rounding.around(x, node), e), known[n], e) for n, e in read.items()
                    if all(tensor.is_floating_point() for tensor in _each(known[n]))}
        parts = [self.moved(node, known, n, e) for n, e in read.items() if any(e is not None for e in _each(e))]
        parts += [self.apart(part, known, value) if isinstance(part, Node) else part
                  for part in rounding.of_numbers(node, known, min(max(units), FLOAT32))]
        own = _map(lambda u, v: u * rounding.magnitude(v) if u and v.is_floating_point() else None,
                   stored if isinstance(value, tuple) else stored[0], value)
        if name in rounding.LARGE_INSIDE:
            own = _sum(own, stored[0] * rounding.LARGE_INSIDE[name](known[node.inputs[0].name]))
        for part in parts:
            own = _map(_sum, own, part)
        return own if any(e is not None for e in _each(own)) else None

    def carried(self, node: Node, known: dict[str, Any], read: Mapping[str, Any]) -> Any:
        """The errors where an operator moves the elements that have them."""
        if all(error is None for each in read.values() for error in _each(each)):
            return None
        errors = {n: _map(lambda e, x: torch.zeros_like(x) if e is None else e, error, known[n])
                  for n, error in read.items() if known[n].is_floating_point()}
        return rerun(self.graph, {}, {**known, **errors}, [node])[node.name]

    def moved(self, node: Node, known: dict[str, Any], name: str, error: Any) -> Any:
        """What an operator makes of the error of one thing it reads: known, or the most of some tries with signs at
        random."""
        if (found := rounding.reached(node, known, name, error)) is not None:
            return found
        most = drawn = None
        for again in range(SIGNS_INSIDE if called(node) in rounding.INSIDE else SIGNS):
            drawn = _map(self.drawn, error) if again != 1 else _map(lambda e: e if e is None else -e, drawn)
            shaken = _map(lambda x, e: x if e is None else x + e, known[name], drawn)
            with suppress(Refused):                        # an error that leads to where it is not defined says nothing
                most = _map(_larger, most, self.apart(node, {**known, name: shaken}, known[node.name]))
        return most

    def apart(self, node: Node, known: Mapping[str, Any], value: Any) -> Any:
        """How far from this value what the node computes of what is known is; ∞ stays ∞."""
        again = rerun(self.graph, {}, known, [node])[node.name]
        return _map(lambda a, b: _apart(a, b) if b.is_floating_point() and a.shape == b.shape else None, again, value)

    def of_sum(self, node: Node, known: dict[str, Any], read: Mapping[str, Any], count: float) -> torch.Tensor:
        """The same where products are summed: terms and their errors count by their magnitudes."""
        sizes = {name: self.sizes[name] if name in self.sizes else known[name].abs() for name in read}
        assert not isinstance(node.type, tuple)
        stored = unit(node.type.dtype)
        found: torch.Tensor = stored * rounding.magnitude(known[node.name])
        own = min(stored, FLOAT32) * math.sqrt(count)
        noisy = [name for name, error in read.items() if error is not None]
        if len(read) == len(node.inputs) == 2 and len(noisy) == 1:       # linear in it: both in one run
            (name,) = noisy
            return found + self.run(node, {**known, **sizes, name: torch.add(read[name], sizes[name], alpha=own)}).abs()
        summed = self.run(node, {**known, **sizes})
        found = found + own * summed.abs()
        if noisy:
            larger = {name: _sum(sizes[name], error) for name, error in read.items()}
            found += (self.run(node, {**known, **larger}) - summed).abs()
        return found

    def run(self, node: Node, known: Mapping[str, Any]) -> torch.Tensor:
        result = rerun(self.graph, {}, known, [rounding.magnified(node)])[node.name]
        assert isinstance(result, torch.Tensor)
        return result

    def drawn(self, error: torch.Tensor | None) -> torch.Tensor | None:
        """The error with signs at random."""
        if error is None:
            return None
        start = int(torch.randint(0, len(self.signs) - error.numel() + 1, (), generator=self.generator))
        return error * self.signs[start : start + error.numel()].view(error.shape)


def last_operators(graph: Graph) -> frozenset[str]:
    """The operators behind the last sums, and these: all that is left of a program when sums are taken for inputs."""
    last, ahead = set[str](), [node for _, node in graph.roots]
    while ahead:
        node = ahead.pop()
        if node.is_source or node.name in last:
            continue
        last.add(node.name)
        if terms(node) == 1 and called(node) not in rounding.INSIDE:
            ahead.extend(node.inputs)
    return frozenset(last)


def wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().double() if tensor.is_floating_point() else tensor.detach()


def is_mask(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> bool:
    """Whether it holds what is added to hide others: −∞, or numbers as large as a dtype has, its own or this one."""
    dtype = dtype or tensor.dtype
    return dtype.is_floating_point and not bool((tensor.abs() < torch.finfo(dtype).max / 4).all())


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _map(function: Callable[..., Any], *values: Any) -> Any:
    """The function on tensors, or on each of the tensors in tuples."""
    if any(isinstance(value, tuple) for value in values):
        width = max(len(value) for value in values if isinstance(value, tuple))
        parts = [value if isinstance(value, tuple) else (value,) * width for value in values]
        return tuple(_map(function, *each) for each in zip(*parts, strict=True))
    return function(*values)


def _apart(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """How far a is from b; not at all where b is ∞, as then its error is none."""
    apart = (a - b).abs_()
    return apart if bool(b.sum().isfinite()) else apart.masked_fill_(b.isinf(), 0.0)


def _larger(a: Any, b: Any) -> Any:
    """The larger one; of a number and none (the root of what an error made negative) the number."""
    return b if a is None else a if b is None else torch.fmax(a, b)


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _unattended(node: Node, value: Any) -> Any:
    """NaN for a query whose scores are −∞ throughout: torch's attention attends to nothing then and has zeros, which a
    mask may ask for, and without one is an ∞ in the inputs."""
    masked = (*node.args, None, None, None, None)[3] is not None or node.kwargs.get("attn_mask") is not None
    if called(node) != "scaled_dot_product_attention" or masked:
        return value
    return value.masked_fill(((value == 0) | value.isnan()).all(-1, keepdim=True), math.nan)          # 0 · ∞


# ---------------------------------------------------------------------------------------------------- kept for the next


def kept(file: Path | None, ask: Callable[[], Answer]) -> Answer:
    """What the oracle says when it is asked, which is the same for every program and most of what a draw costs: read
    from files beginning with this one's name, or written there where there is room."""
    if file is None:
        return ask()
    asked = cache(ask)
    both = written(file, lambda: [*asked().exact, *asked().last])
    exact, last = both[: len(both) // 2], both[len(both) // 2 :]
    return Answer(exact, last, lambda: written(file.with_suffix(".whole"), lambda: asked().whole))


def written(file: Path, make: Callable[[], list[torch.Tensor]]) -> list[torch.Tensor]:
    """These tensors, from the file if it is there, which it is afterwards if there is room."""
    if file.exists():
        found: list[torch.Tensor] = torch.load(file)
        return found
    tensors = make()
    if sum(tensor.nbytes for tensor in tensors) <= room(file.parent):
        torch.save([tensor.clone() for tensor in tensors], part := file.with_suffix(".part"))
        part.replace(file)                                 # whoever is ended while writing leaves no answer
    return tensors


def room(folder: Path) -> int:
    """The bytes that answers may still take there."""
    return min(ROOM - sum(file.stat().st_size for file in folder.iterdir()), disk_usage(folder).free // 2)
