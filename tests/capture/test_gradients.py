"""Programs that compute gradients: what autograd runs is recorded with the lines that it is a derivative of, operators
over lists are opened, and nothing stays behind."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.capture import capture
from samesame.capture.lists import one_by_one
from samesame.capture.ordinary import ordinary
from samesame.capture.tape import as_meant
from samesame.evidence import Rung
from samesame.graph import TensorType
from samesame.operators.execute import execute


def rows(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def loss_and_slopes(x, weight):
    x, weight = (part.detach().requires_grad_() for part in (x, weight))
    hidden = torch.tanh(x @ weight)
    loss = hidden.square().mean()
    loss.backward()
    return loss.detach(), x.grad, weight.grad


def test_the_graph_computes_loss_and_gradients():
    inputs = rows(4, 5), rows(5, 3, seed=1)
    graph = capture(loss_and_slopes, inputs)
    values = execute(graph, graph.tensors, precision="own")
    for (_, root), wanted in zip(graph.roots, loss_and_slopes(*inputs), strict=True):
        assert torch.allclose(values[root.name], wanted)
    assert graph.setting.gradients


def test_a_derivative_has_the_line_of_what_it_is_the_derivative_of():
    graph = capture(loss_and_slopes, (rows(4, 5), rows(5, 3, seed=1)))
    last = [node for node in graph.nodes if node.operator == "aten.mm.default"][-1]
    assert last.origin.code == "hidden = torch.tanh(x @ weight)"


def test_a_program_without_gradients_is_recorded_without_them():
    graph = capture(nn.Linear(5, 3), (rows(4, 5),))
    assert [node.operator for node in graph.nodes if not node.is_source] == ["aten.linear.default"]
    assert not graph.setting.gradients


def test_capture_leaves_gradients_as_they_were():
    layer = nn.Linear(5, 3)
    layer.weight.grad = before = torch.ones(3, 5)

    def slopes(x):
        F.mse_loss(layer(x), x[:, :3]).backward()
        return layer.weight.grad

    capture(slopes, (rows(4, 5),))
    assert layer.weight.grad is before and torch.equal(before, torch.ones(3, 5))
    assert layer.bias.grad is None


# ----------------------------------------------------------------------------------------------- operators over lists

aten = torch.ops.aten
A, B, C = ([rows(3, seed=k), rows(2, 4, seed=k + 1)] for k in (0, 10, 20))
POSITIVE = [part.abs() + 0.5 for part in B]

CALLS = {
    "add by a number": (aten._foreach_add_.Scalar, (A, 2.0)),
    "add of lists": (aten._foreach_add_.List, (A, B), {"alpha": 3}),
    "mul by numbers": (aten._foreach_mul_.ScalarList, (A, [2.0, 3.0])),
    "mul by a tensor": (aten._foreach_mul.Tensor, (A, torch.tensor(3.0))),
    "addcdiv": (aten._foreach_addcdiv_.ScalarList, (A, B, POSITIVE, [0.5, -2.0])),
    "addcmul": (aten._foreach_addcmul_.Scalar, (A, B, C, 0.5)),
    "lerp": (aten._foreach_lerp_.Scalar, (A, B, 0.1)),
    "sqrt": (aten._foreach_sqrt.default, (POSITIVE,)),
    "powers": (aten._foreach_pow.ScalarAndTensor, (2.0, A)),
    "norm": (aten._foreach_norm.Scalar, (A,)),
    "maximum": (aten._foreach_maximum_.List, (A, B)),
    "maximum with a number": (aten._foreach_maximum.Scalar, (A, 0.1)),
    "zero": (aten._foreach_zero_.default, (A,)),
    "copy": (aten._foreach_copy_.default, (A, B)),
    "neg": (aten._foreach_neg.default, (A,)),
    "sub": (aten._foreach_sub_.Scalar, (A, 1.5)),
    "div": (aten._foreach_div_.ScalarList, (A, [2.0, 4.0])),
}
RATES = {"lr": 0.1, "weight_decay": 0.05, "eps": 1e-3, "maximize": True}
MOMENTS = {"beta1": 0.9, "beta2": 0.99, "amsgrad": True, **RATES}
STEPS = [torch.tensor(3.0), torch.tensor(4.0)]
PUSHED = {"weight_decay": 0.05, "momentum": 0.9, "lr": 0.1, "dampening": 0.2, "nesterov": True, "maximize": False}
CALLS |= {
    "adam": (aten._fused_adam_.default, (A, B, C, POSITIVE, POSITIVE, STEPS), MOMENTS),
    "adamw": (aten._fused_adamw_.default, (A, B, C, POSITIVE, [], STEPS), {**MOMENTS, "amsgrad": False}),
    "sgd": (aten._fused_sgd_.default, (A, B, C), {**PUSHED, "is_first_step": False}),
    "sgd at first": (aten._fused_sgd_.default, (A, B, C), {**PUSHED, "is_first_step": True}),
    "adagrad": (aten._fused_adagrad_.default, (A, B, POSITIVE, STEPS), {**RATES, "lr_decay": 0.1}),
}


def copied(argument):
    return [part.clone() if isinstance(part, torch.Tensor) else part for part in argument] if (
        isinstance(argument, list)) else argument


@pytest.mark.parametrize("name", CALLS)
def test_what_is_done_one_by_one_is_what_torch_does_at_once(name):
    operation, given, *options = CALLS[name]
    options = options[0] if options else {}
    own, ours = ([copied(part) for part in given] for _ in range(2))
    results = operation(*own, **options), one_by_one(operation)(*ours, **options)
    for wanted, found in zip((results[0] or [], *own), (results[1] or [], *ours), strict=True):
        if isinstance(wanted, list):
            assert all(torch.allclose(torch.as_tensor(a), torch.as_tensor(b), rtol=1e-5) for a, b in
                       zip(wanted, found, strict=True))


@pytest.mark.parametrize("gradients", [False, True])
def test_gradients_are_on_again_after_a_program_ran(gradients):
    for before in (True, False):
        with torch.set_grad_enabled(before):
            with ordinary(gradients):
                assert torch.is_grad_enabled() is gradients and torch.is_inference_mode_enabled() is not gradients
            assert torch.is_grad_enabled() is before and not torch.is_inference_mode_enabled()


def test_one_hot_labels_where_gradients_are_computed():
    """Torch takes one_hot apart above autograd, and asks for the least label on the way."""
    def by_hand(w, x, y):
        w = w.detach().requires_grad_()
        loss = -((x @ w).log_softmax(-1) * F.one_hot(y, 4)).sum(-1).mean()
        return torch.autograd.grad(loss, w)[0]

    def torchs(w, x, y, scale=1.0):
        w = w.detach().requires_grad_()
        return torch.autograd.grad(F.cross_entropy(x @ w * scale, y), w)[0]

    inputs = torch.randn(5, 4), torch.randn(6, 5), torch.tensor([0, 3, 1, 2, 2, 1])
    assert check(by_hand, torchs, inputs).verdict == "same"
    assert check(by_hand, partial(torchs, scale=1.01), inputs).verdict == "different"


@pytest.mark.parametrize("beta, threshold, verdict", [
    (1, 20, "same"), (2, 20, "same"), (1, 19, "undecided"), (-1, 20, "undecided"),
])
def test_the_slope_of_softplus_is_the_sigmoid_but_for_its_guard(beta, threshold, verdict):
    """Which is left out, and said, where it is too far away to matter."""
    def slope(x):
        return torch.func.grad(lambda z: F.softplus(z, beta, threshold).sum())(x)

    found = check(slope, lambda x: torch.sigmoid(beta * x), (torch.randn(3, 4),))
    assert found.verdict == verdict
    assert ("softplus's slope" in str(found)) is (verdict == "same")


@pytest.mark.parametrize("times, verdict", [(1.0, "same"), (1 + 1e-8, "undecided")])
def test_a_mean_over_five_rounds_in_its_gradient_less_than_an_output_shows(times, verdict):
    """Torch works out 1/5 in float32; in a small step that is less than outputs may differ by, and still no proof."""
    def by_torch(w, x):
        return w - 0.001 * torch.func.grad(lambda v: (x @ v).tanh().mean())(w)

    def by_hand(w, x):
        return w - 0.001 * times * (x.T @ (1 - (x @ w).tanh().square())) / len(x)

    found = check(by_torch, by_hand, (torch.randn(4), torch.randn(5, 4)))
    assert found.verdict == verdict
    assert found.evidence is (Rung.ROUNDED if verdict == "same" else Rung.UNDECIDED)


def test_an_epsilon_that_torch_rounds_to_float32_is_the_decimal_that_was_written():
    """Where gradients are computed torch takes an RMS norm apart, and hands on its epsilon as float32 has it."""
    def by_torch(x):
        return torch.func.grad(lambda z: F.rms_norm(z, (4,), eps=1e-3).square().sum())(x)

    def by_hand(eps):
        def norm(z):
            return z * torch.rsqrt(z.square().mean(-1, keepdim=True) + eps)

        return lambda x: torch.func.grad(lambda z: norm(z).square().sum())(x)

    x = (torch.randn(3, 4),)
    assert check(by_torch, by_hand(1e-3), x).verdict == "same"
    assert check(by_torch, by_hand(1.001e-3), x).verdict == "different"


@pytest.mark.parametrize("dtype, operator, number, meant", [
    ("float32", "aten.add.Scalar", 0.0010000000474974513, 0.001),
    ("float64", "aten.add.Scalar", 0.0010000000474974513, 0.0010000000474974513),
    ("float32", "aten.arange.start_step", 0.10000000149011612, 0.10000000149011612),     # counts in double
    ("float32", "aten.mul.Tensor", 0.3333333432674408, 0.3333333432674408),             # no short decimal
    ("float32", "aten.mul.Tensor", 0.1, 0.1),
    ("float32", "aten.mul.Tensor", 1e300, 1e300),
])
def test_only_short_decimals_that_are_rounded_anyhow_are_read_so(dtype, operator, number, meant):
    assert as_meant(operator, (None, number), TensorType((2,), dtype)) == (None, meant)
