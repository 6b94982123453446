"""torch's own pipeline schedules: stages settle by messages how they run, and send objects to say what shapes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed import pipelining
from torch.distributed.pipelining import PipelineStage

from samesame.refine import refine
from samesame.report.refinement import plain_text

BATCH, WIDE, STAGES = 8, 4, 4
# Which of four stages a rank has, one of two: in turn, or there and back.
IN_TURN, THERE_AND_BACK = ((0, 2), (1, 3)), ((0, 3), (1, 2))
SCHEDULES = {
    "ScheduleInterleaved1F1B": IN_TURN, "ScheduleLoopedBFS": IN_TURN, "ScheduleInterleavedZeroBubble": IN_TURN,
    "ScheduleZBVZeroBubble": THERE_AND_BACK, "ScheduleDualPipeV": THERE_AND_BACK,
}


class Model(nn.Module):
    def __init__(self, stages: range | tuple[int, ...] = range(STAGES)) -> None:
        super().__init__()
        torch.manual_seed(0)
        layers = [nn.Linear(WIDE, WIDE) for _ in range(STAGES)]
        self.layers = nn.ModuleDict({str(k): layers[k] for k in stages})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers.values():
            x = torch.tanh(layer(x))
        return x


def loss_of(y: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return (y - wanted).square().mean()


def gradients(*parts: nn.Module) -> dict[str, Any]:
    return {f"grad.{name}": weight.grad for part in parts for name, weight in part.named_parameters()}


def sequential() -> Any:
    model = Model()

    def step(x: torch.Tensor, wanted: torch.Tensor) -> dict[str, Any]:
        model.zero_grad()
        loss_of(model(x), wanted).backward()
        return gradients(model)

    return step


def verdict(schedule: str, own: tuple[tuple[int, ...], ...], **options: Any) -> Any:
    stages = sum(map(len, own))

    def distributed(rank: int, ranks: int) -> Any:
        few = [tuple(range(k * STAGES // stages, (k + 1) * STAGES // stages)) for k in own[rank]]
        parts = [Model(layers) for layers in few]
        here = [PipelineStage(part, k, stages, torch.device("cpu")) for part, k in zip(parts, own[rank], strict=True)]
        made = getattr(pipelining, schedule, None) or getattr(pipelining.schedules, schedule)
        run = made(here if len(here) > 1 else here[0], n_microbatches=4, loss_fn=loss_of, **options)

        def step(x: torch.Tensor, wanted: torch.Tensor) -> dict[str, Any]:
            for part in parts:
                part.zero_grad()
            run.step(*([x] if 0 in own[rank] else []), **({"target": wanted} if stages - 1 in own[rank] else {}))
            return gradients(*parts)

        return step

    return refine(sequential, distributed, (torch.randn(BATCH, WIDE), torch.randn(BATCH, WIDE)), world_size=2)


def test_one_forward_one_backward_refines() -> None:
    found = verdict("Schedule1F1B", ((0,), (1,)))
    assert found.verdict == "refines", plain_text(found)


def test_a_sum_over_micro_batches_in_place_of_the_mean_does_not() -> None:
    found = verdict("ScheduleGPipe", ((0,), (1,)), scale_grads=False)
    assert found.verdict == "does not refine", plain_text(found)


@pytest.mark.long
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_stages_may_lie_on_ranks_in_any_way(schedule: str) -> None:
    found = verdict(schedule, SCHEDULES[schedule])
    assert found.verdict == "refines", plain_text(found)
