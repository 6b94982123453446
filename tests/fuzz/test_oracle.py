"""The oracle accuses a compiler of what it did, and of nothing else: faults are planted into what it returns."""

from __future__ import annotations

from math import inf, nan
from types import SimpleNamespace

import pytest
import torch

from samesame.fuzz.judge import judge
from samesame.fuzz.oracle import gap
from samesame.fuzz.program import Input, Program, Ref, Step
from samesame.fuzz.reduce import first_wrong, reduced
from samesame.fuzz.undefined import leaves_open

RANDOM = "torch.randn((4, 5), generator=torch.Generator().manual_seed(0))"


def of(*steps: Step, x: str = RANDOM, out: tuple[str, ...] = ("y",)) -> Program:
    return Program((Input("x", x),), steps, out)


def planted(change) -> SimpleNamespace:
    """A compiler that runs eager torch and then changes what it returns."""

    return compiler(lambda function: lambda *given: change(given, function(*given)))


def compiler(compile_) -> SimpleNamespace:
    """A back end that makes another function of a function."""
    return SimpleNamespace(name="planted", writes=True, precise="", compile=lambda function, *_: compile_(function))


SQUARE = of(Step(("y",), "torch.square", (Ref("x"),)))
FAULTS = {
    "wrong value": lambda given, out: (out[0] * 1.01,),
    "wrong dtype": lambda given, out: (out[0].double(),),
    "wrong shape": lambda given, out: (out[0][:2],),
    "wrong strides": lambda given, out: (out[0].t().contiguous().t(),),
    "wrong aliasing": lambda given, out: (given[0].copy_(out[0]),),
    "wrong input after the call": lambda given, out: (given[0].add_(1), out)[1],
}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_is_seen(kind):
    program = of(Step(("y",), "torch.clone", (Ref("x"),))) if kind == "wrong aliasing" else SQUARE
    found = judge(program, planted(FAULTS[kind]))
    assert (found.status, found.kind) == ("found", kind)


def test_an_error_of_the_compiled_program_is_a_crash():
    def raises(given, out):
        raise ValueError("no code")

    found = judge(SQUARE, planted(raises))
    assert (found.kind, found.detail) == ("crash", "ValueError: no code")


def test_rounding_is_no_fault():
    """A sum in another order, and a result a unit in the last place off."""
    total = of(Step(("y",), "torch.sum", (Ref("x"),)))
    nudge = planted(lambda given, out: (torch.nextafter(out[0], out[0] + 1),))
    assert judge(total, nudge).status == judge(SQUARE, nudge).status == "agrees"


def test_nan_equals_nan_and_minus_zero_zero():
    special = of(Step(("y",), "torch.neg", (Ref("x"),)), x="torch.tensor([nan, inf, 0.0, -0.0])")
    assert judge(special, planted(lambda given, out: (out[0] + 0.0,))).status == "agrees"
    assert judge(special, planted(lambda given, out: (out[0].nan_to_num(0.0, posinf=None),))).kind == "wrong value"


@pytest.mark.parametrize(
    "program",
    [
        of(Step(("y",), ".to", (Ref("x"), torch.int8)), x="torch.tensor([nan, 1e9])"),
        of(Step(("y",), "torch.bitwise_left_shift", (Ref("x"), 70)), x="torch.tensor([1, 2])"),
        of(Step(("y",), "torch.empty_like", (Ref("x"),))),
        of(Step(("v", "y"), "torch.sort", (Ref("x"),), {}, True), x="torch.tensor([1., 1., 2.])"),
        of(Step(("y",), "torch.floor_divide", (Ref("x"), -1)), x="torch.tensor([-128, 1], dtype=torch.int8)"),
        of(Step(("y",), "torch.where", (Ref("x"), Ref("x"), Ref("x"))), x="torch.tensor([1, 0], dtype=torch.uint8)"),
        of(Step(("y",), "torch.bucketize", (Ref("x"), Ref("x"))), x="torch.tensor([3., 1., 2.])"),
        of(Step(("v", "y"), "torch.cummax", (Ref("x"), 0), {}, True), x="torch.tensor([1., 1.])"),
        of(Step(("y",), "torch.sum", (Ref("x"),), {"dtype": torch.int8}), x="torch.tensor([nan, 1.])"),
        of(Step(("v", "y"), "torch.var_mean", (Ref("x"),), {}, True), x="torch.tensor([-inf, 1., 1.])"),
        of(Step(("y",), "torch.mul", (Ref("x"), 1)), x="torch.complex(torch.ones(2), torch.tensor([inf, 0.]))"),
        of(Step(("y",), "torch.transpose", (Ref("x"), 0, 1)), Step(("z",), ".copy_", (Ref("x"), Ref("y"))),
           x="torch.arange(8.).reshape(2, 4)[:, ::2]"),        # where torch does not see it; else it refuses
        of(Step(("y",), "torch.select", (Ref("x"), 0, 0)),
           Step(("z",), "torch.nn.functional.batch_norm", (Ref("x"), Ref("y"), Ref("y"), None, None, True)),
           x="torch.arange(4.).reshape(2, 2)"),
        of(Step(("y",), "torch.select", (Ref("x"), 0, 0)), Step(("c",), "torch.clone", (Ref("x"),)),
           Step(("z",), "torch.nn.functional.batch_norm", (Ref("c"), *[Ref("y")] * 4, True)),
           x="torch.arange(4.).reshape(2, 2)"),
    ],
    ids=["cast", "shift", "empty", "ties", "division", "mask of bytes", "boundaries", "maxima", "sum", "mean",
         "complex", "copy across itself", "statistics", "statistics and scale"],
)
def test_what_torch_leaves_open_accuses_nobody(program):
    assert leaves_open(program)
    assert judge(program, planted(lambda given, out: tuple(o + 1 for o in out))).status in ("undefined", "unsteady")


def test_a_step_function_of_a_rounded_number_accuses_nobody():
    steps = Step(("a",), "torch.mul", (Ref("x"), 3.0)), Step(("y",), "torch.floor", (Ref("a"),))
    tie = of(*steps, x="torch.ones(3) / 3")
    assert judge(tie, planted(lambda given, out: (out[0] - 1,))).status == "unsteady"


def test_a_wrong_twin_accuses_the_rewrite():
    twin = of(Step(("y",), "torch.abs", (Ref("x"),)))
    assert judge(SQUARE, planted(lambda given, out: out), twin).status == "wrong twin"


def test_a_twin_whose_zeros_may_have_either_sign_accuses_nobody():
    """|x| as the larger of x and −x: 0 or −0, which 1/x tells apart."""
    inverse = Step(("y",), "torch.reciprocal", (Ref("a"),))
    program = of(Step(("a",), "torch.abs", (Ref("x"),)), inverse, x="torch.zeros(9)")
    twin = of(
        Step(("b",), "torch.neg", (Ref("x"),)), Step(("a",), "torch.maximum", (Ref("b"), Ref("x"))), inverse,
        x="torch.zeros(9)",
    )  # fmt: skip
    assert judge(program, planted(lambda given, out: out), twin).status == "agrees"


def test_a_compiler_that_spoils_the_twin_alone_is_accused():
    twin = of(Step(("y",), "torch.mul", (Ref("x"), Ref("x"))))

    def compile_(function):
        spoil = "torch.mul" in open_text(function)
        return lambda *given: tuple(out * 2 if spoil else out for out in function(*given))

    found = judge(SQUARE, compiler(compile_), twin)
    assert (found.status, found.stage) == ("found", "twin")


def open_text(function) -> str:
    import inspect

    return inspect.getsource(function)


def test_reduction_leaves_the_step_that_is_wrong():
    """Twelve steps and four outputs, of which one cumulative sum is compiled wrongly."""

    def compile_(function):
        text = open_text(function)
        return lambda *given: tuple(out + ("cumsum" in text) for out in function(*given))

    chain = [Step((f"a{k}",), "torch.add", (Ref(f"a{k - 1}" if k else "x"), 1.0)) for k in range(6)]
    wide = [Step((f"b{k}",), "torch.mul", (Ref("a5"), 2.0)) for k in range(5)]
    program = of(*chain, *wide, Step(("y",), "torch.cumsum", (Ref("b0"), 0)), out=("a1", "b3", "b4", "y"))
    backend = compiler(compile_)

    def shows(candidate):
        try:
            judged = judge(candidate, backend)
        except Exception:
            return None
        return judged.kind if judged.status == "found" else None

    small = reduced(program, shows, "wrong value", until=float("inf"))
    assert [step.call for step in small.steps] == ["torch.cumsum"]
    assert len(small.inputs) == len(small.outputs) == 1 and small.make_inputs()[0].numel() <= 2


@pytest.mark.parametrize("wrong", [0, 10, 23])
def test_of_many_results_beside_one_another_the_wrong_one_is_found_in_few_runs(wrong):
    steps = [Step((f"y{k}",), "torch.mul", (Ref("x"), 1.0 + k)) for k in range(24)]
    program, sizes = of(*steps, out=tuple(f"y{k}" for k in range(24))), []

    def shows(candidate):
        sizes.append(len(candidate))
        return "wrong value" if any(step.args[1] == 1.0 + wrong for step in candidate.every_step) else ""

    small = reduced(program, shows, "wrong value", until=float("inf"))
    assert [step.args[1] for step in small.every_step] == [1.0 + wrong]
    assert sum(size > 1 for size in sizes) <= 12


TIE = "torch.tensor([0.1, 0.2])"
SUM = Step(("a",), "torch.sum", (Ref("x"),)), Step(("b",), "torch.cumsum", (Ref("x"), 0))
ROUNDED = {
    "equal sums": (
        *SUM, Step(("c",), "torch.select", (Ref("b"), 0, 1)), Step(("y",), "torch.eq", (Ref("a"), Ref("c"))),
    ),
    "a zero": (
        Step(("a",), "torch.var", (Ref("x"), 0)), Step(("b",), "torch.reciprocal", (Ref("a"),)),
        Step(("y",), "torch.isinf", (Ref("b"),)),
    ),
    "the sign of a zero": (
        Step(("a",), "torch.maximum", (Ref("x"), Ref("x"))),
        Step(("b",), "torch.reciprocal", (Ref("a"),)), Step(("y",), "torch.sign", (Ref("b"),)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUNDED)
def test_what_another_rounding_on_the_way_changes_accuses_nobody(name):
    given = {"a zero": "torch.full((2,), 0.1)", "the sign of a zero": "torch.zeros(9)"}
    program = of(*ROUNDED[name], x=given.get(name, TIE))
    other = planted(lambda given, out: tuple(~o if o.dtype == torch.bool else o + 1e-6 for o in out))
    assert judge(program, other).status == "unsteady"


def test_exact_numbers_are_steady_at_the_edge_of_a_step():
    """Multiples of 1/16 have one sum in any order: a floor of it may be judged, though it stands on an edge."""
    floor = of(Step(("a",), "torch.sum", (Ref("x"),)), Step(("y",), "torch.floor", (Ref("a"),)), x="torch.ones(4) / 2")
    assert judge(floor, planted(lambda given, out: (out[0] - 1,))).kind == "wrong value"


def test_integers_that_divide_are_judged_by_float64():
    third = of(Step(("a",), "torch.div", (Ref("x"), 3)), Step(("y",), "torch.sum", (Ref("a"),)), x="torch.arange(7)")
    function, make_inputs = third.wide()
    assert function(*make_inputs())[0].dtype == torch.float64
    assert third.function()(*third.make_inputs())[0].dtype == torch.float32


def test_the_line_after_which_eager_and_compiled_part():
    steps = [Step(("a",), "torch.neg", (Ref("x"),)), Step(("b",), "torch.cumsum", (Ref("a"), 0)),
             Step(("y",), "torch.neg", (Ref("b"),))]  # fmt: skip
    program = of(*steps)
    assert first_wrong(program, lambda part: "wrong" if len(part) > 1 else "") == "b = torch.cumsum(a, 0)"
    assert first_wrong(program, lambda part: "") == "y = torch.neg(b)", "the whole program shows it"


@pytest.mark.parametrize("number, other, true, told", [
    (2.0, inf, 2.0, True), (2.0, nan, 2.0, True), (3.3e38, inf, 3.4e38, False),
    (inf, 3.3e38, 3.4e38, False), (3.3e38, inf, None, True), (inf, inf, 1e39, False), (nan, nan, 2.0, False),
    (inf, -inf, 1e39, True), (3.3e38, -inf, 3.4e38, True), (-nan, inf, 1e39, False), (-inf, -3.3e38, -3.4e38, False),
])
def test_no_number_for_a_number_counts_unless_the_true_one_is_about_the_largest(number, other, true, told):
    eager, compiled = torch.tensor([1.0, number]), torch.tensor([1.0, other])
    wide = None if true is None else torch.tensor([1.0, true], dtype=torch.float64)
    assert bool(gap(eager, compiled, wide)) == told
