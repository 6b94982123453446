"""Laws of inverses, Cholesky factors and determinants: each holds in numbers and is proved, a false twin is not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samesame.evaluator import Agreement, Disagreement, compare
from samesame.formula.dag import claim
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Size, Sum, const, eq, le, log, where
from samesame.formula.tensor import leaf, tensor
from samesame.operators import meaning_of

N, T, D = Size("N", 2), Size("T", 2), Size("D", 2)
VALUES = {name: np.random.default_rng(k).standard_normal(shape)
          for k, (name, shape) in enumerate({"x": (7, 4), "y": (4, 3), "a": (4, 4), "e": (5, 3), "u": (7, 3)}.items())}
SIZES = {"N": 7, "T": 4, "D": 3}
x, y, a, u = leaf("x", (N, T)), leaf("y", (T, D)), leaf("a", (T, T)), leaf("u", (N, D))


def call(name, *args, **kwargs):
    found = meaning_of(f"aten.{name}")(*args, **kwargs)
    return found[0] if isinstance(found, tuple) else found


def mm(*parts):
    first, *others = parts
    for other in others:
        first = call("mm.default", first, other)
    return first


def turned(m):
    return call("t.default", m)


def eye(n):
    return tensor((n, n), lambda i, j: where(eq(i, j), const(1), const(0)))


def plus(one, other):
    return call("add.Tensor", one, other)


def times(m, number):
    return call("mul.Scalar", m, number)


def diagonal_sum(m):
    logs = call("log.default", call("diagonal.default", m))
    return call("sum.default", logs)


def squares(m):
    return call("sum.dim_IntList", call("mul.Tensor", m, m), [0])


def inverse(m):
    return call("linalg_inv_ex.default", m)


def solved(m, b):
    return call("_linalg_solve_ex.default", m, b)


def below(m, b, **options):
    return call("linalg_solve_triangular.default", m, b, **{"upper": False, **options})


S = plus(mm(turned(x), x), eye(T))                         # symmetric, and positive definite
L = call("linalg_cholesky_ex.default", S)
U = call("linalg_cholesky_ex.default", S, upper=True)

OUTER, INNER = leaf("x", (7, 4)), leaf("e", (5, 3))
G, H = (plus(mm(turned(m), m), eye(n)) for m, n in ((OUTER, 4), (INNER, 3)))


def kronecker(m, n):
    return tensor((12, 12), lambda i, j: m[i // 3, j // 3] * n[i % 3, j % 3])


PRIMAL, DUAL, FALSE = (plus(mm(*parts), times(eye(n), half)) for parts, n, half in
                       (((turned(x), x), T, 0.5), ((x, turned(x)), N, 0.5), ((x, turned(x)), N, 1.5)))

# law: (left, right, a twin that is false)
LAWS = {
    "an inverse of a Kronecker product": (inverse(kronecker(G, H)), kronecker(inverse(G), inverse(H)),
                                          kronecker(inverse(G), H)),
    "one that is none": (inverse(plus(kronecker(G, H), eye(12))), inverse(plus(eye(12), kronecker(G, H))),
                         kronecker(inverse(plus(G, eye(4))), inverse(plus(H, eye(3))))),
    "a matrix pushed through an inverse": (mm(inverse(PRIMAL), turned(x)), mm(turned(x), inverse(DUAL)),
                                           mm(turned(x), inverse(FALSE))),
    "a matrix pushed through from the left": (mm(x, inverse(PRIMAL)), mm(inverse(DUAL), x), mm(inverse(FALSE), x)),
    "ridge regression by features and by samples": (solved(PRIMAL, mm(turned(x), u)), mm(turned(x), solved(DUAL, u)),
                                                    mm(turned(x), solved(FALSE, u))),
    "to solve is to multiply by the inverse": (solved(a, y), mm(inverse(a), y), mm(inverse(turned(a)), y)),
    "an inverse of a multiple": (inverse(times(a, 4)), times(inverse(a), 0.25), times(inverse(a), 4)),
    "an inverse of a transpose": (inverse(turned(a)), turned(inverse(a)), inverse(a)),
    "the inverse of a symmetric matrix is symmetric": (inverse(S), turned(inverse(S)), turned(inverse(a))),
    "a factor times its transpose": (mm(L, turned(L)), S, mm(turned(L), L)),
    "the upper factor": (mm(turned(U), U), S, mm(U, turned(U))),
    "what a factor solves": (call("cholesky_solve.default", y, L), solved(S, y), solved(L, y)),
    "the inverse by a factor": (call("cholesky_inverse.default", L), inverse(S), inverse(L)),
    "two triangular solves": (below(turned(L), below(L, y), upper=True), solved(S, y), below(L, below(L, y))),
    "the older triangular solve": (call("triangular_solve.default", y, L, False), below(L, y),
                                   call("triangular_solve.default", y, L, False, True)),
    "a quadratic form": (squares(below(L, y)), call("sum.dim_IntList", call("mul.Tensor", y, solved(S, y)), [0]),
                         squares(solved(S, y))),
    "a factor by its inverse": (mm(L, below(L, y)), y, mm(turned(L), below(L, y))),
    "an inverse by its factor": (below(L, mm(L, y)), y, below(L, mm(turned(L), y))),
    "the determinant on a factor's diagonal": (times(diagonal_sum(L), 2), call("logdet.default", S), diagonal_sum(L)),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_of_matrices_holds_in_numbers_and_is_proved(name):
    left, right, false = LAWS[name]
    values = [numbers(t) for t in (left, right, false)]
    assert np.allclose(values[0], values[1])
    assert not np.allclose(values[0], values[2])
    assert isinstance(prove_tensors_equal(left, right), Proved)
    assert isinstance(prove_tensors_equal(left, false), NotProved)


def numbers(t):
    return evaluate(t, VALUES, SIZES)


def test_a_cholesky_factor_reads_one_triangle_of_a_matrix_that_is_not_known_to_be_symmetric():
    of_a = call("linalg_cholesky_ex.default", a)
    assert isinstance(prove_tensors_equal(mm(of_a, turned(of_a)), a), NotProved)
    lower = tensor((T, T), lambda i, j: where(le(j, i), a[i, j], a[j, i]))
    assert isinstance(prove_tensors_equal(of_a, call("linalg_cholesky_ex.default", lower)), Proved)
    assert isinstance(prove_tensors_equal(of_a, call("linalg_cholesky_ex.default", turned(a))), NotProved)



def test_a_sum_over_matrices_is_none_over_the_rows_of_one():
    """Σ_v L_v[p, v]·L_v[q, v] and Σ_v log L_v[v, v], where each v has a matrix of its own."""
    z = leaf("z", (T, N, T))
    grams = tensor((T, T, T), lambda v, i, j: Sum(N, lambda n: z[v, n, i] * z[v, n, j]) + where(eq(i, j), 1, 0))
    factors = call("linalg_cholesky_ex.default", grams)
    summed = tensor((T, T), lambda p, q: Sum(T, lambda v: factors[v, p, v] * factors[v, q, v]))
    whole = tensor((T, T), lambda p, q: Sum(T, lambda v: grams[v, p, q]))
    assert isinstance(prove_tensors_equal(summed, whole), NotProved)
    assert isinstance(prove_tensors_equal(summed, tensor((T, T), lambda p, q: grams[0, p, q])), NotProved)
    logs = tensor((T,), lambda w: Sum(T, lambda v: log(factors[v, v, v])))
    one = tensor((T,), lambda w: Sum(T, lambda v: log(factors[w, v, v])))
    assert isinstance(prove_tensors_equal(logs, one), NotProved)
    half = call("mul.Scalar", call("logdet.default", grams), 0.5)
    assert isinstance(prove_tensors_equal(one, half), Proved)


def test_an_upper_factor_is_made_of_the_upper_triangle():
    whole = torch.tensor([[4.0, 1.0], [2.0, 5.0]], dtype=torch.float64)
    for name in ("linalg_cholesky_ex", "cholesky"):
        for upper in (False, True):
            kwargs = {"upper": upper}
            given = leaf("given", (2, 2))
            found = getattr(torch.ops.aten, name)(whole, **kwargs)
            found = found[0] if isinstance(found, tuple) else found
            assert np.allclose(evaluate(call(f"{name}.default", given, **kwargs), {"given": whole.numpy()}), found)


@pytest.mark.parametrize("name", LAWS)
def test_the_second_prover_knows_matrices(name):
    left, right, false = LAWS[name]
    assert isinstance(compare(claim(left, right)), Agreement)
    assert isinstance(compare(claim(left, false)), Disagreement)


def test_what_is_pushed_through_an_inverse_is_the_matrix_of_its_products_and_all_of_it():
    """No multiple of 1 beside the products (both inverses exist only with it), another matrix, a part of a sum."""
    gram, outer = mm(turned(x), x), mm(x, turned(x))
    assert isinstance(prove_tensors_equal(mm(inverse(gram), turned(x)), mm(turned(x), inverse(outer))), NotProved)
    other = mm(inverse(PRIMAL), turned(leaf("b", (N, T))))
    assert isinstance(prove_tensors_equal(other, mm(turned(leaf("b", (N, T))), inverse(DUAL))), NotProved)
    whole = inverse(PRIMAL)
    few = mm(tensor((T, T), lambda i, j: where(le(j, i), whole[i, j], const(0))), turned(x))
    assert isinstance(prove_tensors_equal(few, mm(turned(x), inverse(DUAL))), NotProved)
