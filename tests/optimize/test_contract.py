"""The numeric contract takes what rounds as the original does in another order, and nothing that only agrees on most
inputs."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from pooled import inputs as pooled_inputs
from pooled import module as pooled
from torch import nn

from samesame.capture import capture
from samesame.optimize import contract as rules
from samesame.optimize import oracle
from samesame.optimize.contract import contract
from samesame.optimize.job import Job
from samesame.optimize.oracle import Oracle


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(rules, "DRAWS", 2)
    monkeypatch.setattr(rules, "AGAIN", 1)


def held(program, found, *inputs):
    torch.manual_seed(0)
    weights = dict(program.named_parameters()) if isinstance(program, nn.Module) else {}
    return contract(Job(program, inputs, {}, weights), found)


def softmax(x):
    return torch.softmax(x, -1)


def variance(x):
    return (x - x.mean(-1, keepdim=True)).square().mean(-1)


def norm(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def layer_norm(x, variance):
    x = x.float()
    mean = x.mean(-1, keepdim=True)
    return ((x - mean) * (variance(x, mean) + 1e-5).rsqrt()).bfloat16()


def in_two_passes(x, mean):
    return (x - mean).square().mean(-1, keepdim=True)


def in_one_pass(x, mean):
    return (x.square().mean(-1, keepdim=True) - mean * mean).clamp(min=0)


def chain(x, y, z):
    return x @ y @ z


def attention(q, k, v):
    return (q @ k.transpose(-1, -2)) @ v


SQUARES = [torch.randn(24, 24) for _ in range(3)]
ROWS = torch.randn(16, 64)
HEADS = [torch.randn(96, 16) for _ in range(3)]

FINE = {
    "late division": (softmax, lambda x: (e := (x - x.amax(-1, keepdim=True)).exp()) / e.sum(-1, keepdim=True), [ROWS]),
    "deviations from the first element": (variance, lambda x: variance(x - x[..., :1]), [ROWS]),
    "a sum for the mean": (norm, lambda x: x * (x.square().sum(-1, keepdim=True) / 64 + 1e-5).rsqrt(), [ROWS]),
    "a chain from the right": (chain, lambda x, y, z: x @ (y @ z), SQUARES),
    "linear attention": (attention, lambda q, k, v: q @ (k.transpose(-1, -2) @ v), HEADS),
}
WRONG = {
    "softmax without its maximum": (softmax, lambda x: (e := x.exp()) / e.sum(-1, keepdim=True), [ROWS]),
    "variance in one pass": (variance, lambda x: x.square().mean(-1) - x.mean(-1).square(), [ROWS]),
    "variance in one pass, of bfloat16": (lambda x: layer_norm(x, in_two_passes), lambda x: layer_norm(x, in_one_pass),
                                          [torch.randn(9, 2048).bfloat16()]),
    "no epsilon": (norm, lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True)), [ROWS]),
    "another epsilon": (norm, lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6), [ROWS]),
    "the product in bfloat16": (chain, lambda x, y, z: x @ (y.bfloat16() @ z.bfloat16()).float(), SQUARES),
    "NaN is taken for 0": (norm, lambda x: norm(x.nan_to_num(0.0)), [ROWS]),
    "clamped": (norm, lambda x: norm(x.clamp(-1e3, 1e3)), [ROWS]),
}


@pytest.mark.parametrize("name", FINE)
def test_another_order_is_fine(name):
    program, found, inputs = FINE[name]
    result = held(program, found, *inputs)
    assert not result.failed and 0 < result.worst <= 1


def test_in_bfloat16_another_order_is_fine_where_intermediate_results_do_not_cancel():
    x, y, z = (square.bfloat16() for square in SQUARES)
    assert not held(chain, lambda x, y, z: x @ (y @ z), x, y, z).failed
    heads = [head.bfloat16() for head in HEADS]
    assert "difficult rows" in held(attention, lambda q, k, v: q @ (k.transpose(-1, -2) @ v), *heads).failed


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_on_some_rows_is_found(name):
    program, found, inputs = WRONG[name]
    assert held(program, found, *inputs).failed


def test_the_weights_are_drawn_too_and_are_as_before_afterwards():
    """A program that has the given weights in it is not the same for others."""
    before = pooled.linear.weight.detach().clone()
    folded = before.t().contiguous()
    result = held(pooled, lambda x: x.mean(-2) @ folded, *pooled_inputs)
    assert "is off by" in result.failed and result.weights == 2
    assert torch.equal(pooled.linear.weight, before)
    assert not held(pooled, lambda x: x.mean(-2) @ pooled.linear.weight.t(), *pooled_inputs).failed


def fused(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def causal(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, LOWER)


LOWER = torch.ones(9, 9).tril().bool()


def test_a_nan_may_stand_where_arithmetic_has_it_and_must_where_the_original_has_it():
    """torch's fused attention has zeros for a query with a NaN in it; a mask that is added lets a NaN through."""
    heads = [torch.randn(2, 9, 8) for _ in range(3)]
    assert not held(fused, lambda q, k, v: torch.softmax(q @ k.mT / 8**0.5, -1) @ v, *heads).failed
    spread = held(fused, lambda q, k, v: (torch.softmax(q @ k.mT / 8**0.5, -1) @ v) + 0 * q.sum(), *heads)
    assert "NaN" in spread.failed
    hidden = held(causal, lambda q, k, v: torch.softmax(torch.where(LOWER, q @ k.mT / 8**0.5, -torch.inf), -1) @ v,
                  *heads)
    assert "NaN" in hidden.failed


def test_what_an_infinity_leads_to_in_arithmetic_may_stand_where_fused_attention_has_a_number():
    """A row of scores that are −∞ throughout attends to nothing in torch's arithmetic, too."""
    def written(q, k, v):
        scores = torch.where(LOWER, q @ k.mT / 8**0.5, -torch.inf)
        return torch.where(scores.amax(-1, keepdim=True) == -torch.inf, 0.0, torch.softmax(scores, -1)) @ v

    def of(attended):                                      # ∞ · 0 is NaN
        return lambda x: attended(x + 0 * x, x.flip(0), x.flip(1))

    fused = of(lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
    assert not held(fused, of(written), torch.randn(2, 4, 9, 8)).failed
    assert "not finite" in held(lambda x: x, lambda x: torch.where(x.isinf().any(), torch.nan, x), SQUARES[0]).failed


def test_a_query_that_only_an_infinity_keeps_from_its_keys_may_be_nan():
    """torch has zeros where scores are −∞ throughout; with a mask they are what it asks for."""
    attention = torch.nn.functional.scaled_dot_product_attention
    bare = lambda x: torch.softmax(x @ -x.mT / 8**0.5, -1) @ (x + 1)  # noqa: E731
    assert not held(lambda x: attention(x, -x, x + 1), bare, torch.randn(2, 4, 1, 8)).failed
    shown = torch.ones(1, 1, dtype=torch.bool)
    assert held(lambda x: attention(x, -x, x + 1, shown), bare, torch.randn(2, 4, 1, 8)).failed


def test_the_stride_of_a_dimension_of_one_element_says_nothing():
    turned, other = torch.randn(1, 1, 4, 8).transpose(1, 2), ((1, 4, 1, 8), (32, 8, 8, 1))
    assert turned.stride() != turned.contiguous().as_strided(*other).stride()
    assert not held(lambda x: 2 * x, lambda x: (x + x).contiguous().as_strided(*other), turned).failed


def test_strides_and_dtypes_are_those_of_the_original():
    assert "strides" in held(chain, lambda x, y, z: (x @ y @ z).t().contiguous().t(), *SQUARES).failed
    assert "float64" in held(chain, lambda x, y, z: (x @ y @ z).double(), *SQUARES).failed


@pytest.mark.parametrize("x", [
    torch.randn(6, 40).t(), torch.randn(6, 80)[:, ::2], torch.randn(1, 6).expand(40, 6),
    torch.randn(60).unfold(0, 9, 3), torch.ones(4, 1).bool().expand(4, 6),
], ids=["turned", "sliced", "expanded", "windows", "a mask"])
def test_draws_lie_as_the_example_does(x):
    """What has other strides is not what a drop-in runs the found program on."""

    def found(y):
        assert y.stride() == x.stride()
        return softmax(y.float())

    assert held(lambda y: softmax(y.float()), found, x).failed == ""


def test_what_takes_too_long_is_not_held():
    weights: dict[str, torch.Tensor] = {}
    cut = contract(Job(norm, (ROWS,), {}, weights), norm, seconds=0.0)
    assert cut.refused == "its rounding is not known: time was over after 1 draw; give it more with --minutes"


@pytest.mark.parametrize("more", [0, 1])
def test_random_weights_are_drawn_as_far_as_there_is_time(monkeypatch, more):
    """All draws of the given weights are asked for; of others as many sets as are whole."""
    weights = dict(pooled.named_parameters())
    job, found = Job(pooled, pooled_inputs, {}, weights), lambda x: pooled(x)
    given = contract(job, found, frozen=True, number=1).draws
    passed = iter([0.0] * (given + more))
    monkeypatch.setattr(rules, "time", SimpleNamespace(monotonic=lambda: next(passed, 1e9)))
    result = contract(job, found, seconds=10.0, number=1)
    assert (result.failed, result.weights) == ("", 1) and given <= result.draws <= given + more


def test_what_the_oracle_said_is_not_asked_again(monkeypatch, tmp_path):
    """For the next program only the draws are made, and it is judged as by an oracle of its own. What was not asked for
    is asked once: what rounding in all operators may do."""
    asked, real = [], Oracle.__call__
    monkeypatch.setattr(Oracle, "__call__", lambda *words: asked.append(words) or real(*words))
    job = Job(norm, (ROWS,), {}, {})
    first = contract(job, norm, place=tmp_path)
    assert len(asked) == first.draws and not first.failed

    def half(x):
        return norm(x) * 0.5

    again, alone = contract(job, half, place=tmp_path), contract(job, half)
    assert len(asked) == first.draws + 1 + alone.draws and again.failed == alone.failed != ""
    assert contract(job, half, place=tmp_path).failed and len(asked) == first.draws + 1 + alone.draws
    monkeypatch.setattr(oracle, "ROOM", 0)
    (tmp_path / "none").mkdir()
    assert not contract(job, norm, place=tmp_path / "none").failed and not list((tmp_path / "none").iterdir())


def deep(x, y, z):
    """Rounding within is more than that of the last sum, which has two terms."""
    return torch.stack([(x @ y * 8).cos().sum(-1), z[:, 0]], -1).sum(-1)


def test_rounding_within_is_asked_for_where_that_of_the_last_operators_is_too_little(monkeypatch):
    """Which lies below it, and is enough where the last sum has as many terms as others."""
    asked, whole = [], Oracle.whole
    monkeypatch.setattr(Oracle, "whole", lambda *words: asked.append(words) or whole(*words))

    def other(x, y, z):
        return deep(x[:, order], y[order], z)                # what is multiplied in another order

    order = torch.randperm(24)
    assert not held(deep, other, *SQUARES).failed and asked
    asked.clear()
    assert not held(chain, lambda x, y, z: x @ (y @ z), *SQUARES).failed and len(asked) < 10
    for program in (deep, chain):
        answer = Oracle(capture(program, tuple(SQUARES)), {})(dict(zip("xyz", SQUARES, strict=True)), 0, False)
        for last, all_of_it in zip(answer.last, answer.whole, strict=True):
            assert bool((last <= all_of_it).all()) and bool((last > 0).any())


def test_rows_are_made_difficult_in_turns():
    x = torch.randn(len(rules.HARD) * 2 + 1, 5)
    turned = rules.rows(x, 3)
    for number, row in enumerate(x):
        make = list(rules.HARD.values())[(number + 3) % len(rules.HARD)]
        assert torch.equal(turned[number], make(row))


def test_a_mask_of_the_least_numbers_stays():
    """Transformers hides by the least float; normal numbers of that size would be infinite."""
    mask = torch.where(torch.arange(6) < 4, 0.0, torch.finfo(torch.float32).min)
    x = torch.randn(3, 6)

    def hidden(x, mask):
        return torch.softmax(x + mask, -1)

    assert not held(hidden, lambda x, mask: hidden(mask, x), x, mask).failed
    generator = torch.Generator().manual_seed(0)
    assert all(torch.equal(mask, rules.alike(mask, generator, scale)) for scale in rules.SCALES)
    assert torch.equal(mask, rules.rows(mask, 1)) and not torch.equal(x, rules.alike(x, generator))


def test_the_error_of_what_is_moved_is_moved_with_it(monkeypatch):
    """And the operator runs once for it, on the errors."""
    def moved(x):
        return torch.cat([(x * 3).exp().t(), x.t()])

    def still(x):
        return (x * 3).exp()

    ran = []
    rerun = oracle.rerun
    monkeypatch.setattr(oracle, "rerun", lambda graph, values, known, nodes, changed=None: ran.extend(
        node.operator for node in nodes) or rerun(graph, values, known, nodes, changed))
    x = torch.randn(5, 7)
    (own,) = Oracle(capture(still, (x,)), {})({"x": x}, 0, False).whole
    answer = Oracle(capture(moved, (x,)), {})({"x": x}, 0, False)
    ran.clear()
    (estimate,) = answer.whole
    torch.testing.assert_close(estimate[:7], own.t(), rtol=1e-3, atol=0)
    assert own.min() > 0 and not estimate[7:].any()
    assert [name.split(".")[1] for name in ran].count("cat") == 1


class Fields(nn.Module):
    """Two tables in one: what numbers rows of the first is out of range in the second."""

    def __init__(self, turned):
        super().__init__()
        self.rows, self.turned = nn.Embedding(12, 4), turned

    def forward(self, ids):
        return self.rows((ids.t() if self.turned else ids) + 10 * torch.arange(2)).sum(1)


@pytest.mark.parametrize("turned", [False, True])
def test_integers_are_drawn_in_an_order_that_the_program_takes(turned):
    """Those of a column stay in it, or those of a row."""
    ids, seen = torch.stack([torch.arange(10), torch.arange(10) % 2], 1), []
    given, module = ids.t().contiguous() if turned else ids, Fields(turned).eval()

    def found(ids):
        seen.append(ids)
        return module(ids)

    result = held(module, found, given)
    assert not result.failed and result.draws > 6
    assert any(not torch.equal(each, given) for each in seen)


def test_a_program_that_takes_few_draws_is_not_held():
    def factors(x):
        return torch.linalg.cholesky(x)

    result = held(factors, factors, torch.eye(6))
    assert result.failed.startswith("the program itself raises an error on ")


class Dequantized(nn.Module):
    """Weights that each call makes of a buffer, in bfloat16."""

    def __init__(self):
        super().__init__()
        self.register_buffer("q", torch.randint(-128, 128, (48, 96), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(48, 1).bfloat16() / 100)

    def forward(self, x):
        return (x @ ((self.q.to(x.dtype) - 3) * self.scale).t()).float()


def test_what_a_program_makes_of_its_buffers_is_rounded_too():
    """Who keeps more digits of it is no worse; who keeps less is."""
    module, x = Dequantized().eval(), torch.randn(5, 96).bfloat16()

    def precise(x):
        return (x.double() @ ((module.q.double() - 3) * module.scale.double()).t()).float().bfloat16().float()

    def coarse(x):
        weights = ((module.q.to(x.dtype) - 3) * module.scale).to(torch.float8_e4m3fn).to(x.dtype)
        return (x @ weights.t()).float()

    assert not held(module, precise, x).failed
    assert "is off by" in held(module, coarse, x).failed


def test_a_mask_that_a_program_makes_is_not_rounded():
    """Else what it hides might be seen."""
    def hidden(x):
        return torch.softmax(x + torch.full((6, 6), torch.finfo(torch.float32).min).triu(1), -1)

    def one_too_many(x):
        return torch.softmax(x + torch.full((6, 6), torch.finfo(torch.float32).min).triu(2), -1)

    assert not held(hidden, lambda x: hidden(x), torch.randn(6, 6)).failed
    assert held(hidden, one_too_many, torch.randn(6, 6)).failed


def test_what_underflows_may_be_zero_in_another_order():
    def scaled(x):
        return x * 1e-15 * 1e-15

    def in_halves(x):
        return x * 0.5e-15 * 1e-15 + x * 0.5e-15 * 1e-15

    assert not held(scaled, in_halves, torch.full((3, 4), 1e-15)).failed
    assert "is off by" in held(scaled, lambda x: in_halves(x) * 0, torch.full((3, 4), 1e-15)).failed
    assert "is off by" in held(scaled, lambda x: in_halves(x) * (1 + 1e-5), torch.full((3, 4), 1e-5)).failed


NUMBERS = st.sampled_from([0.0, 1.0, 1.0 + 1e-6, -2.0, 3e38, math.inf, -math.inf, math.nan])


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=12),
       st.sampled_from(["draw 1", "NaN", "+∞"]))
@example(rows=[(0.0, 0.0, 0.0), (0.0, 0.0, math.inf), (1.0, 0.0, 0.0)], label="draw 1")
def test_an_output_is_judged_alike_in_pieces(rows: list[tuple[float, float, float]], label: str) -> None:
    own, other, true = (torch.tensor(column) for column in zip(*rows, strict=True))
    estimate = torch.full((len(rows),), 1e-7, dtype=torch.float64)
    at_once = rules.beyond(own, other, true.double(), estimate, label, 1e-38)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "AT_ONCE", 2)
        in_pieces = rules.beyond(own, other, true.double(), estimate, label, 1e-38)
    assert bool(in_pieces.fault) == bool(at_once.fault)
    if not at_once.fault:
        assert in_pieces == at_once


def test_the_number_of_threads_is_that_of_the_last_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    now, took, used = 0.0, {1: 2.0, 8: 100.0}, []
    monkeypatch.setattr(oracle.time, "monotonic", lambda: now)
    turns = oracle.Turns([1, 8])
    for _ in range(oracle.EVERY):
        with turns.timed():
            used.append(turns.best)
            now += took[turns.best]
    took[8] = 1.0
    for _ in range(4):
        with turns.timed():
            used.append(turns.best)
            now += took[turns.best]
    assert used[:4] == [1, 8, 1, 1] and used[-4:] == [1, 8, 8, 8] and used.count(8) == 4
