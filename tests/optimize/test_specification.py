"""Captured programs as forms: what the forms say is what torch computes; what they do not say stays torch's."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from optimize.named import worked_out
from samesame.capture import capture
from samesame.formula.scalars import SCALARS
from samesame.optimize import forms
from samesame.optimize.forms import text, walk
from samesame.optimize.read import read


def forms_of(function, *inputs):
    graph = capture(function, inputs)
    return graph, read(graph)


def agree(function, *inputs):
    graph, found = forms_of(function, *inputs)
    assert not found.calls, "every operator is in the table"
    results = function(*inputs)
    for output, wanted in zip(found.outputs, results if isinstance(results, tuple) else (results,), strict=True):
        assert output.dtype == str(wanted.dtype).removeprefix("torch.")
        mine = worked_out(output.form, graph.tensors, found.extents, output.dims)
        assert mine.shape == wanted.shape
        torch.testing.assert_close(mine, wanted.to(mine.dtype), rtol=1e-4, atol=1e-5)
    return found


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


CONTRACTIONS = {
    "linear": (lambda a, w, b: F.linear(a, w, b), x(2, 3, 4), x(5, 4), x(5)),
    "matmul": (lambda a, b: (a @ b, a[0] @ b[0], a @ b[0, :, 0], a[0, 0] @ b), x(2, 3, 4), x(2, 4, 5)),
    "one batch is repeated": (lambda a, b: a @ b, x(1, 3, 4), x(2, 4, 5)),
    "gram": (lambda a: (a @ a.t(), a.t() @ a), x(3, 4)),
    "einsum": (lambda a, b, c: torch.einsum("bik,kj,jb->bi", a, b, c), x(2, 3, 4), x(4, 5), x(5, 2)),
    "addmm": (lambda a, b, c: (torch.addmm(a, b, c, beta=2, alpha=3), torch.baddbmm(c[None], b[None], c[None])),
              x(3, 5), x(3, 3), x(3, 5)),
    "low rank": (lambda a, w, u, v: F.linear(a, w + u @ v), x(2, 4), x(5, 4), x(5, 2), x(2, 4)),
    "a diagonal that ends early": (lambda a, s: torch.where(torch.arange(5)[:, None] == torch.arange(3), s, 0.) @ a.T,
                                   x(2, 3), x(3)),
    "... or that is shorter than the rows": (lambda a, s: a @ torch.where(
        torch.arange(5)[:, None] == torch.arange(3), s, 0.), x(2, 5), x(3)),
    "diagonal": (lambda a, s, b: a @ torch.diag(s) @ b, x(2, 3), x(3), x(3, 4)),
}
PARTS_OF_COMPUTED = {
    "three of one": (lambda a, w: (lambda q, k, v: q @ k.transpose(-1, -2) @ v)(
        *F.linear(a, w).view(2, 3, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)), x(2, 3, 4), x(24, 4)),
    "every second": (lambda a, w: F.linear(a, w).view(3, 4, 2)[..., 1].sum(0), x(3, 4), x(8, 4)),
}
POINTWISE = {
    "activations": (lambda a: (F.gelu(a), F.gelu(a, approximate="tanh"), F.silu(a), F.relu(a), F.elu(a), a.sigmoid(),
                               a.tanh(), a.erf(), a.exp(), -a, a.abs()), x(3, 4)),
    "functions": (lambda a: tuple(getattr(torch, name)(a.abs() * 0.9 / (1 + a.abs())) for name in SCALARS
                                  if hasattr(torch, name)), x(3, 4)),
    "powers": (lambda a: (a.square(), a**3, a.abs().sqrt(), (a * a).rsqrt(), 1 / a, 2 - a, a * a), x(3, 4)),
    "broadcasting": (lambda a, b, c: (a + b, a * c, c - 2 * a, torch.where(a > 0, a, c)), x(2, 3, 4), x(4), x(3, 1)),
    "masks": (lambda a: (a.masked_fill(a > 0, float("-inf")), a.clamp(-1, 0.5), a.tril(), a.triu(1),
                         a * torch.ones(4, 4, dtype=torch.bool).tril()), x(4, 4)),
}
FOLDS = {
    "sums": (lambda a: (a.sum(), a.sum(-1), a.mean((0, 1), keepdim=True), a.amax(1), a.amin(-1), a.var(-1),
                        a.var(-1, unbiased=False), a.norm(dim=-1), F.normalize(a)), x(2, 3, 4)),
    "softmax": (lambda a: (a.softmax(-1), a.log_softmax(1), a.logsumexp(-1)), x(2, 3, 4)),
    "norms": (lambda a, w, b: (F.layer_norm(a, (4,), w, b), F.rms_norm(a, (4,), w), F.rms_norm(a, (3, 4))),
              x(2, 3, 4), x(4), x(4)),
    "attention": (lambda q, k, v: (F.scaled_dot_product_attention(q, k, v),
                                   F.scaled_dot_product_attention(q, k, v, is_causal=True),
                                   F.scaled_dot_product_attention(q, k, v, torch.ones(3, 5).tril() > 0),
                                   F.scaled_dot_product_attention(q, k, v, scale=0.3),
                                   F.scaled_dot_product_attention(q, k[:, :1], v[:, :1], enable_gqa=True)),
                  x(2, 2, 3, 4), x(2, 2, 5, 4), x(2, 2, 5, 6)),
}
VIEWS = {
    "heads": (lambda a: a.view(2, 3, 4, 5).transpose(1, 2).reshape(2, 4, 15), x(2, 3, 20)),
    "merged": (lambda a: (a.reshape(6, 4).sum(0), a.flatten(), a.reshape(2, 3, 1, 2, 2).permute(4, 3, 2, 1, 0)),
               x(2, 3, 4)),
    "parts": (lambda a: (a[:, 1:, ::2], a[1], a[..., -1], *a.chunk(2, -1), *a.split([1, 2], 1), a[:, 1:].sum(1)),
              x(2, 3, 4)),
    "joined": (lambda a, b: (torch.cat((a, b), 1), torch.stack((a, a), 1),
                             torch.cat((-a[..., 2:], a[..., :2]), -1) @ a.t()), x(2, 4), x(2, 3)),
    "parts of what is joined": (lambda a, b: (lambda c, s: (
        c[:, 0], c[:, -1], c[:, 1:3], c[:, 2:6], c[:, 1::3], c[:, 4:][1], c.view(2, 4, 2), c.view(2, 4, 2)[:, 1:3, 1],
        *c.unbind(1), *c.split(3, 1), s.flatten(1).view(2, 6, 2)[:, 2:6],
        s[:, 0], s[:, 1:], s[:, :, 1], s[:, 1, 2], c[:, 3:5].sum(1),
        c.view(2, 4, 2) * a[:, :, None]))(
            torch.cat((a, 2 * a[:, :2], b), 1), torch.stack((a, -a, a * a), 1)), x(2, 4), x(2, 3)[:, 1:]),
    "parts of what is joined, in sums and products": (lambda a, b: (lambda c: (
        c[:, 1:4] @ c[:, 1:4].T, c[:, 2:5].T @ c[:, 3:6], (c[:, 1:3, None] * c[:, None, 2:5]).sum(0),
        torch.cat((c[:, 1:3], c[:, 2:5]), 1)[:, 1:4], torch.cat((c, c), 0)[1:3, 3:5]))(
            torch.cat((a, b), 1)), x(2, 4), x(2, 3)),
    "a matrix put together": (lambda a, b: (lambda m, w: (m, m @ b[:, :2].T, m.mT, m[:, 1], w, w[:, :, 1:].sum(1)))(
        torch.stack((a[:, 0], -b[:, 1], b[:, 0], a[:, 1] * 2), -1).reshape(-1, 2, 2),
        torch.cat((a, b[:, :1], b, a), -1).reshape(2, 3, 4)[:, :, :3]), x(2, 4), x(2, 3)),
    "repeated": (lambda a: (a.unsqueeze(1).expand(2, 5, 3) + 1, a[None], a[:1].expand(4, 3), a[:1].squeeze(0)),
                 x(2, 3)),
}


STEPS = {
    "of activations": (lambda a: (F.relu6(4 * a), F.hardsigmoid(3 * a), F.hardswish(3 * a), F.hardtanh(a, -0.5, 0.25),
                                  F.mish(a), F.selu(a), F.celu(a, 3.0), F.elu(a, 0.5),
                                  F.leaky_relu(a, 0.2), F.threshold(a, 0.1, 20.0), F.hardshrink(a),
                                  F.softshrink(a, 0.3), F.glu(a), (3 * a).frac(), torch.sgn(a), torch.negative(a)),
                       x(3, 4)),
    "of a softplus, back": (lambda a, b: torch.ops.aten.softplus_backward(a, 9 * b, 2, 3), x(3, 4), x(3, 4)),
    "of slopes": (lambda a, b, w: (F.prelu(a, w), F.prelu(a, w[:1]), F.prelu(b, w),
                                    torch._prelu_kernel(a, w[:, None])), x(2, 3, 4), x(2, 3), x(3)),
    "of several": (lambda a, b, c: (torch.addcmul(a, b, c, value=0.5), torch.addcdiv(a, b, 2 + c.abs(), value=-2),
                                    a.lerp(b, 0.3), a.lerp(b, 0.7), a.lerp(b, c), a.clamp(c, b), a.clamp_max(c),
                                    torch.max(a, b), torch.min(a, c), torch.logical_xor(a > 0, b > c),
                                    torch.logical_xor(a, b.relu())), x(3, 4), x(2, 3, 4)[0], x(3, 1)),
    "of truths": (lambda a, i, p: (torch.logical_and(a, i), torch.logical_or(a, i), torch.logical_not(a),
                                   torch.logical_not(i), torch.logical_xor(i, p), p ^ (a > 0), p & (a > 0), ~p),
                  x(3, 4).relu(), torch.arange(4) % 3, torch.arange(4) > 1),
    "of a number": (lambda a: (a.sum(0), a.mean(-1), a.amax(0), a.softmax(0), a.log_softmax(-1), a.logsumexp(0),
                               a.var(0, correction=0), torch.linalg.vector_norm(a, 2, 0), a.squeeze(0),
                               2 * a.transpose(0, -1)), torch.tensor(1.5)),
}
MADE = {
    "numbers": (lambda a, i: (torch.full_like(a, 3.0), torch.zeros_like(a > 0), torch.ones_like(i), a.new_zeros(3),
                              a.new_full((2,), 2.0), i.new_ones(2, 2), torch.ones_like(a, dtype=torch.int64),
                              a.clone().fill_(2), torch.arange(1, 9, 3), torch.arange(9, 1, -2) + 0.5,
                              torch.linspace(-1, 2, 7) * 1, torch.linspace(3, 4, 1) * 1, torch.linspace(0, 1, 4)),
                x(3, 4), torch.arange(3)),
    "casts": (lambda a, i, n: (i.int() + 0, (a > 0).long(), (a > 0).int().float() * a, a.bool(), n.bool(), i.double()),
              x(2, 3), torch.arange(3).int(), torch.arange(3) - 1),
}
WRITTEN = {
    "into parts": (lambda a, b: (torch.slice_scatter(a, b, 1, 1, 3), torch.slice_scatter(a, b, 1, 0, 2),
                                 torch.slice_scatter(a, b, 1, 2), torch.slice_scatter(a, a, 1),
                                 torch.select_scatter(a, b[:, 1], 1, -1), torch.select_scatter(a, a[1], 0, 0)),
                   x(2, 4), x(2, 2)),
    "beside": (lambda a: (torch.cat((a.new_zeros(2), a.new_ones(1))), F.pad(a, (1, 2)),
                          F.pad(a, (-1, 2, 1, 0), value=2.0), F.pad(a, (0, 0, 1, -1)), a.roll(1, 1),
                          a.roll((-1, 1), (1, 0)), a.repeat(2, 3), a.repeat(2, 1, 1), a.repeat_interleave(2, 1),
                          *a.unsafe_split(2, 1), *torch.unsafe_split_with_sizes(a, [1, 3], 1)), x(3, 4)),
    "extremes": (lambda a: (a.std(-1), a.std(), a.max(), a.min(), torch.linalg.vector_norm(a, 1, -1),
                            torch.linalg.vector_norm(a, float("inf"))), x(3, 4)),
}


EVERYTHING = {
    "contractions": CONTRACTIONS, "parts": PARTS_OF_COMPUTED, "pointwise": POINTWISE, "folds": FOLDS, "views": VIEWS,
    "steps": STEPS, "made": MADE, "written": WRITTEN,
}


@pytest.mark.parametrize("program", EVERYTHING.values(), ids=EVERYTHING)
def test_forms_say_what_torch_computes(program):
    for function, *inputs in program.values():
        agree(function, *inputs)


def test_nothing_of_a_matrix_times_zero():
    """Not even a NaN, where torch does not read it."""
    _, found = forms_of(lambda a, b, c: torch.addmm(a, b, c, beta=0), x(3, 5), x(3, 4), x(4, 5))
    assert text(found.outputs[0].form, brief=True) == "b·c"


@pytest.mark.parametrize("function", [
    lambda i, n, b: i.long() * 65536, lambda i, n, b: n * 65536 * i, lambda i, n, b: b.int() * 999,
    lambda i, n, b: torch.linspace(0, 9, 6, dtype=torch.int64)])
def test_there_is_no_form_of_integers_that_change(function):
    """One that is made wider would be multiplied before, and wrap around; one that is cut off is another number."""
    _, found = forms_of(function, torch.arange(3).int(), torch.arange(3), torch.arange(3).to(torch.int8))
    assert found.calls


def test_a_sum_is_of_what_is_cast():
    _, found = forms_of(lambda a: a.sum(-1, dtype=torch.float64), x(2, 3))
    assert text(found.outputs[0].form, brief=True) == "Σ_j float64(a)"


def test_a_cast_stays_where_it_is():
    def norm(a, w):
        scale = torch.rsqrt(a.float().pow(2).mean(-1, keepdim=True) + 1e-6)
        return w * (a.float() * scale).to(a.dtype)

    _, found = forms_of(norm, x(2, 4).bfloat16(), x(4).bfloat16())
    assert [part.attributes[0] for part in walk(found.outputs[0].form) if part.operator == "cast"] == [
        "float32", "bfloat16"]
    assert found.outputs[0].dtype == "bfloat16"


def test_an_unknown_operator_is_a_boundary():
    _, found = forms_of(lambda a: torch.cumsum(a * 2, -1) + a, x(2, 3))
    (call,) = found.calls
    assert call.operator == "aten.cumsum.default"
    assert text(call.arguments[0].form, brief=True) == "2·a"
    assert text(found.outputs[0].form, brief=True) == "a + cumsum"
    assert found.tensors["cumsum"].role == "result"


def test_what_is_read_whole_and_in_parts_is_computed_once():
    def rotated(a, w):
        y = a @ w
        return y + torch.cat((-y[:, 2:], y[:, :2]), -1)

    _, found = forms_of(rotated, x(3, 5), x(5, 4))
    (call,) = found.calls
    assert text(call.arguments[0].form, brief=True) == "a·w"
    assert text(found.outputs[0].form, brief=True) == "matmul + concat(-1·matmul, matmul)"
    _, found = forms_of(lambda a, w: (a @ w)[:, 2:] + (a @ w)[:, :2], x(3, 5), x(5, 4))
    assert not found.calls, "parts alone are parts of the weight"


def test_a_recurrence_is_read_in_time_that_grows_with_its_length(monkeypatch):
    """Each step stands on all steps before it, and would go through them again."""
    gone_through = [0]

    def counted(*args, substituted=forms._substituted):
        gone_through[0] += 1
        return substituted(*args)

    monkeypatch.setattr(forms, "_substituted", counted)
    for network in (torch.nn.LSTM(3, 2, batch_first=True), torch.nn.GRU(3, 2, batch_first=True)):
        agree(lambda a, network=network: network(a)[0], x(2, 3, 3))
        counts = []
        for length in (4, 8, 12):
            gone_through[0] = 0
            assert not forms_of(network, x(2, length, 3))[1].calls
            counts.append(gone_through[0])
        first, second, third = counts
        assert third - second <= 1.1 * (second - first)


def test_a_row_that_gives_another_shape_is_not_believed():
    """The table is checked against the program's shapes: break it once and see."""
    from samesame.optimize.reading import ROWS

    broken = ROWS["aten.permute"]
    ROWS["aten.permute"] = lambda r, a, order: a
    try:
        _, found = forms_of(lambda a: a.permute(1, 0) + 1, x(2, 3))
    finally:
        ROWS["aten.permute"] = broken
    assert [call.operator for call in found.calls] == ["aten.permute.default"]
