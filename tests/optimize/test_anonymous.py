"""What is the same but for names is proved, and timed, once; and nothing else is taken for it."""

from __future__ import annotations

import pytest
from tests.optimize.kernels_by_hand import packed_linear, rms_norm

from samesame.formula.equal import Budget, NotProved, Proved, prove_equal
from samesame.formula.expr import Expr, Fold, Leaf, Load, Size, add, const, exp, index, mul, power, where
from samesame.formula.expr import lt as less
from samesame.optimize import proving
from samesame.optimize.ir import anonymous


def names(*own: str) -> tuple[Leaf, Leaf, Size, Size]:
    """Two matrices and their sizes."""
    a, b, n, m = own
    rows, columns = Size(n, 1), Size(m, 1)
    return Leaf(a, (rows, columns)), Leaf(b, (rows, columns)), rows, columns


def element(leaf: Leaf, *indices: Expr) -> Expr:
    return Load(leaf, indices)


def expressions(a: Leaf, b: Leaf, n: Size, m: Size) -> dict[str, Expr]:
    """No two of these are the same but for names."""
    i, j, k, l = index(n), index(m), index(m), index(m)     # noqa: E741
    token = Leaf("token", (n,), "int", (const(0), add(m, -1)))
    other = Leaf("token", (n,), "int", (const(0), add(n, -1)))
    return {
        "one": element(a, i, j),
        "another place": element(a, i, add(j, 1)),
        "two": mul(element(a, i, j), element(b, i, j)),
        "one, twice": power(element(a, i, j), 2),
        "two places": mul(element(a, i, j), element(b, i, k)),
        "one at two places": mul(element(a, i, j), element(a, i, k)),
        "a sum": Fold("sum", (k,), element(a, i, k)),
        "a maximum": Fold("max", (k,), element(a, i, k)),
        "a sum of one of two": Fold("sum", (k,), mul(element(a, i, k), element(b, i, j))),
        "a sum of both": Fold("sum", (k,), mul(element(a, i, k), element(b, i, k))),
        "a sum in a sum": Fold("sum", (k,), mul(element(a, i, k), Fold("sum", (l,), element(b, i, l)))),
        "a sum in a sum of both": Fold("sum", (k,), mul(
            element(a, i, k), Fold("sum", (l,), mul(element(b, i, l), element(b, i, k))))),
        "a size": mul(element(a, i, j), n),
        "the other size": mul(element(a, i, j), m),
        "an integer": element(b, i, element(token, i)),
        "an integer in another range": element(b, i, element(other, i)),
        "where it is small": where(less(j, 3), element(a, i, j), 0),
        "where the other is": where(less(i, 3), element(a, i, j), 0),
        "a function": exp(element(a, i, j)),
    }


def test_other_names_make_no_difference() -> None:
    one, other = (expressions(*names(*own)) for own in ("abnm", "yxpq"))
    for name, here in one.items():
        assert anonymous(here, {}) is anonymous(other[name], {}), name


def test_nothing_else_is_taken_for_the_same() -> None:
    every = expressions(*names(*"abnm"))
    assert len({anonymous(e, {}) for e in every.values()}) == len(every)


def test_sides_of_a_question_share_their_names() -> None:
    a, b, n, m = names(*"abnm")
    i, j = index(n), index(m)
    same, apart = (element(a, i, j), element(a, i, j)), (element(a, i, j), element(b, i, j))
    assert anonymous(same, {}) != anonymous(apart, {})
    assert anonymous(apart, {}) == anonymous(apart[::-1], {})


def test_programs_are_the_same_but_for_names_at_the_same_sizes() -> None:
    made = packed_linear()
    sizes = {"M": 8, "N": 8, "K": 8}
    assert anonymous(made, sizes) == anonymous(packed_linear(), sizes) != anonymous(made, sizes | {"K": 9})
    assert anonymous(made, sizes) != anonymous(rms_norm(), sizes)


def test_the_prover_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[Expr, Expr]]()

    def counted(left: Expr, right: Expr, *, budget: Budget) -> Proved | NotProved:
        asked.append((left, right))
        return prove_equal(left, right, budget=budget)

    monkeypatch.setattr(proving, "prove_equal", counted)
    monkeypatch.setattr(proving, "KNOWN", {})
    for own in ("abnm", "yxpq", "dcut"):
        a, b, n, m = names(*own)
        i, k = index(n), index(m)
        together = Fold("sum", (k,), mul(element(a, i, k), add(element(b, i, k), 1)))
        apart = add(Fold("sum", (k,), mul(element(a, i, k), element(b, i, k))), Fold("sum", (k,), element(a, i, k)))
        assert isinstance(proving._asked(together, apart, proving.BUDGET), Proved)
        assert isinstance(proving._asked(together, element(a, i, const(0)), proving.BUDGET), NotProved)
    assert len(asked) == 1 + 3, "what is not proved is asked again"


def test_what_holds_under_conditions_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """They speak of tensors by name."""
    answer = Proved("normal form", ("a is no zero",), "")  # type: ignore[arg-type]
    monkeypatch.setattr(proving, "prove_equal", lambda *_, **__: answer)
    monkeypatch.setattr(proving, "KNOWN", known := {})
    a, b, n, m = names(*"abnm")
    assert proving._asked(element(a, index(n), index(m)), element(b, index(n), index(m)), proving.BUDGET) is answer
    assert not known
