"""Gradients of programs with windows are proved: what autograd makes of them against other ways to the same."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning_samples import Call, run
from test_meanings import check as held_against_torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Rung


def real(*shape):
    return torch.randn(shape, dtype=torch.float64)


def held(operator, *args):
    """Hold the meaning of a call against torch, where torch takes it."""
    held_against_torch(Call(operator, args, {}, run(operator, args, {})))


# -------------------------------------------------------------------------------------------------- any options at all

ASKED = st.lists(st.booleans(), min_size=3, max_size=3).filter(any)


@st.composite
def convolutions(draw):
    """Arguments of `convolution_backward`, beginning with the result's gradient."""
    axes, groups, transposed = draw(st.integers(1, 2)), draw(st.sampled_from([1, 2])), draw(st.booleans())
    def each(low, high):
        return [draw(st.integers(low, high)) for _ in range(axes)]

    kernel, stride, padding, dilation = each(1, 3), each(1, 4), each(0, 2), each(1, 2)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    extra = [draw(st.integers(0, max(s, d) - 1)) if transposed else 0
             for s, d in zip(stride, dilation, strict=True)]
    # Sizes with at least one window, or, transposed, with at least one element in the result.
    sizes = [max(1, 1 - (-2 * p // s) if transposed else r - 2 * p) + more
             for p, s, r, more in zip(padding, stride, reach, each(0, 3), strict=True)]
    channels, outputs = 2 * groups, draw(st.sampled_from([1, 3])) * groups
    shape = (channels, outputs // groups) if transposed else (outputs, channels // groups)
    x, weight = real(draw(st.integers(1, 2)), channels, *sizes), real(*shape, *kernel)
    options = stride, padding, dilation, transposed, extra, groups
    grad = torch.randn_like(run("aten.convolution.default", (x, weight, None, *options), {}))
    return grad, x, weight, [outputs], *options, draw(ASKED)


@settings(max_examples=40, deadline=None)
@given(convolutions())
def test_gradients_of_a_convolution(args):
    held("aten.convolution_backward.default", *args)


@st.composite
def means(draw):
    """How many axes, and the arguments of `avg_pool`."""
    axes = draw(st.integers(2, 3))
    def each(low, high):
        return [draw(st.integers(low, high)) for _ in range(axes)]

    kernel = each(1, 3)
    padding = [draw(st.integers(0, k // 2)) for k in kernel]
    # Torch takes no window wider than what it lies over in three dimensions.
    sizes = [(max(1, k - 2 * p) if axes == 2 else k) + more
             for k, p, more in zip(kernel, padding, each(0, 3), strict=True)]
    x = real(*draw(st.sampled_from([(2,), (1, 2)])), *sizes)
    divisor = draw(st.sampled_from([None, None, 3]))
    return axes, (x, kernel, draw(st.sampled_from([[], each(1, 4)])), padding, draw(st.booleans()),
                  draw(st.booleans()), divisor)


@settings(max_examples=40, deadline=None)
@given(means())
def test_gradients_of_means_over_windows(given):
    axes, args = given
    grad = torch.randn_like(run(f"aten.avg_pool{axes}d.default", args, {}))
    held(f"aten.avg_pool{axes}d_backward.default", grad, *args)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 7), st.integers(1, 5)), min_size=2, max_size=3), st.booleans())
def test_gradients_of_as_many_windows_as_asked_for(sizes, greatest):
    axes, x = len(sizes), real(2, *(n for n, _ in sizes))
    wanted = [w for _, w in sizes]
    if greatest:
        values, indices = run(f"aten.adaptive_max_pool{axes}d.default", (x, wanted), {})
        held(f"aten.adaptive_max_pool{axes}d_backward.default", torch.randn_like(values), x, indices)
    else:
        held(f"aten._adaptive_avg_pool{axes}d_backward.default", real(2, *wanted), x)


MODES = {"upsample_nearest1d": 1, "upsample_nearest2d": 2, "_upsample_nearest_exact1d": 1,
         "_upsample_nearest_exact3d": 3, "upsample_linear1d": 1, "upsample_bilinear2d": 2, "upsample_bicubic2d": 2,
         "upsample_trilinear3d": 3}


@st.composite
def resized(draw):
    """An operator, its arguments behind the image, and the image's size."""
    name = draw(st.sampled_from(sorted(MODES)))
    sizes = [draw(st.integers(1, 5)) for _ in range(MODES[name])]
    scales = [draw(st.sampled_from([0.5, 1.5, 2.0, 3.0])) for _ in sizes]
    counts = all(int(n * f) not in (0, n, 2 * n) or f == 2 for n, f in zip(sizes, scales, strict=True))
    given = counts and draw(st.booleans())                 # else torch may not use the scale, and it is refused
    wanted = [max(1, int(n * f)) for n, f in zip(sizes, scales, strict=True)] if given else [
        draw(st.integers(1, 9)) for _ in sizes]
    aligned = () if "nearest" in name else (draw(st.booleans()),)
    return name, (wanted, *aligned, *(scales if given else [None] * len(sizes))), [1, 2, *sizes]


@settings(max_examples=60, deadline=None)
@given(resized())
def test_images_of_other_sizes_and_their_gradients(drawn):
    name, (wanted, *options), shape = drawn
    held(f"aten.{name}.default", real(*shape), wanted, *options)
    held(f"aten.{name}_backward.default", real(1, 2, *wanted), wanted, shape, *options)


# ---------------------------------------------------------------------------------------------------------- a whole CNN

GEN = torch.Generator().manual_seed(0)
IMAGES = torch.randn(2, 3, 8, 8, generator=GEN)
STRIDE, PADDING = 2, 1


class Network(nn.Module):
    """Convolution, ReLU, means over windows, a linear layer; what it returns is a gradient of each of its weights, and
    of the images."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=STRIDE, padding=PADDING)
        self.head = nn.Linear(16, 5)

    def convolved(self, x):
        return self.conv(x)

    def forward(self, x):
        x = x.detach().requires_grad_()
        pooled = F.avg_pool2d(self.convolved(x).relu(), 2)
        loss = self.head(pooled.flatten(1)).square().sum()
        return torch.autograd.grad(loss, [x, *self.parameters()])


class Columns(Network):
    """The convolution as a product of patches."""

    def convolved(self, x):
        columns = F.unfold(x, 3, padding=PADDING, stride=STRIDE)
        found = self.conv.weight.flatten(1) @ columns + self.conv.bias[:, None]
        return found.unflatten(2, (4, 4))


class ByHand(Network):
    """The same by the chain rule."""

    def patches(self, x):
        around = F.pad(x, (PADDING,) * 4)
        return around.unfold(2, 3, STRIDE).unfold(3, 3, STRIDE)            # n c h w i j

    def of_weight(self, patches, grad):
        return torch.einsum("nchwij,nohw->ocij", patches, grad)

    def of_input(self, grad):
        return F.conv_transpose2d(grad, self.conv.weight, stride=STRIDE, padding=PADDING, output_padding=1)

    def forward(self, x):
        patches = self.patches(x)
        convolved = torch.einsum("nchwij,ocij->nohw", patches, self.conv.weight) + self.conv.bias[:, None, None]
        pooled = convolved.relu().unflatten(3, (2, 2)).unflatten(2, (2, 2)).mean((3, 5)).flatten(1)
        of_output = 2 * self.head(pooled)
        of_pooled = (of_output @ self.head.weight).view(2, 4, 2, 2)
        wide = of_pooled.repeat_interleave(2, 2).repeat_interleave(2, 3) / 4
        grad = torch.where(convolved > 0, wide, 0.0)
        return (self.of_input(grad), self.of_weight(patches, grad), grad.sum((0, 2, 3)), of_output.T @ pooled,
                of_output.sum(0))


class WrongPadding(ByHand):
    def of_input(self, grad):
        return F.conv_transpose2d(grad, self.conv.weight, stride=STRIDE, padding=0)[..., :8, :8]


class Flipped(ByHand):
    def of_weight(self, patches, grad):
        return super().of_weight(patches, grad).flip((2, 3))


class WrongStride(ByHand):
    """The weight's gradient as that of a convolution that goes on by one."""

    def of_weight(self, patches, grad):
        return super().of_weight(patches[:, :, :, [0, 0, 1, 2]], grad)


def pair(other):
    torch.manual_seed(0)
    left, right = Network(), other()
    right.load_state_dict(left.state_dict())
    return check(left, right, (IMAGES,), timeout=60)


@pytest.mark.parametrize("other", [Columns, ByHand])
def test_gradients_of_a_network_are_proved(other):
    verdict = pair(other)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE, verdict.roots


@pytest.mark.parametrize("other, wrong", [(WrongPadding, "0"), (Flipped, "1"), (WrongStride, "1")])
def test_a_mistake_in_one_gradient_is_that_ones(other, wrong):
    verdict = pair(other)
    assert verdict.verdict == "different"
    assert {root.name for root in verdict.roots if root.evidence.rung is Rung.REFUTED} == {wrong}


# ------------------------------------------------------------------------------------------------------- layer by layer


def gradients(program):
    """Those of half the sum of squares of what a program returns, so that it is also the result's own gradient."""

    def run_back(*xs):
        xs = [x.detach().requires_grad_() for x in xs]
        found = torch.autograd.grad(program(*xs).square().sum() / 2, xs)
        return found if len(found) > 1 else found[0]

    return run_back


def doubled(x):
    wide = x.repeat_interleave(2, 2).repeat_interleave(2, 3)
    return wide.unflatten(3, (-1, 2)).sum(-1).unflatten(2, (-1, 2)).sum(3)


def drawn_out(x):
    wide = torch.cat([x[..., :1], x, x[..., -1:]], -1)
    grad = wide[..., 1:-1].clone()
    grad[..., 0] += wide[..., 0]
    grad[..., -1] += wide[..., -1]
    return grad


def mirrored(x):
    wide = torch.cat([x[..., 1:2], x, x[..., -2:-1]], -1)
    grad = wide[..., 1:-1].clone()
    grad[..., 1] += wide[..., 0]
    grad[..., -2] += wide[..., -1]
    return grad


def of_given_length(v, g):
    length = v.norm(dim=1, keepdim=True)
    w = v * g / length
    along = (w * v).sum(1, keepdim=True)
    return g / length * (w - v * along / length**2), along / length


def shrunk(x):
    return torch.where(x > 0.5, x - 0.5, torch.where(x < -0.5, x + 0.5, 0.0))


def averaged(x):
    means = x.unflatten(2, (-1, 2)).unflatten(4, (-1, 2)).mean((3, 5))
    return means.repeat_interleave(2, 2).repeat_interleave(2, 3) / 4


IMAGE, ROWS = (2, 3, 4, 6), (2, 3, 4)
LAYERS = {
    "nearest": (lambda x: F.interpolate(x, scale_factor=2), doubled, [IMAGE]),
    "replicate": (lambda x: F.pad(x, (1, 1), mode="replicate"), drawn_out, [ROWS]),
    "reflect": (lambda x: F.pad(x, (1, 1), mode="reflect"), mirrored, [ROWS]),
    "weight norm": (lambda v, g: torch._weight_norm(v, g, 0), of_given_length, [(3, 4), (3, 1)]),
    "softshrink": (F.softshrink, shrunk, [ROWS]),
    "adaptive mean": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), averaged, [IMAGE]),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_the_gradient_of_a_layer_by_hand_is_proved(layer):
    program, by_hand, shapes = LAYERS[layer]
    verdict = check(gradients(program), by_hand, tuple(torch.randn(shape, generator=GEN) for shape in shapes))
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED, verdict.roots


@pytest.mark.parametrize("layer, wrong", [
    ("replicate", mirrored), ("reflect", drawn_out), ("nearest", lambda x: 2 * x)])
def test_a_wrong_gradient_of_a_layer_differs(layer, wrong):
    program, _, shapes = LAYERS[layer]
    inputs = tuple(torch.randn(shape, generator=GEN) for shape in shapes)
    verdict = check(gradients(program), wrong, inputs)
    assert verdict.verdict == "different" and [root.evidence.rung for root in verdict.roots] == [Rung.REFUTED]


def test_the_gradient_of_bags_is_that_of_sums_of_rows():
    def bags(table, rows):
        table = table.detach().requires_grad_()
        return torch.autograd.grad(F.embedding_bag(rows, table, mode="sum").square().sum(), table)[0]

    def by_hand(table, rows):
        chosen = (rows[..., None] == torch.arange(table.shape[0])).sum(1).to(table.dtype)
        return chosen.T @ (2 * table[rows].sum(1))

    verdict = check(bags, by_hand, (torch.randn(3, 4, generator=GEN), torch.tensor([[1, 2, 0], [1, 1, 2]])))
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED, verdict.roots


def test_a_scale_that_torch_does_not_use_is_refused() -> None:
    """Of sides that keep their size torch copies the elements, whatever the scale is."""
    one = torch.ops.aten.upsample_linear1d.default
    found = check(lambda x: one(x, [12], False, 1.05),
                  lambda x: one(torch.nn.functional.pad(x, (0, 1), "replicate"), [12], False, 1.05),
                  (torch.randn(2, 3, 8),), timeout=20)
    assert not (found.verdict == "same" and found.covers({"x": (2, 3, 12)}))
