"""Programs written as forms by hand, small ones: what kernels are made from, in tests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Literal

from samesame.optimize.forms import Form, Part, Place, fn, fold, load, minus, number, plus, power, times
from samesame.optimize.specification import Output, Specification, Tensor

EPSILON = Fraction(1, 100000)
M, N, K = 5, 37, 40


def tensor(name: str, *shape: int, role: Literal["input", "weight"] = "weight") -> Tensor:
    return Tensor(name, shape, "float32", role)


def inverse_root_mean_square(x: Form, axis: str) -> Form:
    mean = times(number(1, ((axis, -1),)), fold("sum", axis, times(x, x)))
    return power(plus(mean, number(EPSILON)), Fraction(-1, 2))


def rms_norm_then_linear() -> Specification:
    x, g, w = load("x", "m", "k"), load("g", "k"), load("w", "n", "k")
    y = times(fold("sum", "k", times(x, g, w)), inverse_root_mean_square(x, "k"))
    tensors = {"x": tensor("x", M, K, role="input"), "g": tensor("g", K), "w": tensor("w", N, K)}
    return Specification("norm", tensors, dict(m=M, n=N, k=K), (Output("y", y, (("m",), ("n",)), "float32"),))


def gated_mlp() -> Specification:
    x, w, v, z = load("x", "m", "k"), load("w", "n", "k"), load("v", "n", "k"), load("z", "d", "n")
    gate, up = fold("sum", "k", times(x, w)), fold("sum", "k", times(x, v))
    y = fold("sum", "n", times(gate, fn("sigmoid", gate), up, z))
    tensors = {"x": tensor("x", M, K, role="input"), "w": tensor("w", N, K), "v": tensor("v", N, K),
               "z": tensor("z", K, N)}
    return Specification("gated", tensors, dict(m=M, n=N, k=K, d=K), (Output("y", y, (("m",), ("d",)), "float32"),))


def beside_one_another(behind: str = "k") -> Specification:
    """A layer on two tensors, of which each has its part of the weights: the second's lies behind the first's."""
    x, y = load("x", "m", "k"), load("y", "m", "d")
    first, second = load("w", "n", "k"), load("w", "n", Place((Part("d"),), 0, (behind,)))
    z = plus(fold("sum", "k", times(x, first)), fold("sum", "d", times(y, second)), load("b", "n"))
    tensors = {"x": tensor("x", M, K, role="input"), "y": tensor("y", M, N, role="input"), "w": tensor("w", N, K + N),
               "b": tensor("b", N)}
    return Specification("beside", tensors, dict(m=M, n=N, k=K, d=N),
                         (Output("z", fn("relu", z), (("m",), ("n",)), "float32"),))


def attention() -> Specification:
    q, k, v = load("q", "b", "h", "i", "d"), load("k", "b", "h", "j", "d"), load("v", "b", "h", "j", "c")
    s = times(number(Fraction(1, 4)), fold("sum", "d", times(q, k)))
    p = fn("exp", minus(s, fold("max", "j", s)))
    o = times(fold("sum", "j", times(p, v)), power(fold("sum", "j", p), -1))
    shapes = {"q": (2, 3, 4, 16), "k": (2, 3, 21, 16), "v": (2, 3, 21, 16)}
    tensors = {name: tensor(name, *shape, role="input") for name, shape in shapes.items()}
    extents = dict(b=2, h=3, i=4, j=21, d=16, c=16)
    return Specification("attention", tensors, extents, (Output("o", o, (("b",), ("h",), ("i",), ("c",)), "float32"),))


def two_norms() -> Specification:
    h, x, a = load("h", "m", "d"), load("x", "m", "d"), load("a", "d")
    c = plus(x, times(a, plus(times(h, inverse_root_mean_square(h, "d")), x)))
    o = times(c, inverse_root_mean_square(c, "d"))
    tensors = {"h": tensor("h", M, K, role="input"), "x": tensor("x", M, K, role="input"), "a": tensor("a", K)}
    return Specification("norms", tensors, dict(m=M, d=K), (Output("o", o, (("m",), ("d",)), "float32"),))


def low_rank() -> Specification:
    x, w, a, b = load("x", "m", "k"), load("w", "n", "k"), load("a", "r", "k"), load("b", "n", "r")
    y = plus(fold("sum", "k", times(x, w)), fold("sum", "r", times(fold("sum", "k", times(x, a)), b)))
    tensors = {"x": tensor("x", M, K, role="input"), "w": tensor("w", N, K), "a": tensor("a", 3, K),
               "b": tensor("b", N, 3)}
    return Specification("low rank", tensors, dict(m=M, n=N, k=K, r=3), (Output("y", y, (("m",), ("n",)), "float32"),))


def mixture() -> Specification:
    """Distances of rows from centres, in the centres' own units: what is summed is no product."""
    x, c, v = load("x", "m", "k"), load("c", "n", "k"), load("v", "n", "k")
    apart = fold("sum", "k", times(power(minus(x, c), 2), fn("exp", v)))
    tensors = {"x": tensor("x", 9, K, role="input"), "c": tensor("c", N, K), "v": tensor("v", N, K)}
    return Specification("mixture", tensors, dict(m=9, n=N, k=K),
                         (Output("y", fn("exp", times(number(-1), apart)), (("m",), ("n",)), "float32"),))


def likelihood() -> Specification:
    """The same for few rows: exponentials of a weight are computed where they are used."""
    some = mixture()
    tensors = {**some.tensors, "x": tensor("x", M, K, role="input")}
    return replace(some, tensors=tensors, extents=some.extents | {"m": M})


def product_and_sum() -> Specification:
    """A product with a vector beside a sum of something else: no axis is one operand's alone."""
    x, w = load("x", "m", "k"), load("w", "k")
    y = plus(fold("sum", "k", times(x, w)), fold("sum", "k", fn("exp", x)))
    tensors = {"x": tensor("x", M, K, role="input"), "w": tensor("w", K)}
    return Specification("beside a sum", tensors, dict(m=M, k=K), (Output("y", y, (("m",),), "float32"),))


PROGRAMS = [rms_norm_then_linear, gated_mlp, attention, two_norms, low_rank, mixture, likelihood,
            product_and_sum]
