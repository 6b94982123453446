"""Tables of numbers: what one program cuts out of a table, and what another computes, are the same numbers."""

import torch

from samesame import check
from samesame.evidence import Rung

FREQUENCIES = torch.tensor([1.0, 0.31, 0.0957, 0.03])
TABLE = (torch.arange(32)[:, None] * FREQUENCIES).cos()


def computed(x):
    return x * (torch.arange(x.shape[1])[:, None] * FREQUENCIES).cos()


def looked_up(x, table=TABLE):
    batch, length, width = x.shape
    positions = torch.arange(length).repeat(batch)
    return (x.reshape(-1, width) * table[positions]).reshape(batch, length, width)


def test_rows_of_a_table_are_those_computed_for_every_batch_and_every_length_that_it_has():
    verdict = check(computed, looked_up, (torch.randn(3, 7, 4),))
    assert verdict.evidence is Rung.PROVED
    assert verdict.covers({"x": (5, 32, 4)}) and not verdict.covers({"x": (5, 33, 4)})


def test_a_table_with_one_wrong_row_is_not_the_one_computed():
    wrong = TABLE.clone()
    wrong[5] = wrong[6]
    assert check(computed, lambda x: looked_up(x, wrong), (torch.randn(3, 7, 4),)).verdict == "different"


def test_rows_beyond_those_that_are_looked_up_say_nothing():
    other = TABLE.clone()
    other[9:] = 0.5
    verdict = check(computed, lambda x: looked_up(x, other), (torch.randn(3, 7, 4),))
    assert verdict.verdict == "same"
    assert not any("x.shape[1]" in text for text in verdict.sizes.varying)


def test_a_table_is_also_what_it_was_made_of():
    """How many elements each window holds is a table of few numbers, here one that repeats: a pattern says less than
    the sum it was computed by."""
    pool = torch.nn.AvgPool2d(3, 2, ceil_mode=True)

    def windows(x):
        return torch.nn.functional.pad(x, (0, 1, 0, 1)).unfold(-2, 3, 2).unfold(-2, 3, 2).sum((-1, -2))

    verdict = check(pool, lambda x: windows(x) / windows(torch.ones_like(x[:1, :1])), (torch.randn(2, 3, 8, 8),))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
