"""Pools, convolutions and unfolding as forms: what these say is what torch computes, whatever slides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.optimize.compiled_programs import untimed
from torch import nn
from torch.nn import functional as F

from optimize.test_reassociation import written
from samesame.capture import capture
from samesame.optimize.algebra import specified
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import EAGER
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.facts import facts_of
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import ZERO, exchanged, number, text
from samesame.optimize.job import loaded
from samesame.optimize.native import candidates
from samesame.optimize.partition import stages
from samesame.optimize.read import read
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.search import searched
from samesame.optimize.specification import KEPT

SIZES = st.integers(1, 4)


def as_forms(module: Any, x: torch.Tensor, folder: Path) -> tuple[torch.Tensor, list[str]]:
    """What the forms of a program compute, printed in torch's operators; its calls."""
    specification = read(capture(module, (x,)))
    forms = [root.form for root in specification.roots()]
    fast = written(source(specification, forms), folder, module if isinstance(module, nn.Module) else None)
    with torch.no_grad():
        return fast(x), [call.operator for call in specification.calls]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_pool_is_a_fold_over_windows(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    rank = data.draw(st.sampled_from([1, 2, 3]))
    kernel = [data.draw(SIZES) for _ in range(rank)]
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    stride = [data.draw(SIZES) for _ in range(rank)]
    shape = [k + data.draw(st.integers(0, 6)) for k in kernel]
    x = torch.randn(2, 3, *shape)
    if data.draw(st.booleans()):
        pool: Callable[..., Any] = getattr(F, f"avg_pool{rank}d")
        pooled = lambda x: pool(torch.tanh(x), kernel, stride, padding)  # noqa: E731
    else:
        pool, spread = getattr(F, f"max_pool{rank}d"), data.draw(st.sampled_from([1, 2]))
        shape = [spread * (k - 1) + 1 + n for k, n in zip(kernel, shape, strict=True)]
        x = torch.randn(2, 3, *shape)
        pooled = lambda x: pool(torch.tanh(x), kernel, stride, padding, spread)  # noqa: E731
    result, calls = as_forms(pooled, x, tmp_path_factory.mktemp("pool"))
    assert {*calls} <= {KEPT}
    torch.testing.assert_close(result, pooled(x))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_convolution_of_few_products_is_a_contraction(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rank, groups = data.draw(st.sampled_from([1, 2])), data.draw(st.sampled_from([1, 2, 3]))
    kernel, dilation = ([data.draw(st.integers(1, 3)) for _ in range(rank)] for _ in range(2))
    given = {"stride": [data.draw(st.integers(1, 3)) for _ in range(rank)], "dilation": dilation,
             "padding": [data.draw(st.integers(0, 2)) for _ in range(rank)], "groups": groups,
             "bias": data.draw(st.booleans())}
    channels = groups * data.draw(st.integers(1, 2)), groups * data.draw(st.integers(1, 3))
    module = (nn.Conv1d if rank == 1 else nn.Conv2d)(*channels, kernel, **given).eval()
    shape = [n * (k - 1) + 1 + data.draw(st.integers(0, 4)) for k, n in zip(kernel, dilation, strict=True)]
    x = torch.randn(2, channels[0], *shape)
    result, calls = as_forms(module, x, tmp_path_factory.mktemp("convolution"))
    assert {*calls} <= {KEPT}
    torch.testing.assert_close(result, module(x).detach(), rtol=1e-4, atol=1e-5)


OTHERS = {
    "unfold": lambda x: x.unfold(-1, 4, 3).softmax(-1) * x.unfold(2, 2, 2).sum(-1).sum((2, 3), keepdim=True)[..., None],
    "columns": lambda x: F.unfold(x, (3, 2), dilation=2, padding=(1, 2), stride=(2, 1)),
    "columns of windows beside one another": lambda x: F.unfold(x, (2, 5), stride=(2, 5)).exp(),
    "columns of one image": lambda x: F.unfold(x[0], 3, padding=1),
    "windows that follow": lambda x: F.adaptive_avg_pool2d(x, (4, 1)),
    "a divisor": lambda x: F.avg_pool2d(x, 3, 2, divisor_override=5),
    "whole windows although the last may be cut": lambda x: F.avg_pool2d(x, 2, 2, ceil_mode=True),
    "a border of copies": lambda x: F.avg_pool1d(torch.cat([x[0, :, :1].repeat(1, 3, 1), x[0]], 1), 3, 2),
    "a pool of a pool": lambda x: F.max_pool2d(F.avg_pool2d(x, 2), (1, 3), (1, 1), (0, 1)),
}
CALLS = {
    "a cut window": lambda x: F.avg_pool2d(x[..., 1:], 2, 2, ceil_mode=True),
    "the border does not count": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "places of the maxima": lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
    "many products": lambda x: F.conv2d(x, torch.ones(2, 3, 7, 7)),
    "transposed": lambda x: F.conv_transpose2d(x, torch.ones(3, 2, 1, 1)),
    "windows of two sizes": lambda x: F.adaptive_avg_pool2d(x, 3),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_windows(name: str, tmp_path: Path) -> None:
    x = torch.randn(2, 3, 8, 10)
    result, calls = as_forms(OTHERS[name], x, tmp_path)
    assert {*calls} <= {KEPT}
    torch.testing.assert_close(result, OTHERS[name](x), check_stride=False)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_fold_over_windows_stays_a_call(name: str, tmp_path: Path) -> None:
    """And nothing is kept for what is not read as one."""
    x = torch.randn(2, 3, 8, 10)
    result, calls = as_forms(CALLS[name], x, tmp_path)
    assert len(calls) == 1 and KEPT not in calls
    torch.testing.assert_close(result, CALLS[name](x))


PROVED = {
    "means": lambda x: F.avg_pool2d(x, (3, 2), 1, (1, 0)), "maxima": lambda x: F.max_pool2d(torch.relu(x), 3, 2, 1),
    "of a grid": lambda x: F.adaptive_avg_pool2d(x, (4, 5)), "columns": lambda x: F.unfold(x, 2, padding=1, stride=3),
    "depthwise": lambda x: F.conv2d(x, x[:1, :, :3, :3].transpose(0, 1), padding=1, groups=3),
    "pointwise": lambda x: F.conv2d(x, x[:2, :, :1, :1], stride=2),
    "patches": lambda x: F.conv2d(x, torch.sin(x), stride=(8, 10)),
}


@pytest.mark.parametrize("name", PROVED)
def test_windows_are_proved_to_be_what_the_operator_means(name: str) -> None:
    graph = capture(PROVED[name], (torch.randn(2, 3, 8, 10),))
    specification = read(graph)
    assert {call.operator for call in specification.calls} <= {KEPT}
    assert faithful(graph, specification, [root.form for root in specification.roots()]) is not None


def test_a_border_of_another_number_is_not_taken_for_zeros() -> None:
    """What is kept and no node's is part of what is proved."""
    graph = capture(lambda x: F.avg_pool1d(x, 3, 1, 1), (torch.randn(2, 3, 8),))
    specification = read(graph)
    border, *rest = [root.form for root in specification.roots()]
    assert faithful(graph, specification, [border, *rest]) is not None
    wrong = exchanged(border, {ZERO: number(1)})
    assert faithful(graph, specification, [wrong, *rest]) is None


class Stem(nn.Module):
    """A depthwise convolution, a norm, an activation, a pointwise convolution, a pool."""

    def __init__(self) -> None:
        super().__init__()
        self.depth, self.norm = nn.Conv2d(6, 6, 3, padding=1, groups=6, bias=False), nn.BatchNorm2d(6)
        self.point = nn.Conv2d(6, 10, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(F.relu(self.point(F.relu(self.norm(self.depth(x))))), 2)


def first(module: nn.Module, x: torch.Tensor) -> Candidate:
    graph = capture(module, (x,))
    specification = specified(module, (x,), graph)
    return next(iter(candidates(graph, specification, searched(specification), untimed, {})))


class Squeezed(nn.Module):
    """What a depthwise convolution gives is averaged, and multiplied by what comes of that."""

    def __init__(self) -> None:
        super().__init__()
        self.depth, self.gate = nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.Conv2d(6, 6, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = F.hardswish(self.depth(x))
        return h * F.hardsigmoid(self.gate(F.adaptive_avg_pool2d(h, 1)))


def test_a_convolution_that_two_read_is_computed_once() -> None:
    specification = read(capture(Squeezed().eval(), (torch.randn(2, 6, 9, 8),)))
    given = [root.form for root in specification.roots()]
    cut = stages((replace(specification.outputs[0], form=given[-1]),), specification.extents, ())
    taps = [fold for stage in cut for fold in stage.folds.values() if "depth.weight" in text(fold)]
    assert len(taps) == 1


def test_a_stem_of_a_network_is_kernels(tmp_path: Path) -> None:
    module, x = Stem().eval(), torch.randn(2, 6, 9, 8)
    found = first(module, x)
    assert "convolution" not in found.source and found.settled().faithful
    file = write_files(tmp_path / "found", files_of(found, facts_of(module, (x,), found, EAGER)))
    fast = loaded(file).optimized(module)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), module(x), rtol=1e-4, atol=1e-5, check_stride=True)
