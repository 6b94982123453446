"""A program that has pieces of another's weights makes pieces of the other's tensors, and is related by these."""

from __future__ import annotations

import torch
from torch import nn

from samesame import check

D, HEADS, WIDTH = 6, 3, 2


class Fused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(D, HEADS * WIDTH, bias=False), nn.Linear(HEADS * WIDTH, D, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.up(x).unflatten(-1, (HEADS, WIDTH)).softmax(-1)
        return self.down(heads.flatten(-2))


class ByHead(nn.Module):
    """Each head has weights of its own, and their results are added."""

    def __init__(self, fused: Fused, order: tuple[int, ...] = (0, 1, 2)) -> None:
        super().__init__()
        self.up = nn.ParameterList(fused.up.weight.detach().split(WIDTH))
        self.down = nn.ParameterList(fused.down.weight.detach().split(WIDTH, 1)[head].clone() for head in order)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum((x @ up.T).softmax(-1) @ down.T for up, down in zip(self.up, self.down, strict=True))


def test_heads_with_weights_of_their_own_are_pieces_of_all_heads() -> None:
    torch.manual_seed(0)
    fused = Fused()
    verdict = check(fused, ByHead(fused), (torch.randn(4, D),))
    assert verdict.verdict == "same"
    made = [relation.layout for relation in verdict.relations if relation.evidence.method != "input"]
    assert sum("slice(" in layout and "softmax" in layout for layout in made) == HEADS, made


def test_heads_in_another_order_differ() -> None:
    torch.manual_seed(0)
    fused = Fused()
    assert check(fused, ByHead(fused, (0, 2, 1)), (torch.randn(4, D),)).verdict == "different"
