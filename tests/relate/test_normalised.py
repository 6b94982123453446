"""Gradients through rows that are divided by their norm: torch's is 0 where the norm is, and by hand nobody asks."""

from __future__ import annotations

import torch

from samesame import check


def by_autograd(x, y):
    x = x.detach().clone().requires_grad_()
    unit = x / x.norm(dim=-1, keepdim=True)
    loss = (unit @ y.T).logsumexp(-1).sum()
    return torch.autograd.grad(loss, x)[0]


def by_hand(x, y, part=1.0):
    inverse = x.square().sum(-1, keepdim=True).rsqrt()
    unit = x * inverse
    g = torch.softmax(unit @ y.T, -1) @ y
    return (g - part * unit * (g * unit).sum(-1, keepdim=True)) * inverse


def inputs():
    torch.manual_seed(0)
    return torch.randn(4, 3), torch.randn(5, 3)


def test_through_the_norm():
    assert check(by_autograd, by_hand, inputs).verdict == "same"


def test_without_what_lies_along_the_row():
    assert check(by_autograd, lambda x, y: by_hand(x, y, 0.5), inputs).verdict == "different"
