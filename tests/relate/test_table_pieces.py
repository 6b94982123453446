"""Tables of numbers: one that says every number twice in a row, and one row of another, are known for what they are."""

import torch

from samesame import check
from samesame.certificate.forms import value_of
from samesame.evidence import Rung

ANGLES = torch.outer(torch.arange(7.0), torch.tensor([1.0, 0.3, 0.05]))
TABLE = torch.cat((ANGLES.cos(), ANGLES.sin()), -1)                     # [7, 6]: cosines, then sines


def pairs_turned(x):
    """Neighbours turned by a table that says each angle twice in a row."""
    cos, sin = (t.repeat_interleave(2, -1) for t in (ANGLES[:5].cos(), ANGLES[:5].sin()))
    turned = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * cos + turned * sin


def pairs_turned_by_halves(x):
    cos, sin = TABLE[torch.arange(5)].chunk(2, -1)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)


def of_the_last_row(x):
    return x * ANGLES[6].cos()


def of_row_six(x):
    return x * TABLE[torch.full((2,), 6)][:, :3]


def of_row_five(x):
    return x * TABLE[torch.full((2,), 5)][:, :3]


def test_a_table_that_says_every_number_twice_is_the_one_that_says_it_once():
    verdict = check(pairs_turned, pairs_turned_by_halves, (torch.randn(2, 5, 6),))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


def test_the_wrong_half_of_a_pair_is_found():
    def wrong(x):
        return pairs_turned_by_halves(x.flip(-1))

    assert check(pairs_turned, wrong, (torch.randn(2, 5, 6),)).verdict == "different"


def test_a_row_is_a_piece_of_a_table():
    verdict = check(of_the_last_row, of_row_six, (torch.randn(2, 3),))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert check(of_the_last_row, of_row_five, (torch.randn(2, 3),)).verdict == "different"


def test_a_constant_without_elements_is_read_back():
    assert value_of({"kind": "real", "shape": [0, 3], "data": ""}).shape == (0, 3)
