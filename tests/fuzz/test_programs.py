"""Programs as data: their text runs, JSON gives them back, generators make valid ones, and twins are equal."""

from __future__ import annotations

import random

import pytest
import torch

from samesame.fuzz.encode import decoded, encoded
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.oracle import compare, observe
from samesame.fuzz.program import Block, Input, Program, Ref, Step, source
from samesame.fuzz.twins import RULES, twin_of
from samesame.fuzz.undefined import leaves_open

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
    for seed in range(40):
        program = GENERATORS[generator](random.Random(seed), frozenset())
        assert observe(program.function(), program.make_inputs, calls=1).error == "", source(program)
        assert decoded(encoded(program)) == program
        assert source(GENERATORS[generator](random.Random(seed), frozenset())) == source(program)


def test_operators_to_avoid_do_not_occur():
    avoid = frozenset(("torch.clone", "torch.add", ".zero_", ".add_"))
    for seed in range(40):
        text = source(GENERATORS["statements"](random.Random(seed), avoid))
        assert not any(f"{call.removeprefix('torch')}(" in text for call in avoid), text


def test_twins_compute_what_their_programs_compute():
    """Every rewrite, applied at random to programs of all generators, is as exact as its label says."""
    seen = set[str]()
    for seed in range(150):
        dice = random.Random(seed)
        program = GENERATORS[("operators", "statements")[seed % 2]](dice, frozenset())
        twin = twin_of(program, dice)
        if twin is None or leaves_open(program):
            continue
        eager, other = (
            observe(program.function(), program.make_inputs, 1),
            observe(twin.program.function(), twin.program.make_inputs, 1),
        )
        apart = [d for d in compare(eager, other, None) if d.kind not in ("wrong strides", "wrong aliasing")]
        assert not apart, (twin.rules, source(program), source(twin.program), apart)
        seen |= set(twin.rules)
    assert len(seen) >= len(RULES) - 3, set(rule.name for rule in RULES) - seen
