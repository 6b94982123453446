"""The gradient of log σ(x) is σ(−x), whatever torch keeps for it on the way: losses of pairs are taken apart by it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.nn import functional as F

from samesame.refine import refine
from samesame.report.refinement import plain_text


def gradient(x: torch.Tensor, weight: torch.Tensor, sign: float) -> torch.Tensor:
    with torch.enable_grad():
        leaf = weight.detach().requires_grad_()
        return torch.autograd.grad(-F.logsigmoid(sign * (x @ leaf)).sum(), [leaf])[0]


def distributed(sign: float) -> Any:
    def program(rank: int, ranks: int) -> Any:
        def run(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            found = gradient(x, weight, sign)
            dist.all_reduce(found)
            return found

        return run

    return program


@pytest.mark.parametrize("sign, verdict", [(1.0, "refines"), (-1.0, "does not refine")])
def test_gradients_of_a_log_sigmoid_add_up_over_ranks(sign: float, verdict: str) -> None:
    given = {"x": torch.randn(4, 2), "weight": torch.randn(2, 1)}
    found = refine(lambda: lambda x, weight: gradient(x, weight, 1.0), distributed(sign), given,
                   relations={"x": "shard(0)"}, timeout=60)
    assert found.verdict == verdict, plain_text(found)
