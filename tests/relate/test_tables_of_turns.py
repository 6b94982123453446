"""A transform by a table of cosines and sines, in which places of one turn are looked up: 2π·(k·n mod N)/N is 2π·k·n/N
but for whole turns."""

import math

import pytest
import torch

from samesame import check
from samesame.evidence import Rung

N = 8
WAVE = torch.randn(3, N, generator=torch.Generator().manual_seed(0))


def by_transform(wave):
    return torch.fft.rfft(wave).abs().pow(2)


def by_table(wound=N, turn=N):
    def program(wave):
        n, k = torch.arange(N), torch.arange(N // 2 + 1)
        angle = 2 * math.pi * ((k[:, None] * n) % wound) / turn
        return (wave @ torch.cos(angle).T).square() + (wave @ torch.sin(angle).T).square()

    return program


@pytest.mark.parametrize("table", [by_table(), by_table(wound=2 * N)])
def test_a_table_of_whole_turns_is_a_transform(table):
    verdict = check(by_transform, table, (WAVE,))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.ROUNDED


@pytest.mark.parametrize("table", [by_table(wound=N // 2), by_table(wound=N - 1), by_table(turn=N + 1)])
def test_other_tables_are_told_apart(table):
    assert check(by_transform, table, (WAVE,)).verdict == "different"
