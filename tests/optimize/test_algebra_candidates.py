"""Which forms become candidates: those that are cheaper, and the program's own where reading it saved work."""

from __future__ import annotations

import torch
from pooled import inputs, module

from samesame.capture import capture
from samesame.optimize.algebra import algebraic, multiplications, specified
from samesame.optimize.search import searched


def found(program, example):
    specification = specified(program, example, capture(program, example))
    return list(algebraic(specification, searched(specification), multiplications(program, example)))


def diagonal(a, s, b):
    return a @ torch.diag_embed(s) @ b


def test_a_matmul_with_a_diagonal_is_read_as_what_it_is():
    example = torch.randn(32, 32), torch.randn(32), torch.randn(32, 32)
    assert multiplications(diagonal, example) == 2 * 32 ** 3
    (candidate,) = found(diagonal, example)
    assert "diag" not in candidate.source and candidate.source.count("@") == 1
    assert candidate.changed[0].startswith("read as ")


def test_a_program_that_does_what_it_must_has_no_candidate():
    assert not found(lambda a, b: torch.relu(a @ b), (torch.randn(8, 8), torch.randn(8, 8)))


def test_the_mean_goes_first():
    assert any("x.mean(-2)" in candidate.source for candidate in found(module, inputs))
