"""Whether a program, read as forms and printed in torch's operators, gives what it gives: values, dtypes, shapes, NaN
and ∞ where it has them; and how near to float64 it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from optimize.test_reassociation import written
from samesame.capture import capture
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.faithful import faithful
from samesame.optimize.read import read
from samesame.optimize.specification import KEPT

NEAR = {torch.bfloat16: {"rtol": 0.1, "atol": 0.05}, torch.float32: {"rtol": 1e-4, "atol": 1e-4}}
SCALES = 1 / 16, 1.0, 16.0, 1e4


def printed(program: Callable[..., Any], *inputs: torch.Tensor, folder: Path) -> tuple[Callable[..., Any], list[str]]:
    """The program as forms, in torch's operators; and the calls that it keeps."""
    specification = read(capture(program, inputs))
    text = source(specification, [root.form for root in specification.roots()])
    module = program if isinstance(program, nn.Module) else None
    return written(text, folder, module), [call.operator for call in specification.calls if call.operator != KEPT]


def results(found: Any) -> list[torch.Tensor]:
    return [found] if isinstance(found, torch.Tensor) else list(found)


def agree(program: Callable[..., Any], *inputs: torch.Tensor, folder: Path, calls: bool = False) -> None:
    fast, kept = printed(program, *inputs, folder=folder)
    assert bool(kept) == calls, kept
    with torch.no_grad():
        wanted, found = results(program(*inputs)), results(fast(*inputs))
    assert len(wanted) == len(found)
    for one, other in zip(wanted, found, strict=True):
        near = NEAR.get(one.dtype, {})
        torch.testing.assert_close(other, one, equal_nan=True, check_stride=False, **near)


def drawn(*shape: int) -> torch.Tensor:
    """Always the same."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def is_precise(program: Callable[..., Any], *inputs: torch.Tensor, folder: Path, shares: bool = False) -> None:
    """Numbers at each scale: no further from float64 than four times what torch is, or four last places; and so each
    share of a number, where nothing cancels."""
    fast, kept = printed(program, *inputs, folder=folder)
    assert not kept
    for scale in SCALES:
        given = [scale * x if x.is_floating_point() else x for x in inputs]
        exact = results(program(*(x.double() if x.is_floating_point() else x for x in given)))
        for true, one, other in zip(exact, results(program(*given)), results(fast(*given)), strict=True):
            numbers = one.isfinite()
            assert torch.equal(numbers, other.isfinite())
            size = true[numbers].abs()
            mine, theirs = ((x.double() - true)[numbers].abs() for x in (other, one))
            for part in (1.0, *([1 / size.clamp(min=1e-30)] if shares else [])):
                least = torch.finfo(one.dtype).eps * (size * part).max() + 1e-37
                assert (mine * part).max() <= 4 * torch.maximum((theirs * part).max(), least), scale


def proved(program: Callable[..., Any], *inputs: torch.Tensor) -> bool:
    graph = capture(program, inputs)
    specification = read(graph)
    return faithful(graph, specification, [root.form for root in specification.roots()]) is not None
