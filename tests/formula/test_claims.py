"""Claims that hold are proved, for all sizes and at small ones; their false twins never are."""

from __future__ import annotations

import time

import numpy as np
import pytest
from formula_claims import CLAIMS

from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate

NAMES = [claim.name for claim in CLAIMS]


@pytest.mark.parametrize("symbolic", [True, False], ids=["all sizes", "small sizes"])
@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_a_true_claim_is_proved_and_its_twin_is_not(claim, symbolic):
    left, right, twin = claim.sides(symbolic)
    assert isinstance(prove_tensors_equal(left, right), Proved)
    assert isinstance(prove_tensors_equal(left, twin), NotProved)


@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_the_claims_are_what_they_say(claim):
    """The left side equals the right, and differs from the twin, on random inputs at small sizes."""
    draw = np.random.default_rng(0)
    env, *_ = claim.arrays(False)
    inputs = {}
    for name, spec in claim.inputs.items():
        shape = tuple(eval(s, {}, vars(env)) for s in (spec[1] if isinstance(spec, tuple) else spec).split())
        ids = isinstance(spec, tuple)
        inputs[name] = draw.integers(0, eval(spec[2], {}, vars(env)), shape) if ids else draw.normal(size=shape)
    left, right, twin = (evaluate(side, inputs) for side in claim.sides(False))
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-11)
    assert not np.allclose(left, twin, rtol=1e-6)


def test_proofs_are_fast():
    """The median claim takes a few milliseconds; ten times that is allowed here for slow machines."""
    times = []
    for claim in CLAIMS[::4]:
        left, right, _ = claim.sides(True)
        start = time.perf_counter()
        prove_tensors_equal(left, right)
        times.append(time.perf_counter() - start)
    assert sorted(times)[len(times) // 2] < 0.1
