"""Claims as questions to the solver: what it settles is true for all sizes, and no false claim is ever settled."""

from __future__ import annotations

import pytest
from all_claims import ALL

from samesame.certificate import certify as certificate
from samesame.certificate import questions
from samesame.certificate.replay import Broken
from samesame.formula import dag
from samesame.formula.expr import NEG_INF, Size, Sum, eq, floordiv, lt, maximum, mod, sqrt, where
from samesame.formula.tensor import leaf, tensor

TENSORS = [claim for claim in ALL if claim.theme != "loops and scans"]
n = Size("n", 2)
x, y = leaf("x", (n,)), leaf("y", (n,))
k, m = leaf("k", (n,), "int", (0, 3)), leaf("m", (n,), "bool")


def about(left, right, shape=(n,)):
    return dag.claim(tensor(shape, left), tensor(shape, right))


@pytest.mark.parametrize("symbolic", [True, False])
def test_no_false_claim_is_settled(monkeypatch, symbolic):
    """Of every claim that has a question; and enough of the true ones are settled for it to be worth asking."""
    monkeypatch.setattr(certificate, "_EFFORT", 200_000)
    told = settled = 0
    for claim in TENSORS:
        left, right, twin = claim.sides(symbolic)
        if questions.whole(dag.claim(left, right)):
            told += 1
            settled += certificate.is_settled(dag.claim(left, right))
            assert not certificate.is_settled(dag.claim(left, twin)), claim.name
    assert told > 60 and settled > 0.4 * told


# Each true claim beside one that is false at some size, in range of some index or for some value only.
PAIRS = {
    "far beyond small sizes": (lambda i: x[i] + 0 * i, lambda i: where(lt(i, 1000), x[i], y[i]), lambda i: x[i]),
    "at the least size": (lambda i: where(lt(i, n - 2), x[i], y[i]), lambda i: where(lt(i, n - 1), x[i], y[i]),
                          lambda i: where(lt(i + 2, n), x[i], y[i])),
    "quotients": (lambda i: x[floordiv(i, 3) * 3 + mod(i, 3)], lambda i: x[floordiv(i, 3) * 3], lambda i: x[i]),
    "a quotient without a value": (lambda i: where(lt(0, k[i]), x[floordiv(i, k[i])], x[i]),
                                   lambda i: where(lt(0, k[i]), x[floordiv(i, k[i])], y[i]),
                                   lambda i: where(lt(k[i], 1), x[i], x[floordiv(i, k[i])])),
    "within bounds": (lambda i: where(lt(k[i], 4), x[i], y[i]), lambda i: where(lt(k[i], 3), x[i], y[i]),
                      lambda i: x[i]),
    "masks": (lambda i: where(m[i], x[i], x[i]), lambda i: where(m[i], x[i], y[i]), lambda i: x[i]),
    "ties": (lambda i: where(lt(x[i], y[i]), y[i], x[i]), lambda i: where(lt(x[i], y[i]), x[i], y[i]),
             lambda i: maximum(x[i], y[i])),
    "roots": (lambda i: sqrt(x[i] + y[i]) * 2, lambda i: sqrt(x[i]) + sqrt(y[i]), lambda i: 2 * sqrt(y[i] + x[i])),
    "inverses": (lambda i: (x[i] + y[i]) / (1 + y[i] ** 2), lambda i: (x[i] + y[i]) / (1 + y[i]),
                 lambda i: x[i] / (1 + y[i] ** 2) + y[i] / (1 + y[i] ** 2)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_corners(name):
    true, false, same = PAIRS[name]
    assert certificate.is_settled(about(true, same))
    assert not certificate.is_settled(about(false, same))


@pytest.mark.parametrize("side", [lambda i: Sum(n, lambda j: x[j]), lambda i: where(m[i], x[i], NEG_INF)])
def test_what_cannot_be_told_has_no_question(side):
    assert questions.whole(about(side, side)) is None
    assert not certificate.is_settled(about(side, side))


def test_an_index_that_is_none_of_the_output_has_no_question():
    """Over an empty extent it would make any answer `unsat`."""
    claim = about(lambda i: x[i], lambda i: y[i])
    claim["nodes"] += [["num", "0"], ["index", 7, len(claim["nodes"])]]
    assert questions.whole(claim) is None


def test_equal_indices_count():
    """i = j is not always so."""
    square = leaf("s", (n, n))
    both = about(lambda i, j: square[i, j], lambda i, j: where(eq(i, j), square[j, i], square[i, j]), (n, n))
    assert certificate.is_settled(both)
    assert not certificate.is_settled(about(lambda i, j: square[i, j], lambda i, j: square[j, i], (n, n)))


ASKED = "(declare-fun x () Int)(assert (> x 3))(assert (< x {}))(check-sat)"


def test_one_process_answers_all_questions_in_order():
    with questions.asked([ASKED.format(9), ASKED.format(2)], [ASKED.format(9), ASKED.format(2)]) as answers:
        assert answers() == ["sat", "unsat", "sat", "unsat"]
    with questions.asked([], []) as answers:
        assert answers() == []


@pytest.mark.parametrize("text", ['(echo "unsat")', '(set-option :regular-output-channel "f")', "(set-option :x 1)",
                                  "(include f)", "(pop)(assert false)(push)", "(echo |unsat|)"])
def test_a_question_does_nothing_but_ask(text):
    with pytest.raises(Broken, match="more than a question"), questions.asked([], [text]):
        pass
