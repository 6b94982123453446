"""Forms as torch modules: every candidate of a program computes what it computes, in its dtypes, and check says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from optimize.test_reassociation import written
from optimize.test_specification import MADE, STEPS, VIEWS, WRITTEN
from samesame import check
from samesame.capture import capture
from samesame.optimize.algebra import specified
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.read import read
from samesame.optimize.search import searched


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


class Block(nn.Module):
    """A norm in float32, a gated MLP, a residual."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(1 + x(8) / 4)
        self.gate, self.up, self.down = nn.Linear(8, 12, bias=False), nn.Linear(8, 12, bias=False), nn.Linear(12, 8)

    def forward(self, x):
        wide = x.float()
        normal = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.scale
        return x + self.down(F.silu(self.gate(normal)) * self.up(normal))


class Attention(nn.Module):
    """Rotated queries and keys of a fused projection, causal."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.register_buffer("angles", x(6, 4))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (part.view(b, t, 2, 4).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        q, k = (a * self.angles.cos() + torch.cat((-a[..., 2:], a[..., :2]), -1) * self.angles.sin() for a in (q, k))
        scores = (q @ k.transpose(-1, -2)) * 0.5
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, 8))


def several(a, b):
    total = (a + b).sum(0)
    return {"norm": F.layer_norm(a, (4,)), "tail": torch.cumsum(total, -1) * a, "row": a[1, None] - b.amax(0),
            "same": torch.stack((total, total), 1).flatten(), "spread": a.var(-1) - a[:, 1::2].sum(1),
            "diagonal": torch.diag(b) @ a.t()}


PROGRAMS = {
    "block": (Block(), (x(5, 8),)),
    "block in bfloat16": (Block().bfloat16(), (x(5, 8).bfloat16(),)),
    "attention": (Attention(), (x(2, 6, 8),)),
    "fused attention": (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), (
        x(2, 2, 3, 4), x(2, 2, 5, 4), x(2, 2, 5, 6), x(3, 5))),
    "two norms of one bias": (lambda a, w, b: F.layer_norm(a, (4,), w, b).relu() * (
        F.layer_norm(a.exp(), (4,), w, b) + a), (x(3, 4), x(4), 1 + x(4))),
    "a product of many": (lambda a, b: a.exp() * b.exp() * a.sin() * b.sin() * a.cos() * b.cos() * a * b * a.tanh()
                          * b.tanh(), (x(3, 4), x(4))),
    "a mask of numbers": (lambda a: (a + torch.where(torch.ones(3, 3).tril() > 0, 0.0, torch.finfo(a.dtype).min)
                                     ).softmax(-1) * torch.where(a > 0, 1.0, 2.0), (x(3, 3),)),
    "what is divided by less than nothing": (lambda a, b: torch.exp(-a / (b * b).sum()) - 1 / -b.exp(), (
        x(3, 4), x(4))),
    "positions": (lambda a: a * torch.arange(2, 6) + torch.arange(12).view(3, 4), (x(3, 4),)),
    "several results and a boundary": (several, (x(3, 4), x(4))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_candidate_is_the_same_program(name, tmp_path):
    program, inputs = PROGRAMS[name]
    spec = read(capture(program, inputs))
    wanted = program(*inputs)
    found_forms = searched(spec).candidates
    for candidate in found_forms:
        fast = written(source(spec, candidate.outputs), tmp_path, program)
        found = fast(*inputs)
        wide = any(tensor.dtype is torch.bfloat16 for tensor in inputs)
        torch.testing.assert_close(found, wanted, rtol=2e-2 if wide else 1e-4, atol=5e-2 if wide else 1e-5)
        if isinstance(program, nn.Module):
            assert fast.state_dict().keys() == program.state_dict().keys()
        if candidate is found_forms[-1]:                 # a proof takes a second
            verdict = check(program, fast, inputs)
            sizes = "at these sizes" if name in ("positions", "a mask of numbers") else "for all sizes"
            assert (verdict.verdict, str(verdict.evidence)) == ("same", f"proved {sizes}"), verdict.notes


def test_every_row_is_printed(tmp_path):
    """What the table makes forms of is what is printed of them, in the program's dtypes."""
    for name, (program, *inputs) in (STEPS | MADE | WRITTEN | VIEWS).items():
        spec = read(capture(program, tuple(inputs)))
        fast = written(source(spec, [root.form for root in spec.roots()]), tmp_path, program)
        for number, (found, wanted) in enumerate(zip(fast(*inputs), program(*inputs), strict=True)):
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5,
                                       msg=lambda said, at=(name, number): f"{at}: {said}")


def test_functions_of_numbers(tmp_path):
    """Torch's take none that are Python's."""
    def program(a, n):
        ones = torch.ones(4)
        return (torch.ones_like(n) * 2.5, ones.sum().double() + a, torch.full((4,), 0.1).bfloat16().float() * a,
                torch.maximum(ones, torch.zeros(4)) + a, ones.exp() * a, (ones > 0.5) & (a > 0))

    inputs = x(4), torch.arange(4).to(torch.uint8)
    spec = read(capture(program, inputs))
    found = written(source(spec, [root.form for root in spec.roots()]), tmp_path, program)(*inputs)
    torch.testing.assert_close(found, program(*inputs))


def test_weights_are_shared_not_copied(tmp_path):
    original, (rows,) = Block(), PROGRAMS["block"][1]
    spec = read(capture(original, (rows,)))
    fast = written(source(spec, [root.form for root in spec.roots()]), tmp_path, original)
    with torch.no_grad():
        original.scale.zero_()
    torch.testing.assert_close(fast(rows), original(rows))


class Turned(nn.Module):
    """Its form sums over rows before the layer; of the results one is row-major and one turned."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 6)

    def forward(self, x, y):
        both = self.linear(torch.cat([x[:, None].expand(-1, 5, -1), y[None].expand(3, -1, -1)], -1))
        return both.relu(), both.transpose(0, 1).exp()


def test_results_lie_as_the_program_returns_them(tmp_path):
    program, inputs = Turned(), (x(3, 2), x(5, 2))
    spec = specified(program, inputs, capture(program, inputs))
    for candidate in searched(spec).candidates:
        found = written(source(spec, candidate.outputs), tmp_path, program)(*inputs)
        torch.testing.assert_close(found, program(*inputs), rtol=1e-4, atol=1e-5, check_stride=True)


class Listed(nn.Module):
    """Weights in a list of parameters and in a list of modules."""

    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList(nn.Parameter(torch.randn(4)) for _ in range(2))
        self.layers = nn.ModuleList([nn.Linear(4, 6)])

    def forward(self, x):
        return self.layers[0](x * self.scales[0]) + self.scales[1].sum()


def test_weights_in_lists_are_found(tmp_path):
    program, inputs = Listed(), (x(3, 4),)
    spec = specified(program, inputs, capture(program, inputs))
    found = written(source(spec, searched(spec).candidates[0].outputs), tmp_path, program)(*inputs)
    torch.testing.assert_close(found, program(*inputs))


def test_what_is_the_same_is_computed_once(tmp_path):
    """Every round reads its rows under two names of axes; eight rounds are eight times the lines of one."""
    def program(rows):
        for _ in range(8):
            rows = rows + ((rows @ rows.t()).softmax(-1) @ rows) / 4
        return rows

    spec = read(capture(program, (x(5, 4),)))
    text = source(spec, [root.form for root in spec.roots()])
    assert text.count("\n        t") == 8 * 5
    assert max(line.partition("#")[0].count(" + ") for line in text.splitlines()) == 1, "sums go on from sums"
    torch.testing.assert_close(written(text, tmp_path)(x(5, 4)), program(x(5, 4)), rtol=1e-4, atol=1e-4)


def test_a_line_says_what_it_computes(tmp_path):
    spec = read(capture(lambda a, w: (a @ w).softmax(-1), (x(3, 4), x(4, 5))))
    text = source(spec, [root.form for root in spec.roots()])
    assert "t1 = a @ w    # t1[i, l] = Σ_j a[i, j]·w[j, l]" in text
    assert "t2 = t1.softmax(-1)" in text


FUSED = {
    "plain": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), ""),
    "causal, scaled": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
                       "is_causal=True, scale=0.3"),
    "by hand": (lambda q, k, v: torch.softmax((q @ k.mT) * 0.25, -1) @ v, "scale=0.25"),
    "groups of heads": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
                        "enable_gqa=True"),
}


@pytest.mark.parametrize("name", FUSED)
def test_attention_is_found_again(name, tmp_path):
    program, options = FUSED[name]
    inputs = x(2, 4 if name == "groups of heads" else 2, 3, 4), x(2, 2, 5, 4), x(2, 2, 5, 6)
    spec = read(capture(program, inputs))
    text = source(spec, [root.form for root in spec.roots()])
    assert "F.scaled_dot_product_attention(" in text and options in text
    torch.testing.assert_close(written(text, tmp_path)(*inputs), program(*inputs))


def test_queries_that_are_joined_have_an_axis_that_no_tensor_has(tmp_path):
    def program(a, c):
        h = torch.cat((c, a), 1)[:, None]
        return F.scaled_dot_product_attention(h, h, h)

    inputs = x(2, 3, 4), x(2, 1, 4)
    spec = read(capture(program, inputs))
    fast = written(source(spec, [root.form for root in spec.roots()]), tmp_path, program)
    torch.testing.assert_close(fast(*inputs), program(*inputs))


def test_inputs_that_stand_inside_others_come_one_by_one(tmp_path):
    """And each has a name of its own."""
    def program(pair, pair_0):
        return pair[0] - 2 * pair[1] / (pair_0 + pair_0.shape[0])

    pair, other = (x(3), x(3)), x(3).abs()
    graph = replace(read(capture(program, (pair, other))), arguments=("pair.0", "pair.1", "pair_0"))
    fast = written(source(graph, [root.form for root in graph.roots()]), tmp_path, program)
    torch.testing.assert_close(fast(*pair, other), program(pair, other))


@pytest.mark.parametrize("program", [
    lambda a, w: (a * w).mean(), lambda a, w: (a * w).mean() / 3, lambda a, w: a.mean() * w,
    lambda a, w: (a * w.exp()).mean() * 0.3, lambda a, w: (a / w.exp()).mean()])
def test_a_mean_of_a_product_is_over_all_its_dimensions(program, tmp_path):
    """What is divided by 12 and by 4 is not divided by 12 / 4."""
    specification = read(capture(program, (x(12, 4), x(12, 4))))
    fast = written(source(specification, [root.form for root in specification.roots()]), tmp_path)
    torch.testing.assert_close(fast(x(12, 4), x(12, 4)), program(x(12, 4), x(12, 4)))
