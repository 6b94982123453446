"""Which forms become candidates: those that are cheaper, and the program's own where reading it saved work."""

from __future__ import annotations

import torch
from pooled import inputs, module

from optimize.test_reassociation import written
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


def risk(w, b, f, s):
    cov = b @ f @ b.T + torch.diag(s)
    return ((w @ cov) * w).sum(-1)


def test_a_diagonal_that_is_added_to_a_product_is_no_matrix(tmp_path):
    """w·(B·F·Bᵀ + diag s) is (w·B)·F·Bᵀ + w∘s, which takes 1/12 of the multiplications here."""
    example = torch.randn(4, 96), torch.randn(96, 4), torch.randn(4, 4), torch.rand(96)
    first = found(risk, example)[0]
    assert "diag" not in first.source and "where" not in first.source
    with torch.no_grad():
        torch.testing.assert_close(written(first.source, tmp_path)(*example), risk(*example), rtol=1e-4, atol=1e-4)


def test_a_program_that_does_what_it_must_has_no_candidate():
    assert not found(lambda a, b: torch.relu(a @ b), (torch.randn(8, 8), torch.randn(8, 8)))


def test_the_mean_goes_first():
    assert any("x.mean(-2)" in candidate.source for candidate in found(module, inputs))
