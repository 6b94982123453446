"""Threads that prove at once know nothing of each other: no error, and the answers that one thread alone gets."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock

import pytest
from all_claims import ALL
from formula_claims import Claim

from samesame.formula.equal import Proved, prove_tensors_equal
from samesame.formula.expr import Size

CLAIMS = [claim for claim in ALL if type(claim) is Claim][::50]
THREADS = 2
WRITING = Lock()                            # claims are written down one at a time: their helpers share a size


def answers(claims):
    """By claim and side: whether it was proved, and under which conditions."""
    found = {}
    for claim in claims:
        with WRITING:
            left, right, other = claim.sides(True)
        proof, twin = (prove_tensors_equal(left, side) for side in (right, other))
        found[claim.name] = isinstance(proof, Proved), isinstance(twin, Proved), getattr(proof, "conditions", ())
    return found


@pytest.fixture
def quick_turns():
    """Threads take turns at nearly every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(work):
    """What each thread's work comes to; all begin together, each with another number."""
    together = Barrier(THREADS)

    def begin(number):
        together.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(begin, range(THREADS)))


def test_threads_that_prove_at_once_get_what_one_gets_alone(quick_turns):
    alone = answers(CLAIMS)
    assert sum(proved for proved, _, _ in alone.values()) >= 3
    for found in at_once(lambda number: answers(CLAIMS[number:] + CLAIMS[:number])):
        assert found == alone


def test_equal_expressions_of_two_threads_are_one_object(quick_turns):
    sizes = [f"n{number}" for number in range(5000)]
    for found in zip(*at_once(lambda _: [Size(name, 1) for name in sizes]), strict=True):
        assert len({id(size) for size in found}) == 1
