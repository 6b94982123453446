"""A recurrence whose state is handed on from rank to rank: what later ranks do is not looked into before they have."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from called import calls
from samesame.formula.inside import ratios_in
from samesame.formula.terms import Apply, add, constant, of_atom
from samesame.refine import refine
from samesame.report.refinement import plain_text

RANKS, HIDDEN, LAYERS = 3, 3, 2


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.rnn = nn.GRU(2, HIDDEN, LAYERS, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x)[0]


class Relay(Encoder):
    def __init__(self, handed_on: bool) -> None:
        super().__init__()
        self.handed_on = handed_on

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rank, state = dist.get_rank(), x.new_zeros(LAYERS, x.shape[0], HIDDEN)
        if rank > 0:
            dist.recv(state, src=rank - 1)
        states, last = self.rnn(x, state if self.handed_on else state * 0)
        if rank + 1 < RANKS:
            dist.send(last.contiguous(), dst=rank + 1)
        return states


@pytest.mark.parametrize("handed_on, verdict", [(True, "refines"), (False, "does not refine")])
def test_a_gru_of_two_layers_handed_on(handed_on: bool, verdict: str) -> None:
    found = refine(Encoder, lambda rank, size: Relay(handed_on), (torch.randn(2, 9, 2),), world_size=RANKS, timeout=90,
                   relations={"x": "shard(1)"}, expected={"0": "shard(1)"})
    assert found.verdict == verdict, plain_text(found)


def test_parts_that_are_shared_are_looked_at_once() -> None:
    """Each step reads the one before twice: a way to the first is one of 2⁶⁰."""
    form = of_atom(Apply("fn:sin", constant(2)))
    for _ in range(60):
        form = add(of_atom(Apply("fn:sin", form)), of_atom(Apply("fn:cos", form)))
    found = []
    assert calls(lambda: found.append(ratios_in(form))) < 30_000 and found == [()]
