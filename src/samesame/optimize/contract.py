"""The numeric contract: what a program may do to rounding when it takes the place of another.

Proofs are over the reals, so rounding is measured, against a float64 run of the original on the same rounded inputs
(the oracle). Every element of every output, on every draw, must lie as near to the oracle as

    max(2 · error of the original, C · estimate)

where the estimate is what rounding can do to that element in the original's own order of operations: a running error
analysis, node by node. An operator moves the errors of what it reads (measured by reading it with these errors added,
signs at random) and adds its own: half a unit in the last place of what it stores, and √K units of the sum of the
magnitudes of its terms where it sums K products. No single tolerance does this: a softmax without its maximum, or a
variance in one pass, is as near as anything on most inputs and wrong on some rows, so some rows are drawn to be
difficult. NaN must come where the original has it, and where that has numbers there must be numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import disk_usage
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from samesame.capture import capture
from samesame.capture.program import Program
from samesame.graph import Graph, Node
from samesame.operators.execute import closed, execute, rerun
from samesame.operators.table import movements, packet
from samesame.optimize.job import Job
from samesame.report.optimized import C, Contract
from samesame.report.words import counted

Answer = tuple[list[torch.Tensor], list[torch.Tensor]]     # of the oracle: outputs, and what rounding may do to them
DRAWS, SCALES = 20, (1 / 16, 1.0, 16.0)
ROOM = 1 << 30                                             # bytes of answers that are kept on disk
AGAIN = 2                                                  # draws at each scale for each set of random weights
SIGNS, SIGNS_INSIDE = 2, 6                                 # tries: an error inside reaches a whole row, or misses it
PRODUCTS = {                                               # sums of products: the operand whose last dimension is
    "mm": 0, "bmm": 0, "matmul": 0, "linear": 0, "addmm": 1, "baddbmm": 1, "mv": 0, "dot": 0,         # summed over
}
MOVEMENTS = movements() - {"aten.copy"}                    # which is a cast, too
SUMS = ("sum", "mean", "cumsum", "einsum", "convolution")
INSIDE = (                                                 # operators that round inside, as if what they read were off
    "softmax", "_softmax", "log_softmax", "_log_softmax", "logsumexp", "layer_norm", "native_layer_norm", "rms_norm",
    "_fused_rms_norm", "group_norm", "native_group_norm", "gelu", "var", "std", "var_mean",
    "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu",
)
EXACT = (                                                  # beside those that only move elements
    "where", "neg", "abs", "relu", "amax", "amin", "max", "maximum", "minimum", "index_select", "gather", "masked_fill",
)
HARD: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {       # rows, from one of normal numbers
    "zeros": torch.zeros_like,
    "one number": lambda row: torch.full_like(row, 0.7),
    "one number but for a last place": lambda row: nearly_one_number(row),
    "far from zero": lambda row: row + 3000.0,
    "one large element": lambda row: row.index_fill(-1, torch.tensor([0]), 1e4),
    "large and cancelling": lambda row: row + 1e4 * (1 - 2 * (torch.arange(row.shape[-1]) % 2)),
    "tiny": lambda row: row * 1e-7,
    "large": lambda row: row * 1e3,
}


def nearly_one_number(row: torch.Tensor) -> torch.Tensor:
    """1000 throughout, and the next number of this dtype once: what is left of a variance in one pass shows here."""
    same = torch.full_like(row, 1000.0)
    first = torch.nextafter(same[..., :1], torch.full_like(same[..., :1], math.inf))
    return torch.cat([first, same[..., 1:]], -1)


OUTSIDE = {"NaN": math.nan, "+∞": math.inf, "−∞": -math.inf}


def contract(
    job: Job, found: Callable[..., Any], seed: int = 0, *, frozen: bool = False, seconds: float = math.inf,
    number: int = DRAWS, place: Path | None = None,
) -> Contract:
    """Measure `found` against the job's program, on such a `number` of draws at each scale, and one at least. Where
    weights are `frozen`, only the given ones are tried. What the oracle says is kept in the folder `place` for others
    that are to take the place of this program, with the same seed and number."""
    begun, result, asked = time.monotonic(), Contract(), 0
    generator = torch.Generator().manual_seed(seed)
    program = as_given(Program(job.program, job.kwargs or job.args))
    graph = capture(job.program, job.kwargs or job.args, again=False)
    names = [node.name for node in graph.sources("parameter") if job.weights[node.name].is_floating_point()]
    given = {name: job.weights[name].detach().clone() for name in names}
    try:
        for again in range(1 if frozen or not names else 3):
            with torch.no_grad():
                for name, tensor in given.items() if again else ():
                    job.weights[name].copy_(alike(tensor, generator))
            result.weights += 1
            oracle = Oracle(graph, job.weights)
            all_draws = draws(program, generator, AGAIN if again else number, difficult=not again)
            for count, (label, changed) in enumerate(all_draws):
                asked += 1
                if result.draws and time.monotonic() - begun > seconds:
                    result.cut = True
                    result.failed = (f"time was over after {counted(result.draws, 'draw')}; "
                                     "give it more with --minutes")
                elif (taken := taken_draw(program, changed, job.program, generator)) is not None:
                    said = partial(kept, place and place / f"draw {again} {count}.pt", oracle, count)
                    judge(result, said, graph, *taken, found, label)
                if result.failed:
                    return result
        if 2 * result.draws < asked:
            result.failed = f"the program itself raises an error on {asked - result.draws} of {counted(asked, 'draw')}"
    finally:
        with torch.no_grad():
            for name, tensor in given.items():
                job.weights[name].copy_(tensor)
        result.seconds = time.monotonic() - begun
    return result


def judge(
    result: Contract, oracle: Callable[..., Answer], graph: Graph, program: Program, mine: list[torch.Tensor],
    found: Any, label: str,
) -> None:
    """One draw, on which the original returns `mine`: what it adds to the result."""
    with torch.no_grad():
        yours = [tensor for _, tensor in program.roots(found(*program.args, **program.kwargs))]
    result.draws += 1
    exact, estimates = oracle(program.inputs, label in OUTSIDE)
    names = [name for name, _ in graph.roots]
    for name, own, other, true, estimate in zip(names, mine, yours, exact, estimates, strict=True):
        if (own.shape, own.dtype, own.stride()) != (other.shape, other.dtype, other.stride()):
            result.failed = (f"output {name} is {other.dtype} of shape {tuple(other.shape)} and strides "
                             f"{other.stride()}, and was {own.dtype}, {tuple(own.shape)}, {own.stride()}")
            return
        if not own.is_floating_point():
            if not torch.equal(own, other):
                result.failed = f"output {name} differs on {label}"
            continue
        result.elements += own.numel()
        least = torch.finfo(torch.promote_types(own.dtype, torch.float32)).smallest_normal     # of what computes it
        if fault := beyond(result, own.double(), other.double(), true, estimate, label, least):
            result.failed = f"on {label}, output {name} {fault}"
            return


def beyond(
    result: Contract, own: torch.Tensor, other: torch.Tensor, true: torch.Tensor, estimate: torch.Tensor, label: str,
    least: float,
) -> str:
    """How an element of the output `other` is not what it may be; nothing where all are. A NaN in the inputs must come
    out where it does, and may where arithmetic has it, as may what an ∞ in them leads to; what is too large, or ∞ − ∞,
    may be either in another order. Beside these, numbers are numbers. What is less than the least normal number may be
    zero in another order, so an error of so much counts for nothing.
    """
    numbers, nan = own.isfinite(), label == "NaN"
    ours_alone = (label in OUTSIDE) & ~true.isfinite() & numbers & ~other.isfinite()
    if nan and not torch.equal(own.isnan() | ours_alone & other.isnan(), other.isnan()):
        return "has a number where the original has NaN, or the other way round"
    if bool((~numbers & other.isfinite()).any()) and not nan:
        return "is finite where the original is not"
    if bool((numbers & ~other.isfinite() & ~ours_alone).any()):
        return "is not finite where the original is"
    error, theirs = (other - true).abs(), (own - true).abs()
    allowed = torch.maximum(2 * theirs, C * estimate.nan_to_num(0.0, math.inf)).clamp(min=least)
    counted = numbers & true.isfinite() & allowed.isfinite() & (error > 0)
    if label in OUTSIDE:
        counted &= estimate.isfinite()
    if not bool(counted.any()):
        return ""
    share = torch.where(counted, error / allowed, 0.0)
    size = float(torch.where(counted, true.abs(), 0.0).max()) or 1.0
    result.worst = max(result.worst, float(share.max()))
    result.found_error = max(result.found_error, float(torch.where(counted, error, 0.0).max()) / size)
    result.original_error = max(result.original_error, float(torch.where(counted, theirs, 0.0).max()) / size)
    if result.worst <= 1:
        return ""
    at = int(share.argmax())
    return (f"is off by {float(error.flatten()[at]):.2g} where {float(allowed.flatten()[at]):.2g} is allowed "
            f"(the original is off by {float(theirs.flatten()[at]):.2g})")


# ----------------------------------------------------------------------------------------------------------- the draws


def draws(
    program: Program, generator: torch.Generator, number: int, *, difficult: bool
) -> Iterator[tuple[str, dict[int, torch.Tensor]]]:
    """Values for the inputs by the id of the example's tensor, each with what to call them."""
    inputs = list(program.inputs.values())
    for scale in SCALES:
        for count in range(number):
            yield f"draw {count + 1} at scale {scale:g}", {id(x): alike(x, generator, scale) for x in inputs}
    kinds = list(HARD) if difficult else []
    for shift in range(len(kinds)):
        yield f"difficult rows, {shift + 1}", {id(x): rows(alike(x, generator), shift) for x in inputs}
    for label, value in OUTSIDE.items() if difficult else ():
        for chosen in inputs:
            if chosen.is_floating_point() and chosen.numel():
                for place in dict.fromkeys((0, chosen.numel() // 2, chosen.numel() - 1)):
                    values = {id(x): alike(x, generator) for x in inputs}
                    values[id(chosen)][torch.unravel_index(torch.tensor(place), chosen.shape)] = value
                    yield label, values


def taken_draw(
    program: Program, values: dict[int, torch.Tensor], original: Any, generator: torch.Generator
) -> tuple[Program, list[torch.Tensor]] | None:
    """The program on these values, and what the original returns there; None where it raises an error whatever order
    its integers are in. Those that number rows of tables of several lengths keep to their column, or to their row."""
    inputs = list(program.inputs.values())
    for order in (None, partial(within, 0), partial(within, -1), lambda x, _: x):
        if order is not None:
            values = {id(x): values[id(x)] if x.is_floating_point() else laid_as(x, order(x, generator))
                      for x in inputs}
        drawn = program.again(partial(_other, values))
        with torch.no_grad(), suppress(Exception):
            return drawn, [tensor for _, tensor in drawn.roots(original(*drawn.args, **drawn.kwargs))]
    return None


def within(dim: int, tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each line along a dimension in another order of its own."""
    if not tensor.dim():
        return tensor
    return tensor.gather(dim, torch.rand(tensor.shape, generator=generator).argsort(dim))


def as_given(program: Program) -> Program:
    """The program on the caller's own inputs, which copies may not have the strides of."""
    given = dict(program.given)
    return program.again(partial(_other, {id(x): given[name].detach() for name, x in program.inputs.items()}))


def _other(values: Mapping[int, torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
    return values[id(tensor)]


def alike(tensor: torch.Tensor, generator: torch.Generator, scale: float = 1.0) -> torch.Tensor:
    """Other values for a tensor: normal numbers as large as its own, or its own in another order; a mask stays.

    Strides stay, too.
    """
    if not tensor.is_floating_point():
        shuffled = torch.randperm(tensor.numel(), generator=generator)
        return laid_as(tensor, tensor.reshape(-1)[shuffled].view(tensor.shape))
    if is_mask(tensor):
        return laid_as(tensor, tensor)
    size = float(tensor.double().square().mean().sqrt()) if tensor.numel() else 1.0
    size = size or (tensor.shape[-1] if tensor.dim() else 1) ** -0.5
    drawn = torch.randn(tensor.shape, generator=generator, dtype=torch.float32)
    return laid_as(tensor, drawn * (size * scale))


def is_mask(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> bool:
    """Whether it holds what is added to hide others: −∞, or numbers as large as a dtype has, its own or this one."""
    dtype = dtype or tensor.dtype
    return dtype.is_floating_point and not bool((tensor.abs() < torch.finfo(dtype).max / 4).all())


def laid_as(tensor: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """A new tensor of these values with the strides of the other; where its elements share memory, one for them all."""
    like = torch.empty_like(tensor)
    if like.stride() == tensor.stride():
        return like.copy_(values)
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    place = torch.arange(1 + sum((n - 1) * step for n, step in steps if n)).as_strided(tensor.shape, tensor.stride())
    memory = torch.empty(int(place.max()) + 1 if place.numel() else 0, dtype=tensor.dtype)
    memory[place.flatten()] = values.to(tensor.dtype).flatten()
    return memory.as_strided(tensor.shape, tensor.stride())


def rows(tensor: torch.Tensor, shift: int) -> torch.Tensor:
    """The tensor with each row made difficult, in turns."""
    if not tensor.is_floating_point() or not tensor.dim() or is_mask(tensor):
        return tensor
    flat = tensor.reshape(-1, tensor.shape[-1]).clone() if tensor.numel() else tensor
    makers = list(HARD.values())
    for number, row in enumerate(flat):
        flat[number] = makers[(number + shift) % len(makers)](row)
    return laid_as(tensor, flat.view(tensor.shape))


# ---------------------------------------------------------------------------------------------------------- the oracle


def _unattended(node: Node, value: Any) -> Any:
    """NaN for a query whose scores are −∞ throughout: torch's attention attends to nothing then and has zeros, which a
    mask may ask for, and without one is an ∞ in the inputs."""
    masked = (*node.args, None, None, None, None)[3] is not None or node.kwargs.get("attn_mask") is not None
    if called(node) != "scaled_dot_product_attention" or masked:
        return value
    return value.masked_fill(((value == 0) | value.isnan()).all(-1, keepdim=True), math.nan)          # 0 · ∞


def kept(
    file: Path | None, oracle: Oracle, draw: int, inputs: Mapping[str, torch.Tensor], outside: bool
) -> Answer:
    """What the oracle says of a draw, which is the same for every program and most of what it costs: read from the
    file, or written to it where there is room."""
    if file is not None and file.exists():
        answer: Answer = torch.load(file)
        return answer
    answer = oracle(inputs, draw, outside)
    if file is not None and sum(tensor.nbytes for part in answer for tensor in part) <= room(file.parent):
        torch.save(tuple([tensor.clone() for tensor in part] for part in answer), part := file.with_suffix(".part"))
        part.replace(file)                                 # whoever is ended while writing leaves no answer
    return answer


def room(folder: Path) -> int:
    """The bytes that answers may still take there."""
    return min(ROOM - sum(file.stat().st_size for file in folder.iterdir()), disk_usage(folder).free // 2)


class Oracle:
    """The graph in float64 with these weights: its outputs, and what rounding may do to each element of them."""

    def __init__(self, graph: Graph, weights: Mapping[str, torch.Tensor]) -> None:
        self.graph, self.constants = graph, closed(graph)
        self.weights = {node.name: wide(weights[node.name]) for node in graph.sources("parameter")}
        self.sizes = {name: weight.abs() for name, weight in self.weights.items()}
        self.generator = torch.Generator()
        largest = max(math.prod(type_.shape) for node in graph.nodes for type_ in _each(node.type))
        self.signs = 2.0 * torch.randint(0, 2, (2 * largest,), generator=self.generator, dtype=torch.float64) - 1
        self.of_constants: dict[str, Any] | None = None            # the same on every draw

    @sdpa_kernel(SDPBackend.MATH)                          # torch's fused attention makes zeros of a query with a NaN
    def __call__(
        self, inputs: Mapping[str, torch.Tensor], draw: int, outside: bool
    ) -> Answer:
        """Signs of errors hang on the number of the `draw`. Where the inputs have a NaN or ∞ (`outside`), attention is
        what arithmetic makes of it."""
        values = {**self.weights, **{name: wide(x) for name, x in inputs.items()}}
        known = execute(self.graph, values, changed=_unattended if outside else None)
        if self.of_constants is None:
            self.of_constants = self.errors(0, known, {}, self.constants)
        others = {node.name for node in self.graph.nodes} - self.constants
        errors = self.errors(draw, known, self.of_constants, others)
        roots = [node.name for _, node in self.graph.roots]
        return [known[name] for name in roots], [_error(errors.get(name), known[name]) for name in roots]  # type: ignore[misc]

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
        if (count := summed(node, name)) > 1:
            return self.of_sum(node, known, read, count)
        if packet(node.operator) in MOVEMENTS:
            return self.carried(node, known, read)
        types = node.type if isinstance(node.type, tuple) else (node.type,)
        stored = tuple(0.0 if name in EXACT else unit(type_.dtype) for type_ in types)
        if name in INSIDE:
            rounding = min(max(stored), FLOAT32) * math.sqrt(max(node.inputs[0].shape[-1], 1))
            read = {n: _map(lambda x, e: _sum(rounding * x.abs(), e), known[n], e) for n, e in read.items()
                    if all(tensor.is_floating_point() for tensor in _each(known[n]))}
        parts = [self.moved(node, known, n, e) for n, e in read.items() if any(e is not None for e in _each(e))]
        own = _map(lambda u, v: u * v.abs() if u and v.is_floating_point() else None,
                   stored if isinstance(value, tuple) else stored[0], value)
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
        """What an operator makes of the error of one thing it reads, signs at random: the most of some tries."""
        most = None
        for _ in range(SIGNS_INSIDE if called(node) in INSIDE else SIGNS):
            again = rerun(self.graph, {}, {**known, name: _map(self.shaken, known[name], error)}, [node])[node.name]
            here = _map(lambda a, b: (a - b).abs() if b.is_floating_point() else None, again, known[node.name])
            most = here if most is None else _map(_larger, most, here)
        return most

    def of_sum(self, node: Node, known: dict[str, Any], read: Mapping[str, Any], count: float) -> torch.Tensor:
        """The same where products are summed: terms and their errors count by their magnitudes."""
        sizes = {name: self.sizes[name] if name in self.sizes else known[name].abs() for name in read}
        assert not isinstance(node.type, tuple)
        stored = unit(node.type.dtype)
        found: torch.Tensor = stored * known[node.name].abs()
        own = min(stored, FLOAT32) * math.sqrt(count)
        noisy = [name for name, error in read.items() if error is not None]
        if len(read) == len(node.inputs) == 2 and len(noisy) == 1:       # linear in it: both in one run
            (name,) = noisy
            return found + self.run(node, {**known, **sizes, name: own * sizes[name] + read[name]}).abs()
        terms = self.run(node, {**known, **sizes})
        found = found + own * terms.abs()
        if noisy:
            larger = {name: _sum(sizes[name], error) for name, error in read.items()}
            found += (self.run(node, {**known, **larger}) - terms).abs()
        return found

    def run(self, node: Node, known: Mapping[str, Any]) -> torch.Tensor:
        result = rerun(self.graph, {}, known, [node])[node.name]
        assert isinstance(result, torch.Tensor)
        return result

    def shaken(self, value: torch.Tensor, error: torch.Tensor | None) -> torch.Tensor:
        if error is None:
            return value
        start = int(torch.randint(0, len(self.signs) - value.numel() + 1, (), generator=self.generator))
        return value + error * self.signs[start : start + value.numel()].view(value.shape)


def called(node: Node) -> str:
    """The operator's name without its namespace and overload."""
    return node.operator.split(".")[1] if "." in node.operator else node.operator


def summed(node: Node, name: str) -> float:
    """How many terms an operator sums for an element of its result."""
    if name in PRODUCTS:
        return float(node.args[PRODUCTS[name]].shape[-1])
    if name in SUMS and node.inputs:
        return max(math.prod(part.shape) for part in node.inputs) / max(math.prod(node.shape), 1)
    return 1.0


def unit(dtype: str) -> float:
    """Half a unit in the last place of 1: what rounding to this dtype may do, relatively."""
    kind = getattr(torch, dtype)
    return torch.finfo(kind).eps / 2 if kind.is_floating_point else 0.0


FLOAT32 = unit("float32")                                  # CPU kernels sum in no less


def wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().double() if tensor.is_floating_point() else tensor.detach()


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _map(function: Callable[..., Any], *values: Any) -> Any:
    """The function on tensors, or on each of the tensors in tuples."""
    if any(isinstance(value, tuple) for value in values):
        width = max(len(value) for value in values if isinstance(value, tuple))
        parts = [value if isinstance(value, tuple) else (value,) * width for value in values]
        return tuple(_map(function, *each) for each in zip(*parts, strict=True))
    return function(*values)


def _larger(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else torch.maximum(a, b)


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _error(error: Any, value: Any) -> torch.Tensor:
    return torch.zeros_like(value) if error is None else error
