"""What is symmetric is claimed in each of its orders, at the nearest frontier of all of them first."""

from __future__ import annotations

import pytest
import torch

from samesame import check
from samesame.evidence import Rung
from samesame.relate.prove import Prover


class Turned(torch.nn.Module):
    """Points turned about an axis (Rodrigues), the matrix first."""

    def forward(self, points: torch.Tensor, axis: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
        x, y, z = axis.unbind(-1)
        zero = torch.zeros_like(x)
        k = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(-1, 3, 3)
        turn = torch.eye(3) + angle.sin()[:, None, None] * k + (1 - angle.cos()[:, None, None]) * (k @ k)
        return (turn @ points.unsqueeze(-1)).squeeze(-1)


class Apart(Turned):
    """A point and what it is moved by, in two parts; of the matrix columns are joined, not rows."""

    sign = 1

    def forward(self, points: torch.Tensor, axis: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
        x, y, z = axis.unbind(-1)
        zero = torch.zeros_like(x)
        k = torch.stack([torch.stack([zero, -z, y]), torch.stack([z, zero, -x]), torch.stack([-y, x, zero])], -1)
        once = torch.einsum("bnj,nb->nj", k, points * angle.sin()[:, None])
        twice = torch.einsum("nbj,nb->nj", k.permute(1, 0, 2) @ k.permute(1, 0, 2), points * (1 - angle.cos())[:, None])
        return points + once + self.sign * twice


class Back(Apart):
    sign = -1


INPUTS = (torch.randn(5, 3), torch.randn(5, 3), torch.randn(5))


def test_a_product_that_is_symmetric_is_proved_without_looking_into_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frontier does not move back to the angle's numbers and the matrix's rows: no proof goes by cases."""
    monkeypatch.setattr(Prover, "_by_what_is_left", Prover._by_normal_form)
    found = check(Turned(), Apart(), INPUTS)
    assert (found.verdict, found.evidence) == ("same", Rung.PROVED)


def test_another_sign_is_seen() -> None:
    assert check(Turned(), Back(), INPUTS).verdict == "different"


class Stretched(torch.nn.Module):
    """A constant matrix, which the other program does not have, as it is and turned."""

    def __init__(self, corner: float) -> None:
        super().__init__()
        self.register_buffer("e", torch.tensor([[2.0, corner, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + 1) @ self.e.T + (x - 1) @ self.e


@pytest.mark.parametrize("corner, verdict", [(0.0, "same"), (0.5, "different")])
def test_a_symmetric_constant_is_not_defined_by_itself(corner: float, verdict: str) -> None:
    """Turned it is the same constant, so that what defines it would be made of it."""
    assert check(lambda x: 4 * x, Stretched(corner), (torch.randn(5, 3),)).verdict == verdict
