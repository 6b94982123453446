"""A difference from the reference, run: the launch in Triton's interpreter beside the reference in torch.

That two formulas differ was found by working both out on random numbers. Here the launch function runs on the CPU at
the same sizes, on the tensors that it makes itself, drawn anew a few times, and the reference in float64 on these; what
both give at the element that is furthest apart is noted. Where they agree as well as the dtype can tell, that is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, takewhile
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from samesame.evidence import Refused, SamesameError
from samesame.lift.example import run_at
from samesame.lift.parameters import taken_by
from samesame.programs.named import described

SECONDS = 20.0
SEEDS = range(16)  # of the example's random tensors, as far as the time goes
NEAR = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}  # of the largest value


def replay_difference(
    target: Any,
    inputs: Any,
    captured: Any,
    case: dict[str, Any],
    reference: Callable[..., Any],
    configuration: str = "",
) -> None:
    """Note in a counterexample of `--against` whether a run shows it, and what it gives: on the numbers that were
    drawn, unless the host makes something of the tensors or some of others, or reads numbers from them, and else on the
    example's."""
    until = time.thread_time() + SECONDS
    drawn = case.pop("drawn", {})
    worked = captured.worked or any(not hasattr(step, "variants") for step in captured.steps[:1])
    worked = worked or captured.reads != ()  # of its own tensors, which those drawn may not have
    seeds = takewhile(lambda seed: seed == 0 or time.thread_time() < until, SEEDS)
    ways = chain(() if worked or not drawn else [(0, drawn)], ((seed, {}) for seed in seeds))
    found = (told(target, inputs, captured, case, reference, configuration, *way) for way in ways)
    try:
        shown = next(filter(None, found), None)
    except Refused as refused:
        case["replayed"] = f"no: {refused}"
        return
    if shown is None:
        case["replayed"] = "no: on the example's own tensors both give the same, as far as the dtype can tell"
    else:
        case |= {"replayed": "yes", **shown}


def told(
    target: Any,
    inputs: Any,
    captured: Any,
    case: Mapping[str, Any],
    reference: Callable[..., Any],
    configuration: str,
    seed: int,
    given: Mapping[str, Any],
) -> dict[str, Any] | None:
    """What a run on tensors of this seed, or on those given, shows of the difference; None where both give the same.
    Raises Refused."""
    how: dict[str, Any] = {"configuration": configuration, "seed": seed, "timeout": SECONDS, "given": given}
    run = run_at(target, inputs, captured, case["sizes"], **how)
    with torch.enable_grad(), told_as_refused():           # a reference may be what autograd makes of a loss
        given = taken_by(reference, run.named, captured.by_every_name(run.sizes))
        taken = {name: widened(x) for name, x in given.items()}
        wanted = tree_leaves(reference(**taken))[case["output"]].detach()
    got = list(run.outputs.values())[case["output"]]
    if got.shape != wanted.shape:
        return {"run": {"shapes": [list(got.shape), list(wanted.shape)]}}
    place = furthest(got, wanted)
    if place is None:
        return None
    return {"run": {"element": list(place), "interpreter": got[place].item(), "torch": wanted[place].item()}}


@contextmanager
def told_as_refused() -> Iterator[None]:
    """What a reference raises on tensors of the run, as a sentence."""
    try:
        yield
    except SamesameError:
        raise
    except Exception as error:
        raise Refused(f"the reference fails: {described(error)}") from error


def widened(x: torch.Tensor | int) -> torch.Tensor | int:
    return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def furthest(got: torch.Tensor, wanted: torch.Tensor) -> tuple[int, ...] | None:
    """The element in which both are furthest apart; None where they are near everywhere. What is no number in one of
    them is further than anything."""
    left, right = got.double(), wanted.double()
    apart = torch.where(left.isfinite() & right.isfinite(), (left - right).abs(), torch.inf)
    apart = apart.masked_fill((left == right) | (left.isnan() & right.isnan()), 0)
    largest = right[right.isfinite()].abs().max().item() if right.isfinite().any() else 1.0
    near = NEAR.get(got.dtype, 0.0) * max(largest, 1e-6)
    if not apart.numel() or apart.max().item() <= near:
        return None
    return tuple(int(n) for n in torch.unravel_index(apart.argmax(), apart.shape))
