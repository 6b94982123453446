"""Programs that compute with complex numbers, against the same in real ones."""

import pytest
import torch
from torch import nn

from samesame import check


def both(left, right, *inputs):
    torch.manual_seed(0)
    return check(left, right, inputs).verdict


def real_product(a, b, c, d):
    return torch.stack([a @ c - b @ d, a @ d + b @ c], -1)


def r(*shape):
    return torch.randn(shape)


@pytest.mark.parametrize("conjugated, expected", [(False, "same"), (True, "different")])
def test_a_product_of_complex_matrices_is_four_real_ones(conjugated, expected):
    def right(a, b, c, d):
        z = torch.complex(c, d)
        return torch.view_as_real(torch.complex(a, b) @ (z.conj() if conjugated else z))

    assert both(real_product, right, r(3, 4), r(3, 4), r(4, 5), r(4, 5)) == expected


class Scores(nn.Module):
    """The real part of ⟨h, r, t̄⟩, over rows of tables of complex numbers."""

    def __init__(self):
        super().__init__()
        self.real, self.imag = nn.Parameter(r(7, 4)), nn.Parameter(r(7, 4))

    def forward(self, h, t):
        table = torch.complex(self.real, self.imag)
        return torch.einsum("bd,bd->b", table[h], table[t].conj()).real


class RealScores(Scores):
    def forward(self, h, t):
        return (self.real[h] * self.real[t] + self.imag[h] * self.imag[t]).sum(-1)


def test_rows_of_a_complex_table_are_rows_of_its_parts():
    left, right = Scores(), RealScores()
    right.load_state_dict(left.state_dict())
    assert both(left, right, torch.tensor([0, 3, 5]), torch.tensor([1, 1, 6])) == "same"


def test_a_real_tensor_turned_by_an_angle():
    def turned(x, angle):
        return torch.view_as_real(x.to(torch.complex64) * torch.exp(1j * angle))

    def spelled_out(x, angle):
        return torch.stack([x * angle.cos(), x * angle.sin()], -1)

    assert both(turned, spelled_out, r(3, 4), r(4)) == "same"


@pytest.mark.parametrize("sign, expected", [(1, "same"), (-1, "different")])
def test_a_quotient_of_complex_numbers(sign, expected):
    def quotient(a, b, c, d):
        return torch.view_as_real(torch.complex(a, b) / torch.complex(c, d))

    def spelled_out(a, b, c, d):
        size = c * c + d * d
        return torch.stack([(a * c + b * d) / size, sign * (b * c - a * d) / size], -1)

    assert both(quotient, spelled_out, r(5), r(5), r(5), r(5)) == expected


def test_a_complex_number_beside_a_choice_is_an_answer() -> None:
    """A number of one kind among complex ones, and a complex multiple, were errors of our own."""
    def chosen(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.where(a > 0, torch.complex(a, b), 1.0))

    def differing(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.sub(torch.complex(a, b), torch.complex(b, a), alpha=1j))

    inputs = (torch.randn(3, 4), torch.randn(3, 4))
    assert check(chosen, chosen, inputs).verdict == "same"
    assert check(differing, lambda a, b: torch.stack([2 * a, 0 * b], -1), inputs).verdict == "same"
