"""Norms and statistics in pairs as forms: what these say is what torch computes, whatever the groups."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

from optimize.agreeing import agree, drawn, is_precise, proved

DTYPES = st.sampled_from([torch.float32, torch.float64, torch.bfloat16])


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_norm_of_groups(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    groups, each = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    inner = data.draw(st.lists(st.integers(1, 3), max_size=3))
    dtype, affine = data.draw(DTYPES), data.draw(st.booleans())
    module = nn.GroupNorm(groups, groups * each, eps=data.draw(st.sampled_from([1e-5, 0.1])), affine=affine).to(dtype)
    x = torch.randn(data.draw(st.integers(2, 3)), groups * each, *inner).to(dtype)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    agree(module.eval(), x, folder=tmp_path_factory.mktemp("norm"))


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_norm_of_each_channel(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    rank, channels = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    kinds = nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d
    module = kinds[rank - 1](channels, affine=data.draw(st.booleans()), track_running_stats=data.draw(st.booleans()))
    module(torch.randn(2, channels, *[3] * rank))
    x = torch.randn(2, channels, *data.draw(st.lists(st.integers(2, 3), min_size=rank, max_size=rank)))
    agree(module.eval(), x, folder=tmp_path_factory.mktemp("norm"))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_statistics_that_come_in_pairs(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    shape = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    several = st.lists(st.integers(-len(shape), len(shape) - 1), min_size=1, unique_by=lambda d: d % len(shape))
    dims, keep = data.draw(st.none() | several), data.draw(st.booleans())
    less = data.draw(st.sampled_from([0, 1, 0.5]))
    x = torch.randn(shape).to(data.draw(DTYPES))
    for pair in (torch.var_mean, torch.std_mean):
        agree(lambda x, pair=pair: pair(x, dims, correction=less, keepdim=keep), x,
              folder=tmp_path_factory.mktemp("pair"))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_ends_of_a_dimension(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    dim, keep = data.draw(st.integers(-len(shape), len(shape) - 1)), data.draw(st.booleans())
    x = torch.randn(shape).to(data.draw(DTYPES))
    x.view(-1)[0] = data.draw(st.sampled_from([0.0, torch.nan, torch.inf, -torch.inf]))
    agree(lambda x: (x.max(dim, keepdim=keep).values, x.min(dim, keepdim=keep)[0],
                     *torch.aminmax(x, dim=dim, keepdim=keep)), x, folder=tmp_path_factory.mktemp("ends"))


OTHERS = {
    "a weight's rows": (weight_norm(nn.Linear(6, 3)).eval(), torch.randn(2, 6)),
    "a weight's columns": (weight_norm(nn.Linear(6, 3), dim=1).eval(), torch.randn(2, 6)),
    "distances": (lambda a, b, c: (F.pairwise_distance(a, b), F.triplet_margin_loss(a, b, c, swap=True),
                                   F.cosine_embedding_loss(a, b, torch.tensor([1.0, -1.0]))),
                  *torch.randn(3, 2, 5)),
    "all of a tensor": (lambda x: (*torch.aminmax(x), *torch.var_mean(x), torch.norm(x)), torch.randn(2, 5)),
    "a number": (lambda x: (x.max(0)[0], x.min(0)[0]), torch.tensor(1.5)),
}
CALLS = {
    "places of the maxima": (lambda x: x.max(-1)[1], torch.randn(2, 5)),
    "places, too": (lambda x: x.min(0), torch.randn(2, 5)),
    "maxima of integers": (lambda x: x.max(0)[0], torch.arange(6).view(2, 3)),
    "maxima of booleans": (lambda x: x.max(0)[0], torch.arange(6).view(2, 3) > 2),
    "less than nothing": (lambda x: torch.var(x, 0, correction=4), torch.randn(3, 2)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_norms(name: str, tmp_path: Path) -> None:
    agree(*OTHERS[name], folder=tmp_path)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", CALLS)
def test_what_stays_a_call(name: str, tmp_path: Path) -> None:
    agree(*CALLS[name], folder=tmp_path, calls=True)


GROUPS = nn.GroupNorm(2, 6).eval()


@pytest.mark.parametrize("program", [GROUPS, lambda x: F.instance_norm(x), lambda x: torch.std_mean(x, (1, 2))])
def test_norms_are_as_precise_as_torch(program, tmp_path: Path) -> None:
    is_precise(lambda x: program(x) if program is not GROUPS else F.group_norm(x, 2), drawn(3, 6, 50),
               folder=tmp_path)


@pytest.mark.parametrize("program", [
    GROUPS, lambda x: F.instance_norm(x), lambda x: torch.std_mean(x, -1), lambda x: x.max(1)[0], lambda x: x.min(1)[0],
    lambda x: F.pairwise_distance(x, 2 * x)])
def test_norms_are_proved_to_be_what_the_operator_means(program) -> None:
    assert proved(program, torch.randn(2, 6, 4))


@pytest.mark.parametrize(("one", "other"), [((30, 3), (27, 3)), ((2, 4, 5), (2, 3, 5)), ((2, 1, 4, 5), (3, 26, 5)),
                                            ((1, 6), (1, 6))])
def test_distances(one: tuple[int, ...], other: tuple[int, ...], tmp_path: Path) -> None:
    """Of few rows and of many, for which torch takes a product; of batches that broadcast."""
    agree(torch.cdist, drawn(*one), drawn(*other), folder=tmp_path)
    agree(lambda x, y: torch.cdist(x, y, p=1), drawn(*one), drawn(*other), folder=tmp_path, calls=True)
    assert proved(torch.cdist, drawn(*one), drawn(*other))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_power_of_nothing_is_one(dtype: torch.dtype, tmp_path: Path) -> None:
    x = drawn(3, 4).to(dtype)
    x[0, 0], x[1, 1] = torch.nan, 0
    agree(lambda x: x ** 0 + x, x, folder=tmp_path)
