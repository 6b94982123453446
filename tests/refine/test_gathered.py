"""What ranks hold in pieces is related again where it is gathered, in whatever order the pieces lie."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from samesame.evidence import Refinement
from samesame.refine import refine
from samesame.report.refinement import plain_text


class TwoViews(nn.Module):
    """Two views of each sample go through one layer, one after the other; then each view is read alone."""

    def __init__(self, gathers: bool = False, first: int = 0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.gathers, self.first = nn.Linear(3, 4), gathers, first

    def gather(self, z: torch.Tensor) -> torch.Tensor:
        if not self.gathers:
            return z
        parts = [torch.empty_like(z) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, z.contiguous())
        return torch.cat(parts[self.first :] + parts[: self.first])

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        z = self.layer(torch.cat([a, b]))
        x, y = self.gather(z[: len(a)]), self.gather(z[len(a) :])
        return F.mse_loss(x - x.mean(0), y - y.mean(0)) + (x[0] * y[1]).sum()


def judged(first: int) -> Refinement:
    return refine(TwoViews, lambda rank, _: TwoViews(True, first), (torch.randn(6, 3), torch.randn(6, 3)), timeout=60,
                  relations={"a": "shard(0)", "b": "shard(0)"})


def test_a_view_that_is_gathered_is_the_view():
    found = judged(0)
    assert found.verdict == "refines", plain_text(found)
    layouts = {relation.right: relation.layout for relation in found.relations}
    assert (layouts["r0.cat_1"], layouts["r0.cat_2"]) == ("slice", "slice_1")


def test_pieces_gathered_in_another_order_are_not():
    assert judged(1).verdict == "does not refine"


class Exchanged(nn.Module):
    """Rows for columns: what an all-to-all brings is a piece again."""

    def __init__(self, ranks: int = 1, shift: int = 0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.ranks, self.shift = nn.Linear(4, 4), ranks, shift

    def exchanged(self, x: torch.Tensor, cut: int, put: int) -> torch.Tensor:
        if self.ranks == 1:
            return x
        parts = [part.contiguous() for part in x.chunk(self.ranks, cut)]
        got = [torch.empty_like(part) for part in parts]
        dist.all_to_all(got, parts[self.shift :] + parts[: self.shift])
        return torch.cat(got, put)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.exchanged(self.layer(x), 1, 0)
        return self.exchanged(y.softmax(0), 0, 1)


@pytest.mark.parametrize("shift, verdict", [(0, "refines"), (1, "does not refine")])
def test_columns_brought_by_an_exchange_are_columns(shift: int, verdict: str):
    found = refine(Exchanged, lambda rank, ranks: Exchanged(ranks, shift), (torch.randn(6, 4),), timeout=60,
                   relations={"x": "shard(0)"}, expected={"0": "shard(0)"})
    assert found.verdict == verdict, plain_text(found)
    if verdict == "refines":
        layouts = {relation.right: relation.layout for relation in found.relations}
        assert layouts["r0.cat_1"] == "slice(addmm; 1, 0:2)"
