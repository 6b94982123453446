"""Losses, and logarithms of sums, as forms: what these say is what torch computes, infinities and NaN included."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from optimize.agreeing import agree, drawn, is_precise, proved

LOSSES = {
    "mse": F.mse_loss, "l1": F.l1_loss, "smooth l1": F.smooth_l1_loss, "huber": F.huber_loss,
    "soft margin": F.soft_margin_loss, "logits": F.binary_cross_entropy_with_logits,
    "probabilities": lambda x, t, **more: F.binary_cross_entropy(x.sigmoid(), t, **more),
    "clamped": lambda x, t, **more: F.binary_cross_entropy(x.clamp(1e-5, 1 - 1e-5), t, **more),
    "divergence": lambda x, t, **more: F.kl_div(x, t.relu(), **more),
    "hinge": F.hinge_embedding_loss, "Poisson": F.poisson_nll_loss,
    "several labels": lambda x, t, **more: F.multilabel_soft_margin_loss(x.flatten(1), t.flatten(1), **more),
}
SETTINGS = {"smooth l1": ("beta", [0.0, 0.3, 1.0, 7.0]), "huber": ("delta", [0.3, 1.0, 7.0])}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_loss(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    name = data.draw(st.sampled_from([*LOSSES]))
    more = {"reduction": data.draw(st.sampled_from(["none", "mean", "sum"]))}
    if name in SETTINGS:
        setting, values = SETTINGS[name]
        more[setting] = data.draw(st.sampled_from(values))
    shape = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    x = torch.randn(shape).to(dtype) * data.draw(st.sampled_from([0.1, 1.0, 30.0, 300.0]))
    target = torch.rand(shape).to(dtype) * 2 - 1 if name == "divergence" else torch.rand(shape).to(dtype)
    agree(partial(LOSSES[name], **more), x, target, folder=tmp_path_factory.mktemp("loss"))


X = torch.randn(3, 4)
OTHERS = {
    "weights": (lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, w), X, X.sigmoid(), X[0].abs()),
    "weights of what is": (lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, pos_weight=w), X, X.sigmoid(),
                           X[0].abs()),
    "weights of both": (lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, w, pos_weight=w, reduction="sum"), X,
                        X.sigmoid(), X[0].abs()),
    "weighed probabilities": (lambda x, t, w: F.binary_cross_entropy(x.sigmoid(), t, w), X, X.sigmoid(), X.abs()),
    "of few bits": (lambda x, t: F.mse_loss(x, t), X.bfloat16(), X.bfloat16() + 1),
    "one number for all": (lambda x: F.mse_loss(x, x.mean()), X),
    "a log-sigmoid": (lambda x: (F.logsigmoid(x), F.logsigmoid(x.double())), 50 * X),
    "steps": (lambda x, v: torch.heaviside(torch.where(x < 0.3, x, 0.0), v), X, X[0]),
    "powers": (lambda x: (x.abs() ** 0.75, x.abs() ** -0.25, x**1.25), X),
    "any powers": (lambda x: (x.abs() ** (1 / 3), x**2.7, x**7, x.abs() ** -5), X),
    "of no tensor": (lambda x: (torch.xlogy(2, x.abs()), torch.xlogy(x, 2.0)), X),
}
CALLS = {
    "what may be no probability": (lambda x, t: F.binary_cross_entropy(x, t), X.sigmoid(), X.sigmoid()),
    "what may be too large": (lambda x, t: F.binary_cross_entropy(x.sigmoid().maximum(t), t), X, X.sigmoid()),
    "integers": (lambda x: torch.xlogy(x, x), torch.arange(4)),
    "a step of integers": (lambda x: torch.heaviside(x, x), torch.arange(4)),
    "a sign of zero": (lambda x: torch.copysign(x, -x), X),
    "a remainder": (lambda x: torch.remainder(x, 0.1), X),
    "one without a sign": (lambda x: torch.fmod(x, 0.1), X),
    "what is a number": (lambda x: torch.nan_to_num(x), X),
    "a large power": (lambda x: x ** 40, X),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_losses(name: str, tmp_path: Path) -> None:
    agree(*OTHERS[name], folder=tmp_path)


@pytest.mark.parametrize("name", CALLS)
def test_what_stays_a_call(name: str, tmp_path: Path) -> None:
    agree(*CALLS[name], folder=tmp_path, calls=True)


SPECIAL = torch.tensor([*itertools.product([0.0, -0.0, 1.0, -2.0, 200.0, torch.inf, -torch.inf, torch.nan], repeat=2)])
OF_TWO = {
    "logaddexp": torch.logaddexp, "xlogy": torch.xlogy, "heaviside": torch.heaviside,
    "mse": partial(F.mse_loss, reduction="none"), "smooth l1": partial(F.smooth_l1_loss, reduction="none"),
    "huber": partial(F.huber_loss, reduction="none"), "soft margin": partial(F.soft_margin_loss, reduction="none"),
    "logits": partial(F.binary_cross_entropy_with_logits, reduction="none"),
    "log-sigmoid": lambda a, b: F.logsigmoid(a) * 1,
}


@pytest.mark.parametrize("name", OF_TWO)
def test_what_is_infinite_or_no_number(name: str, tmp_path: Path) -> None:
    agree(OF_TWO[name], *SPECIAL.unbind(1), folder=tmp_path)


A, B = drawn(2, 300, 7)


@pytest.mark.parametrize("name", [*LOSSES, *OF_TWO])
def test_losses_are_as_precise_as_torch(name: str, tmp_path: Path) -> None:
    of = partial(LOSSES[name], reduction="none") if name in LOSSES else OF_TWO[name]
    share = name in ("logits", "probabilities", "clamped", "several labels")
    is_precise((lambda x, t: of(x, t.sigmoid())) if share else of, A, B, folder=tmp_path, shares=True)


@pytest.mark.parametrize("name", [*LOSSES, *OF_TWO])
def test_losses_are_proved_to_be_what_the_operator_means(name: str) -> None:
    assert proved({**LOSSES, **OF_TWO}[name], A[:4], B[:4].sigmoid())


def test_a_memory_that_is_written_over_is_no_call(tmp_path: Path) -> None:
    """And one that is not, is: what it holds is any number."""
    module, x = nn.CircularPad2d((1, 2, 2, 0)), torch.randn(2, 3, 4, 5)
    agree(module, x, folder=tmp_path)
    assert proved(module, x)
