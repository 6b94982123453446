"""A sum over a stack of many terms is the sum of these, in whatever order: one claim of some 300 operators,
as no part of it is in the other program."""

from __future__ import annotations

import torch
from torch import nn

from samesame import check


class Polynomial(nn.Module):
    """A signal of two parts: coefficients times its products with powers of its magnitude, now and before."""

    def __init__(self, memory: int = 5, order: int = 6) -> None:
        super().__init__()
        self.memory, self.order = memory, order
        self.w = nn.Parameter(torch.randn(memory * order, 2, generator=torch.Generator().manual_seed(0)))

    def terms(self, x: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        before = [nn.functional.pad(x, (0, 0, k, 0))[:, : x.shape[1]] for k in range(self.memory)]
        sizes = [(y.square().sum(-1) + 1e-9).sqrt() for y in before]
        return [(y[..., 0] * size**n, y[..., 1] * size**n) for y, size in zip(before, sizes, strict=True)
                for n in range(self.order)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = (torch.stack(part, -1) for part in zip(*self.terms(x), strict=True))
        return first @ self.w[:, 1] + second @ self.w[:, 0]


class Written(Polynomial):
    sign = 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pairs = list(enumerate(self.terms(x)))
        last = self.sign * pairs[-1][1][0] * self.w[-1, 1]
        parts = [part for k, (a, b) in reversed(pairs[:-1]) for part in (b * self.w[k, 0], a * self.w[k, 1])]
        return sum(parts, last) + pairs[-1][1][1] * self.w[-1, 0]


class Wrong(Written):
    sign = -1


def test_a_sum_over_a_stack_is_the_sum_of_its_terms() -> None:
    x = torch.randn(2, 40, 2)
    verdict = check(Polynomial(), Written(), (x,))
    assert verdict.verdict == "same" and verdict.proved and not verdict.only
    assert check(Polynomial(), Wrong(), (x,)).verdict == "different"
