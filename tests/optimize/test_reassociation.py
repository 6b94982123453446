"""Changes of complexity that no compiler makes: each is found, written as a torch module, and proved for all sizes."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.capture import capture
from samesame.egraph import Budget, EGraph
from samesame.optimize.emit.torch_ops import source
from samesame.optimize.forms import substitute
from samesame.optimize.read import read
from samesame.optimize.rules import RULES, add, typed
from samesame.optimize.search import searched


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def written(text, folder, original=None):
    """The module of a source text."""
    path = folder / "fast.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("fast", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Fast(original)


class LowRank(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(512, 384)
        self.down, self.up = nn.Parameter(x(4, 512)), nn.Parameter(x(384, 4))

    def forward(self, x):
        return F.linear(x, self.base.weight + self.up @ self.down, self.base.bias)


CASES = {                                                # a program, inputs, how much less there is to multiply
    "low-rank weights merged": (LowRank(), (x(32, 512),), 1.04),
    "linear attention": (lambda q, k, v: (q @ k.transpose(-1, -2)) @ v, (x(2, 96, 8), x(2, 80, 8), x(2, 80, 6)), 5),
    "feature maps": (lambda q, k, v: ((F.elu(q) + 1) @ (F.elu(k) + 1).mT / (
        (F.elu(q) + 1) @ (F.elu(k) + 1).mT).sum(-1, keepdim=True)) @ v, (x(2, 96, 8), x(2, 80, 8), x(2, 80, 6)), 4),
    "pooling after a linear": (lambda x, w, b: F.linear(x, w, b).mean(1), (x(4, 64, 24), x(12, 24), x(12)), 10),
    "a chain of matmuls": (lambda a, b, c, d: a @ b @ c @ d, (x(90, 8), x(8, 70), x(70, 9), x(9, 2)), 10),
    "A·diag(s)·B": (lambda a, s, b: a @ torch.diag(s) @ b, (x(30, 40), x(40), x(40, 50)), 1),
    "features of all pairs": (lambda a, b, w: torch.cat([
        a[:, None].expand(-1, 24, -1), b[None].expand(20, -1, -1)], -1).relu() @ w,
        (x(20, 16), x(24, 9), x(25, 8)), 10),
    "one vector beside each row": (lambda a, z, w: torch.cat([a, z.expand(48, 24)], -1) @ w,
                                   (x(48, 8), x(24), x(32, 40)), 3),
    "(A·Bᵀ)·1": (lambda a, b: (a @ b.t()).sum(-1), (x(90, 8), x(70, 8)), 10),
}


@pytest.mark.parametrize("name", CASES)
def test_found_and_proved_for_all_sizes(name, tmp_path):
    program, inputs, gain = CASES[name]
    spec = read(capture(program, inputs))
    original, *others = searched(spec).candidates
    best = min((original, *others), key=lambda c: c.cost["multiplications"])
    assert original.cost["multiplications"] >= gain * best.cost["multiplications"]
    assert best.is_original or best.steps
    fast = written(source(spec, best.outputs), tmp_path, program)
    torch.testing.assert_close(fast(*inputs), program(*inputs), rtol=1e-3, atol=1e-3)
    verdict = check(program, fast, inputs)
    assert verdict.verdict == "same"
    assert str(verdict.evidence) == "proved for all sizes"
    assert len(verdict.sizes.varying) >= 1
    if name == "linear attention":                       # so that the verdict can be another
        wrong = written(source(spec, best.outputs).replace("return ", "return 2 * "), tmp_path, program)
        assert check(program, wrong, inputs).verdict == "different"


def rms(x, eps):
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt()


REFUSED = {                                              # what looks like a law, and is none
    "a matrix divided before": (lambda a, b, w: (a / b) @ w, lambda a, b, w: (a @ w) / b,
                                (x(4, 4), 1 + x(4, 4).abs(), x(4, 4))),
    "the norm for the root mean square": (lambda a: rms(a, 0), lambda a: a / a.norm(dim=-1, keepdim=True), (x(3, 4),)),
    "split in another place": (lambda a, b, w: torch.cat([a, b], -1) @ w, lambda a, b, w: a @ w[3:] + b @ w[:3],
                               (x(4, 2), x(4, 3), x(5, 6))),
    "parts that overlap": (lambda a, b, w: torch.cat([a, b], -1) @ w, lambda a, b, w: a @ w[:2] + b @ w[1:4],
                           (x(4, 2), x(4, 3), x(5, 6))),
    "an epsilon dropped": (lambda a: rms(a, 1e-2), lambda a: rms(a, 0), (x(3, 4),)),
    "an epsilon moved": (lambda a: rms(a, 1e-2), lambda a: a / (a.pow(2).mean(-1, keepdim=True).sqrt() + 1e-2),
                         (x(3, 4),)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_false_is_neither_derived_nor_accepted(name):
    left, right, inputs = REFUSED[name]
    forms = [read(capture(program, inputs)).outputs[0] for program in (left, right)]
    graph, known = EGraph(typed), {}
    terms = [add(graph, substitute(output.form, dict(zip(
        (axis for dim in output.dims for axis in dim), "xyz", strict=False))), known) for output in forms]
    graph.saturate(RULES, Budget(nodes=1000, iterations=6))
    assert not graph.equal(*terms)
    assert check(left, right, inputs).verdict == "different"
