"""The corpus is true: pairs agree to the last digits of float64, twins can be told apart by their values."""

import pytest
import torch

from pairs.corpus import GROUPS, PAIRS

DRAWS = 3
TWINS = [(pair, twin) for pair in PAIRS for twin in pair.twins]


def outputs(program, arguments):
    """The program's outputs in float64, as a tuple."""
    wide = (argument.double() if argument.is_floating_point() else argument for argument in arguments)
    results = program(*wide)
    return results if isinstance(results, tuple | list) else (results,)


def worst(left, right):
    """The largest difference over all outputs, relative to the largest value of each."""
    assert [part.shape for part in left] == [part.shape for part in right]
    assert all(part.isfinite().all() for part in (*left, *right))
    return max(
        ((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1e-30)).item()
        for a, b in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_pairs_agree(pair):
    for seed in range(DRAWS):
        arguments = pair.inputs(seed)
        assert worst(outputs(pair.left, arguments), outputs(pair.right, arguments)) < 1e-9


@pytest.mark.parametrize("pair, twin", TWINS, ids=[f"{pair.name}: {twin.name}" for pair, twin in TWINS])
def test_twins_differ(pair, twin):
    differences = (
        worst(outputs(pair.left, arguments), outputs(twin.right, arguments))
        for arguments in map(pair.inputs, range(DRAWS))
    )
    assert max(differences) > 1e-6


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_pairs_leave_their_inputs_alone_and_draw_the_same_again(pair):
    arguments = pair.inputs()
    outputs(pair.left, arguments)
    outputs(pair.right, arguments)
    assert all(map(torch.equal, arguments, pair.inputs()))


def test_every_group_has_pairs_and_every_pair_a_twin():
    assert {pair.number for pair in PAIRS} == set(GROUPS)
    assert all(pair.twins for pair in PAIRS)
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)


ASKED_FOR = """
    scale off; eps off; tanh instead of exact; missing bias; swapped K and V; window off by one; wrong axis;
    wrong head repetition order; wrong split order; residual taken before the norm; cap missing on the output
"""


def test_the_usual_mistakes_are_among_the_twins():
    names = {twin.name for _, twin in TWINS}
    assert {mistake.strip() for mistake in ASKED_FOR.split(";")} <= names
