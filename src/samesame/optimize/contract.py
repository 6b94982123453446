"""The numeric contract: what a program may do to rounding when it takes the place of another.

Proofs are over the reals, so rounding is measured, against a float64 run of the original on the same rounded inputs
(`oracle.py`). Every element of every output, on every draw, must lie as near to the oracle as

    max(2 · error of the original, C · estimate)

where the estimate is what rounding can do to that element in the original's own order of operations: in its last
operators where that is enough, else in all of them. No single tolerance does this: a softmax without its maximum, or a
variance in one pass, is as near as anything on most inputs and wrong on some rows, so some rows are drawn to be
difficult. NaN must come where the original has it, and where that has numbers there must be numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from samesame.capture import capture
from samesame.capture.program import Program
from samesame.graph import Graph
from samesame.optimize.compiled import lie_alike
from samesame.optimize.job import Job, copied
from samesame.optimize.oracle import Answer, Oracle, is_mask, kept
from samesame.report.optimized import C, Contract
from samesame.report.words import counted

DRAWS, SCALES = 20, (1 / 16, 1.0, 16.0)
AT_ONCE = 1 << 15                                          # elements: a quarter of a megabyte of each
AGAIN = 2                                                  # draws at each scale for each set of random weights
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
    number: int = DRAWS, place: Path | None = None, there: Job | None = None,
) -> Contract:
    """Measure `found` against the job's program, on such a `number` of draws at each scale, and one at least, for the
    given weights; then for random ones, as far as there is time, unless weights are `frozen`. What the oracle says is
    kept in the folder `place` for others that are to take the place of this program, with the same seed and number.
    Where both programs run on a device, `there` is the job on it."""
    begun, result, asked = time.monotonic(), Contract(), 0
    there = there or job
    original, found = where_it_is(there, job, there.program), where_it_is(there, job, found)
    if there is not job:
        original = taken_here(job.program, original)
    generator = torch.Generator().manual_seed(seed)
    program = as_given(Program(job.program, job.kwargs or job.args, job.gradients))
    graph = capture(job.program, job.kwargs or job.args, again=False)
    names = [node.name for node in graph.sources("parameter") if job.weights[node.name].is_floating_point()]
    given = {name: job.weights[name].detach().clone() for name in names}
    try:
        for again in range(1 if frozen or not names else 3):
            with torch.no_grad():
                for name, tensor in given.items() if again else ():
                    give(alike(tensor, generator), name, job, there)
            result.weights = again + 1
            oracle = Oracle(graph, job.weights)
            all_draws = draws(program, generator, AGAIN if again else number, difficult=not again)
            for count, (label, changed) in enumerate(all_draws):
                over = result.draws and time.monotonic() - begun > seconds
                if over and again:                         # the given weights were gone through
                    result.weights = again
                    break
                asked += 1
                if over:
                    result.cut = True
                    result.failed = (f"time was over after {counted(result.draws, 'draw')}; "
                                     "give it more with --minutes")
                elif (taken := taken_draw(program, changed, original, generator)) is not None:
                    ask = partial(oracle, taken[0].inputs, count, label in OUTSIDE)
                    said = partial(kept, place and place / f"draw {again} {count}.pt", ask)
                    judge(result, said, graph, *taken, found, label)
                if result.failed:
                    return result
            if result.weights == again:                    # this set is not whole
                break
        if 2 * result.draws < asked:
            result.failed = f"the program itself raises an error on {asked - result.draws} of {counted(asked, 'draw')}"
    finally:
        with torch.no_grad():
            for name, tensor in given.items():
                give(tensor, name, job, there)
        result.seconds = time.monotonic() - begun
    return result


def where_it_is(there: Job, job: Job, program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that runs on another device, on tensors of this one."""
    if there is job:
        return program
    tensors = (*tree_leaves((there.args, there.kwargs)), *there.weights.values())
    device = next((x.device for x in tensors if isinstance(x, torch.Tensor)), torch.device("cpu"))

    def run(*args: Any, **kwargs: Any) -> Any:
        moved = copied((args, kwargs), device)
        return copied(program(*moved[0], **moved[1]), "cpu")

    return run


def taken_here(program: Callable[..., Any], moved: Callable[..., Any]) -> Callable[..., Any]:
    """A program that runs elsewhere on what it takes here: an index that is outside ends a process that uses a GPU."""

    def run(*args: Any, **kwargs: Any) -> Any:
        program(*args, **kwargs)
        return moved(*args, **kwargs)

    return run


def give(values: torch.Tensor, name: str, *jobs: Job) -> None:
    """Values to a weight, on each device where it is."""
    for job in jobs:
        job.weights[name].copy_(values)


def judge(
    result: Contract, oracle: Callable[[], Answer], graph: Graph, program: Program, mine: list[torch.Tensor],
    found: Any, label: str,
) -> None:
    """One draw, on which the original returns `mine`: what it adds to the result."""
    with torch.set_grad_enabled(program.gradients):
        yours = [tensor.detach() for _, tensor in program.roots(found(*program.args, **program.kwargs))]
    result.draws += 1
    said = oracle()
    for number, ((name, _), own, other) in enumerate(zip(graph.roots, mine, yours, strict=True)):
        same_kind = (own.shape, own.dtype) == (other.shape, other.dtype)
        if not same_kind or not lie_alike(own.shape, own.stride(), other.stride()):
            result.failed = (f"output {name} is {other.dtype} of shape {tuple(other.shape)} and strides "
                             f"{other.stride()}, and was {own.dtype}, {tuple(own.shape)}, {own.stride()}")
            return
        if not own.is_floating_point():
            if not torch.equal(own, other):
                result.failed = f"output {name} differs on {label}"
            continue
        result.elements += own.numel()
        least = torch.finfo(torch.promote_types(own.dtype, torch.float32)).smallest_normal     # of what computes it
        judged = beyond(own, other, said.exact[number], said.last[number], label, least)
        if judged.worst > 1:
            judged = beyond(own, other, said.exact[number], said.whole[number], label, least)
        result.worst = max(result.worst, judged.worst)
        result.found_error = max(result.found_error, judged.error)
        result.original_error = max(result.original_error, judged.original_error)
        if judged.fault:
            result.failed = f"on {label}, output {name} {judged.fault}"
            return


class Judged(NamedTuple):
    """One output on one draw: what is wrong with it, the largest share of what an element is allowed, and the largest
    errors, relative to the largest magnitude."""

    fault: str = ""
    worst: float = 0.0
    error: float = 0.0
    original_error: float = 0.0


class Piece(NamedTuple):
    """The same of some elements, with errors as they are, and the largest magnitude."""

    fault: str = ""
    worst: float = 0.0
    error: float = 0.0
    original_error: float = 0.0
    size: float = 0.0


def beyond(
    own: torch.Tensor, other: torch.Tensor, true: torch.Tensor, estimate: torch.Tensor, label: str, least: float
) -> Judged:
    """How far an element of the output `other` is from what it may be, where the original gives `own`. It is asked of
    as many elements at a time as a core's cache holds: there are a dozen steps, and some outputs have millions."""
    four = [x.reshape(-1) for x in (own, other, true, estimate)]
    pieces = ([x[start : start + AT_ONCE].double() for x in four] for start in range(0, own.numel(), AT_ONCE))
    found = [piece_beyond(own, other, true, estimate, label, least)
             for own, other, true, estimate in pieces] or [Piece()]
    size = max(piece.size for piece in found) or 1.0
    first = max(found, key=lambda piece: math.inf if piece.fault and piece.worst <= 1 else piece.worst)
    return Judged(first.fault, max(piece.worst for piece in found), max(piece.error for piece in found) / size,
                  max(piece.original_error for piece in found) / size)


def piece_beyond(
    own: torch.Tensor, other: torch.Tensor, true: torch.Tensor, estimate: torch.Tensor, label: str, least: float
) -> Piece:
    """A NaN in the inputs must come out where it does, and may where arithmetic has it, as may what an ∞ in them leads
    to; what is too large, or ∞ − ∞, may be either in another order. Beside these, numbers are numbers. What is less
    than the least normal number may be zero in another order, so an error of so much counts for nothing.
    """
    error, theirs = (other - true).abs_(), (own - true).abs_()
    if label not in OUTSIDE and math.isfinite(float(error.sum() + theirs.sum() + estimate.sum())):   # as nearly always
        share = error / torch.maximum(2 * theirs, C * estimate).clamp_(min=least)
        return told(share, error, theirs, true.abs())
    numbers, nan = own.isfinite(), label == "NaN"
    ours_alone = (label in OUTSIDE) & ~true.isfinite() & numbers & ~other.isfinite()
    if nan and not torch.equal(own.isnan() | ours_alone & other.isnan(), other.isnan()):
        return Piece("has a number where the original has NaN, or the other way round")
    if bool((~numbers & other.isfinite()).any()) and not nan:
        return Piece("is finite where the original is not")
    if bool((numbers & ~other.isfinite() & ~ours_alone).any()):
        return Piece("is not finite where the original is")
    allowed = torch.maximum(2 * theirs, C * estimate.nan_to_num(0.0, math.inf)).clamp(min=least)
    counted = numbers & true.isfinite() & allowed.isfinite() & (error >= 0)          # else it is NaN
    if label in OUTSIDE:
        counted &= estimate.isfinite()
    return told(*(torch.where(counted, x, 0.0) for x in (error / allowed, error, theirs, true.abs())))


def told(share: torch.Tensor, error: torch.Tensor, theirs: torch.Tensor, size: torch.Tensor) -> Piece:
    worst, at = float(share.max()), int(share.argmax())
    fault = (f"is off by {float(error[at]):.2g} where {float(error[at] / share[at]):.2g} is allowed "
             f"(the original is off by {float(theirs[at]):.2g})") if worst > 1 else ""
    return Piece(fault, worst, float(error.max()), float(theirs.max()), float(size.max()))


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
        with torch.set_grad_enabled(program.gradients), suppress(Exception):
            return drawn, [tensor.detach() for _, tensor in drawn.roots(original(*drawn.args, **drawn.kwargs))]
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
    for number, difficult in enumerate(HARD.values()):
        every = slice((number - shift) % len(HARD), None, len(HARD))
        flat[every] = difficult(flat[every])
    return laid_as(tensor, flat.view(tensor.shape))


