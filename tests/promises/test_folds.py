"""Folds that are more than a batch norm in a plain convolution: same up to the rounding of stored numbers, or undecided
with the reason, and never different; with a mistake in them they are different."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from samesame import check
from samesame.evidence import Rung


def trained(norm: nn.Module) -> nn.Module:
    dice = torch.Generator().manual_seed(norm.num_features)
    for tensor in (norm.weight.data, norm.running_var):
        tensor.copy_(torch.rand(tensor.shape, generator=dice) + 0.5)
    for tensor in (norm.bias.data, norm.running_mean):
        tensor.copy_(torch.randn(tensor.shape, generator=dice))
    return norm


def scale_and_shift(norm: nn.Module) -> tuple[Tensor, Tensor]:
    scale = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach()
    return scale, (norm.bias - norm.running_mean * scale).detach()


class Transposed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.ConvTranspose2d(3, 4, 3), trained(nn.BatchNorm2d(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))

    def folded(self) -> nn.Module:
        parts = copy.deepcopy(self.conv).eval(), copy.deepcopy(self.norm).eval()
        return nn.utils.fusion.fuse_conv_bn_eval(*parts, transpose=True)


class Branches(nn.Module):
    """RepVGG: a convolution and a norm of the input itself, added up."""

    groups = 1

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1, groups=self.groups, bias=False)
        self.norm, self.itself = (trained(nn.BatchNorm2d(4)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x)) + self.itself(x)

    def folded(self) -> nn.Module:
        one, other = scale_and_shift(self.norm), scale_and_shift(self.itself)
        made = nn.Conv2d(4, 4, 3, padding=1, groups=self.groups)
        made.weight.data = self.conv.weight.detach() * one[0][:, None, None, None]
        itself = torch.diag(other[0]) if self.groups == 1 else other[0][:, None]
        made.weight.data += pad(itself[:, :, None, None], [1] * 4)
        made.bias.data = one[1] + other[1]
        return made


class DepthwiseBranches(Branches):
    groups = 4


class Beside(nn.Module):
    """What is scaled beside a linear layer, added to what comes out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.scale = nn.Linear(4, 4), nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.scale * x

    def folded(self) -> nn.Module:
        made = copy.deepcopy(self.linear)
        made.weight.data += torch.diag(self.scale.detach())
        return made


class Chain(nn.Module):
    """Two weights multiplied in bfloat16, and the product halved and stored in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4, 4))

    def product(self) -> Tensor:
        return (self.first.bfloat16() @ self.second.bfloat16()) * 0.3

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1) @ self.product().float()

    def folded(self) -> nn.Module:
        made = nn.Linear(4, 4, bias=False).bfloat16()
        made.weight.data = self.product().detach().t().contiguous()
        return nn.Sequential(nn.Flatten(), Wide(made))


class Wide(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.inner.weight.float().t()


class Coinciding(nn.Module):
    """The scale that is folded away holds the numbers of another weight."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), trained(nn.BatchNorm1d(4))
        self.gain = nn.Parameter(scale_and_shift(self.norm)[0].clone())

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.linear(x)) * self.gain

    def folded(self) -> nn.Module:
        scale, shift = scale_and_shift(self.norm)
        made = Scaled(self.gain)
        made.linear.weight.data = self.linear.weight.detach() * scale[:, None]
        made.linear.bias.data = self.linear.bias.detach() * scale + shift
        return made


class Scaled(nn.Module):
    def __init__(self, gain: Tensor) -> None:
        super().__init__()
        self.linear, self.gain = nn.Linear(4, 4), nn.Parameter(gain.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * self.gain


WHY = {
    Transposed: "equal on every draw, and no proof was found",              # its convolution is opaque
    Chain: "more than one rounding, and too coarse to tell from a mistake",
}
KINDS = {
    Transposed: (2, 3, 5, 5), Branches: (2, 4, 5, 5), DepthwiseBranches: (2, 4, 5, 5), Beside: (3, 4), Chain: (3, 4),
    Coinciding: (3, 4),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fold_is_the_same_or_left_open_and_with_a_mistake_it_is_different(kind) -> None:
    torch.manual_seed(0)
    whole = kind().eval()
    inputs = (torch.randn(KINDS[kind]),)
    verdict = check(whole, whole.folded().eval(), inputs)
    (root,) = verdict.roots
    if verdict.verdict == "same":
        assert verdict.evidence is Rung.ROUNDED and verdict.readings
    else:
        assert verdict.verdict == "undecided" and WHY[kind] in root.evidence.detail
    wrong = whole.folded().eval()
    next(wrong.parameters()).data *= 1.5
    assert check(whole, wrong, inputs).verdict == "different"
