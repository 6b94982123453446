"""Results that are made of the same elements are made in one loop nest; others keep their own."""

from __future__ import annotations

import pytest
import torch
from tests.optimize.test_rows_of_stages import kernels
from torch.nn import functional as F

from samesame.capture import capture
from samesame.optimize.beside import beside, neighbours
from samesame.optimize.partition import stages
from samesame.optimize.read import read


def step(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """AdamW, with the gradient clipped."""
    g = g * torch.clamp(1 / (g.norm() + 1e-6), max=1.0)
    m, v = torch.lerp(m, g, 0.1), v * 0.999 + 0.001 * g * g
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def two_steps(p, g, m, v, q, h, n, w):
    return *step(p, g, m, v), *step(q, h, n, w)


def residual(x: torch.Tensor, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return F.rms_norm(x + r, (24,)), x + r


def test_what_reads_the_same_elements_is_one_nest() -> None:
    p, g, m, v = (torch.rand(24, 40) for _ in range(4))
    assert len(kernels(step, p, g, m, v)[1].kernels) == 2                        # the norm, and the rest
    assert len(kernels(residual, torch.randn(16, 24), torch.randn(16, 24))[1].kernels) == 1


def test_of_several_parameters_each_has_a_nest_of_its_own() -> None:
    several = [torch.rand(24, 40) for _ in range(4)] + [torch.rand(16, 24) for _ in range(4)]
    assert len(kernels(two_steps, *several)[1].kernels) == 4


@pytest.mark.parametrize("program, shapes", [
    (lambda x, y: (x.exp(), y.exp()), [(24, 40), (24, 40)]),                     # of other elements
    (lambda x, w, u: (x @ w, x @ u), [(24, 16), (16, 40), (16, 40)]),            # of rows and columns
    (lambda x, y: (x.exp(), x.t() * y), [(24, 24), (24, 24)]),                   # of the same, read the other way
    (lambda x, y: (x.exp(), x[:, 1:] * y), [(24, 40), (24, 39)]),                # of other sizes
])
def test_others_keep_axes_of_their_own(program, shapes) -> None:
    specification = read(capture(program, tuple(map(torch.randn, shapes))))
    assert beside(specification.outputs, specification.extents) == specification.outputs


def test_stages_stand_behind_what_they_read() -> None:
    several = tuple(torch.rand(24, 40) for _ in range(8))
    specification = read(capture(two_steps, several))
    cut = stages(beside(specification.outputs, specification.extents), specification.extents)
    order = neighbours(cut)
    assert sorted(s.target for s in order) == sorted(s.target for s in cut)
    made = set[str]()
    for stage in order:
        assert stage.reads & {s.target for s in cut} <= made
        made.add(stage.target)
    turns = [stage.axes for stage in order if not stage.folds]
    assert len(turns) == 6 and len({*turns}) == sum(a != b for a, b in zip(turns, [(), *turns], strict=False))
