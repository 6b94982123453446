"""Threads that prove at once know nothing of each other: no error, and the answers that one thread alone gets."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from all_claims import ALL

from samesame.formula.equal import Proved
from samesame.formula.expr import Size

CLAIMS = ALL[::11]
THREADS = 3


def answers(claims):
    """By claim and side: whether it was proved, and under which conditions."""
    found = {}
    for claim in claims:
        proof, twin = claim.proofs(True)
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
    assert sum(proved for proved, _, _ in alone.values()) >= 12
    for found in at_once(lambda number: answers(CLAIMS[number:] + CLAIMS[:number])):
        assert found == alone


def test_equal_expressions_of_two_threads_are_one_object(quick_turns):
    sizes = [f"n{number}" for number in range(3000)]
    for found in zip(*at_once(lambda _: [Size(name, 1) for name in sizes]), strict=True):
        assert len({id(size) for size in found}) == 1
