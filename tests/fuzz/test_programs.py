"""Programs as data: their text runs, JSON gives them back, generators make valid ones, and twins are equal."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import torch

from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.generators.taste import Taste
from samesame.fuzz.judge import judge
from samesame.fuzz.oracle import observe
from samesame.fuzz.program import Block, Input, Program, Ref, Step, decoded, encoded, refs_in, source

SMALL = Program(
    (Input("x", "torch.arange(6.).reshape(2, 3)"),),
    (
        Step(("a",), "torch.add", (Ref("x"), 1.5), {"alpha": 2}),
        Block("for _ in range(2):", (Step((), ".mul_", (Ref("a"), float("inf"))),)),
        Step(("v", "i"), "torch.sort", (Ref("a"),), {"dim": -1}, unpacked=True),
        Step(("s",), "[]", (Ref("v"), (slice(None), slice(1, None, 2)))),
    ),
    ("s", "x"),
)


def test_a_transposition_in_place_is_not_seen_before_it():
    steps = Step(("y",), "torch.neg", (Ref("x"),)), Step((), ".t_", (Ref("x"),))
    before, after, end = Program((Input("x", "torch.ones(2, 3)"),), steps, ("x",)).sites()
    assert [tuple(values["x"].shape) for _, values in (before, after, end)] == [(2, 3), (2, 3), (3, 2)]


def test_text_is_the_program():
    assert source(SMALL) == (
        "def program(x):\n"
        "    a = torch.add(x, 1.5, alpha=2)\n"
        "    for _ in range(2):\n"
        '        a.mul_(float("inf"))\n'
        "    v, i = torch.sort(a, dim=-1)\n"
        "    s = v[:, 1::2]\n"
        "    return s, x\n"
    )
    s, x = SMALL.function()(*SMALL.make_inputs())
    assert s.shape == (2, 1) and torch.equal(x, torch.arange(6.0).reshape(2, 3))


def test_json_gives_back_the_program():
    assert decoded(encoded(SMALL)) == SMALL


@pytest.mark.parametrize("generator", GENERATORS)
def test_generated_programs_run_and_are_the_same_again(generator):
    for seed in range(12):
        program = GENERATORS[generator](random.Random(seed))
        assert observe(program.function(), program.make_inputs, calls=1).error == "", source(program)
        assert decoded(encoded(program)) == program
        assert source(GENERATORS[generator](random.Random(seed))) == source(program)


def test_programs_of_values_keep_no_operator_of_which_nothing_can_be_said():
    seen, dtypes = Counter(), set()
    for seed in range(30):
        program = GENERATORS["values"](random.Random(seed))
        seen[judge(program, BACKENDS["eager"]).status] += 1
        dtypes |= {tensor.dtype for tensor in program.make_inputs()}
        assert {name for step in program.every_step for name in refs_in(step.args)} <= {i.name for i in program.inputs}
    assert seen == {"agrees": 30}
    assert {torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.complex64} <= dtypes


def test_operators_to_avoid_do_not_occur():
    avoid = Taste(frozenset(("torch.clone", "torch.add", ".zero_", ".add_")))
    for seed in range(40):
        text = source(GENERATORS["statements"](random.Random(seed), avoid))
        assert not any(f"{call.removeprefix('torch')}(" in text for call in avoid.avoid), text
