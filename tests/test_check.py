"""check: what a verdict stands on, what is refused, and that the same seed gives the same answer."""

import itertools
import time

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import opaque_operators  # noqa: F401    registers them
from samesame import check
from samesame.capture import capture
from samesame.evidence import LADDER, Refused, Rung


def rows(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


X = (rows(4, 6),)


def silu(x):
    return x * torch.sigmoid(x)


def spelled(x):
    return x / (1 + torch.exp(-x))


class Scaled(nn.Module):
    """x · weight + shift."""

    def __init__(self, weight=None, shift=None):
        super().__init__()
        self.weight = nn.Parameter(rows(6) if weight is None else weight)
        self.shift = None if shift is None else nn.Parameter(shift)

    def forward(self, x):
        x = x * self.weight
        return x if self.shift is None else x + self.shift


class Captured:
    """A graph to be, which the test makes that asks for it: nothing is captured while tests are collected."""

    def __init__(self, program, inputs=X, **options):
        self.make = lambda: capture(program, inputs, **options)


def made(program):
    return program.make() if isinstance(program, Captured) else program


# ---------------------------------------------------------------------------------------------------------- what it
# takes


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (silu, F.silu),
        (nn.SiLU(), silu),
        (nn.SiLU, spelled),
        (lambda: nn.SiLU(), nn.SiLU()),
        (Captured(silu), F.silu),
        (Captured(silu), Captured(spelled, how="export", name="right")),
    ],
    ids=["functions", "a module and a function", "a class", "a factory", "a graph and a function", "two graphs"],
)
def test_a_program_is_a_module_a_function_a_maker_of_one_or_a_graph(left, right):
    verdict = check(made(left), made(right), X)
    assert (verdict.verdict, verdict.exit_code) == ("same", 0)
    assert verdict.evidence >= Rung.PROVED_HERE


def test_inputs_are_a_tuple_a_dict_or_a_function_that_gives_them():
    def weighted(x, weight):
        return F.linear(x, weight)

    x, weight = rows(3, 4), rows(2, 4)
    assert check(weighted, lambda x, weight: x @ weight.T, (x, weight)).verdict == "same"
    assert check(weighted, lambda weight, x: x @ weight.T, {"x": x, "weight": weight}).verdict == "same"
    assert check(weighted, lambda x, weight: x @ weight.T, lambda: (x, weight)).verdict == "same"


@pytest.mark.parametrize("how", ["record", "export", "export+decompose"])
def test_every_way_of_capture_decides(how):
    assert check(silu, spelled, X, how=how).verdict == "same"
    assert check(silu, lambda x: F.gelu(x), X, how=how).verdict == "different"


# -------------------------------------------------------------------------------------------------------- the verdict


def test_a_difference_is_refuted_with_its_size():
    verdict = check(silu, lambda x: silu(x) + 1e-3, X)
    assert (verdict.verdict, verdict.exit_code, verdict.evidence) == ("different", 1, Rung.REFUTED)
    (root,) = verdict.roots
    assert root.max_error == pytest.approx(1e-3) and root.mean_error == pytest.approx(1e-3)
    assert root.evidence.method == "values" and "magnitude" in root.evidence.detail
    assert verdict.divergence is not None and verdict.diagnosis


def test_one_refuted_output_makes_the_verdict_and_the_other_keeps_its_proof():
    verdict = check(lambda x: (silu(x), x + 1), lambda x: (spelled(x), x + 2), X)
    assert verdict.verdict == "different"
    assert [root.evidence.rung for root in verdict.roots] == [Rung.PROVED_HERE, Rung.REFUTED]


def test_what_rests_on_a_test_is_tested_and_no_more():
    verdict = check(lambda x: torch.ops.planted.swish(x) * 2 + 1, lambda x: 1 + spelled(x) * 2, X)
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.TESTED)
    assert LADDER[verdict.evidence] == "tested"


def test_an_output_that_does_not_rest_on_the_test_makes_the_verdict_no_stronger():
    verdict = check(lambda x: (torch.ops.planted.swish(x), silu(x)), lambda x: (spelled(x), spelled(x)), X)
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.TESTED)


def test_what_congruence_carries_on_from_a_test_is_shown_as_tested():
    verdict = check(lambda x: torch.exp(torch.ops.planted.swish(x)), lambda x: torch.exp(spelled(x)), X)
    (carried,) = [relation for relation in verdict.relations if relation.evidence.method == "congruence"]
    assert carried.evidence.rung is Rung.TESTED and "planted.swish" in carried.evidence.detail
    proved = check(lambda x: torch.exp(silu(x)), lambda x: torch.exp(spelled(x)), X)
    (carried,) = [relation for relation in proved.relations if relation.evidence.method == "congruence"]
    assert carried.evidence.rung is Rung.PROVED


def test_equal_on_every_draw_is_undecided_without_a_proof():
    """|x| below 1000 is all that the draws see."""
    verdict = check(silu, lambda x: torch.where(x > 1e3, x + 1, silu(x)), X)
    assert (verdict.verdict, verdict.exit_code, verdict.evidence) == ("undecided", 3, Rung.UNDECIDED)
    assert verdict.roots[0].max_error < 1e-12
    assert verdict.divergence is None and not verdict.diagnosis


def test_an_opaque_operator_that_parts_on_another_scale_is_undecided():
    verdict = check(torch.ops.planted.clipped, spelled, X)
    assert verdict.verdict == "undecided"


def test_a_weight_without_a_partner_is_named():
    verdict = check(Scaled(), Scaled(shift=rows(6) - 1), X)
    assert verdict.verdict == "different"
    assert verdict.unpaired == ["right shift"]
    assert any("without a partner" in note for note in verdict.notes)
    again = check(Scaled(), Scaled(weight=rows(6) + 1e-3), X)
    assert again.verdict == "different"
    assert again.unpaired == ["left weight", "right weight"]


def test_a_weight_that_changes_nothing_in_the_example_is_not_left_out():
    """A shift of zeros without a partner: equal values for these weights only."""
    verdict = check(Scaled(), Scaled(shift=torch.zeros(6)), X)
    assert verdict.verdict == "different"
    assert verdict.because.endswith("because shift, which the left has not, is 0 throughout")
    assert verdict.unpaired == ["right shift"]


def test_what_it_hangs_on_is_found_on_a_machine_that_is_busy_otherwise(monkeypatch):
    """On which minutes pass between two looks at the clock."""
    minutes = itertools.count(0.0, 60.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(minutes))
    verdict = check(Scaled(), Scaled(shift=torch.zeros(6)), X)
    assert verdict.verdict == "different" and verdict.because


def test_equal_weights_are_said_to_be_paired_by_name():
    two = nn.Sequential(Scaled(torch.ones(6)), nn.SiLU(), Scaled(torch.ones(6)))
    verdict = check(two, two, X)
    assert verdict.verdict == "same"
    assert any("told apart: 2 by name" in note for note in verdict.notes)


# -------------------------------------------------------------------------------------------------------- what hides


def test_an_epsilon_shows_where_values_are_small():
    def norm(eps):
        return lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    verdict = check(norm(1e-9), norm(2e-9), X)
    example = (norm(1e-9)(X[0].double()) - norm(2e-9)(X[0].double())).abs().max()
    assert verdict.verdict == "different"
    assert verdict.roots[0].max_error > 100 * example, "on the example alone it would have passed for rounding"


def test_an_epsilon_that_torch_takes_from_the_dtype_is_a_number():
    def norm(eps):
        return lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    def torchs(x):
        return F.rms_norm(x, x.shape[-1:])

    single, double = (torch.finfo(dtype).eps for dtype in (torch.float32, torch.float64))
    assert check(torchs, norm(single), X).verdict == "same"
    assert check(torchs, norm(double), X).verdict == "different"
    assert check(torchs, norm(double), (X[0].double(),)).verdict == "same"
    assert check(lambda x: torchs(x.double()).float(), torchs, X).verdict == "different"
    with pytest.raises(Refused, match="leaves the epsilon of rms_norm to its kernel"):
        check(lambda x: torchs(x.half()).float(), torchs, X)


def test_integers_too_narrow_are_not_proved_to_hold_what_they_were_made_from():
    def through(dtype):
        return lambda n: n.to(dtype).to(torch.int64)

    numbers = (torch.arange(12).reshape(3, 4),)
    assert check(lambda n: n + 0, through(torch.int8), numbers).verdict == "undecided"
    assert check(lambda n: n + 0, through(torch.int32), numbers).verdict == "same"


def test_a_weight_of_ones_and_a_bias_of_zeros_do_not_hide_their_absence():
    plain = nn.Linear(6, 6)
    torch.nn.init.zeros_(plain.bias)

    class WithoutBias(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = plain

        def forward(self, x):
            return F.linear(x, self.linear.weight) + 0 * self.linear.bias

    assert check(plain, WithoutBias(), X).verdict == "different"


# ------------------------------------------------------------------------------------------------------------ refused


@pytest.mark.parametrize(
    ("left", "right", "inputs", "said"),
    [
        (
            lambda x: x.log() * 2,
            spelled,
            X,
            r"left computes NaN in output 0: aten.log.* makes it first, at .*test_check",
        ),
        (silu, silu, (torch.full((2, 3), torch.nan),), "NaN"),
        (Captured(silu), Captured(silu, (rows(4, 5),)), X, r"input x is .*\[4, 6\] on the left and .*\[4, 5\]"),
        (Captured(silu), Captured(silu, (rows(4, 6) + 1,)), X, "input x has different example values"),
        (silu, lambda x: torch.rand_like(x), X, "random"),
        (silu, torch.ops.planted.noisy, X, "random"),
        (silu, silu, X, "how is 'guess'"),
    ],
    ids=["NaN", "NaN given", "inputs", "examples", "random", "says it is random", "how"],
)
def test_what_cannot_be_compared_is_refused(left, right, inputs, said):
    with pytest.raises(Refused, match=said):
        check(made(left), made(right), inputs, how="guess" if "guess" in said else "record")


def test_nan_on_a_draw_outside_the_domain_is_no_reason_to_refuse():
    """log(x + 3) is a number on the example and not on every draw."""
    verdict = check(lambda x: (x + 3).log() * 2, lambda x: 2 * torch.log(3 + x), (X[0].clamp(-2, 2),))
    assert verdict.verdict == "same"


# ----------------------------------------------------------------------------------------------------- what it reports


def comparable(verdict):
    """The verdict without what may vary: times."""
    roots = [(r.name, r.evidence.rung, r.max_error, r.mean_error) for r in verdict.roots]
    relations = [(r.left, r.right, r.layout, r.evidence.rung, r.evidence.method) for r in verdict.relations]
    edits = [(e.description, e.verified) for e in verdict.diagnosis]
    return verdict.verdict, roots, relations, edits, verdict.numeric, verdict.counts


@pytest.mark.parametrize("right", [spelled, lambda x: F.gelu(x)], ids=["same", "different"])
def test_the_same_seed_gives_the_same_answer(right):
    one, again, other = (check(silu, right, X, seed=seed) for seed in (7, 7, 8))
    assert comparable(one) == comparable(again)
    assert one.seed == 7
    assert one.verdict == other.verdict
    assert one.roots[0].max_error != other.roots[0].max_error or one.verdict == "same"


def test_the_report_says_how_long_each_stage_took_and_what_it_ran_with():
    verdict = check(silu, spelled, X)
    assert set(verdict.timing) == {"capture", "execute", "prove", "diagnose", "numeric", "proofs"}
    assert all(seconds >= 0 for seconds in verdict.timing.values())
    assert verdict.versions["torch"] == torch.__version__ and {"samesame", "python", "z3-solver"} <= set(
        verdict.versions
    )
    assert verdict.counts["proofs"] >= 1
    assert (verdict.left, verdict.right) == ("silu", "spelled")


def test_rounding_is_measured_on_each_side():
    (row,) = check(silu, spelled, X).numeric
    assert row.dtype == "float32" and row.draws >= 3
    assert 0 < row.left_error < 1e-5 and 0 < row.right_error < 1e-5


def test_progress_is_told():
    told = []
    check(silu, spelled, X, progress=lambda done, total, place: told.append((done, total)))
    assert told and all(0 <= done < total for done, total in told)


def test_logits_are_compared_as_choices_too():
    class Head(nn.Module):
        def __init__(self, sign):
            super().__init__()
            self.sign = sign

        def forward(self, x):
            return {"logits": self.sign * x}

    effect = check(Head(1.0), Head(-1.0), X).effect
    assert (effect.argmax_changed, effect.argmax_total) == (4, 4)
    assert effect.max_log_prob_change > 0
    assert check(lambda x: x, lambda x: -x, X).effect.argmax_changed is None


# ------------------------------------------------------------------------------------------------------------ in time


def deep(layers, activation):
    def run(x):
        for _ in range(layers):
            x = activation(x) + x / 2
        return x

    return run


def test_a_time_limit_leaves_what_was_established():
    left, right = deep(6, silu), deep(6, spelled)
    verdict = check(left, right, X, timeout=0.0)
    assert verdict.verdict == "undecided"
    assert any("time limit was reached" in note for note in verdict.notes)
    assert check(left, right, X).verdict == "same"


def test_a_time_limit_does_not_hide_a_difference():
    verdict = check(deep(20, silu), deep(20, F.gelu), X, timeout=0.0)
    assert verdict.verdict == "different"
    assert verdict.divergence is not None


def test_the_time_limit_keeps_relations_found_before_it(monkeypatch):
    """The clock runs out after the first proof: it and what follows by its rule until then stays."""
    from samesame.relate import prove

    class Clock:
        now = 0.0

        def monotonic(self):
            return Clock.now

        def thread_time(self):
            return time.thread_time()

    original = prove.Prover._timed

    def timed(self, *block_and_limits):
        found = original(self, *block_and_limits)
        if found is not None:
            Clock.now += 100.0
        return found

    monkeypatch.setattr(prove.Prover, "_timed", timed)
    monkeypatch.setattr(prove, "time", Clock())
    verdict = check(deep(8, silu), deep(8, spelled), X, timeout=-time.monotonic() + 150.0)
    assert verdict.verdict == "undecided"
    methods = [relation.evidence.method for relation in verdict.relations]
    assert "normal form" in methods or "smt" in methods
    assert 2 <= len(methods) < 16
