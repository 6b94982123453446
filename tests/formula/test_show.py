"""What is printed says the same as the formula: a reader who parses it by the usual precedence gets it back."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest
from exactly import evaluate_exact
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.formula import expr as x
from samesame.formula.evaluate import Undefined
from samesame.formula.mathml import is_mathml, mathml, mathml_tensor
from samesame.formula.show import latex, latex_tensor, unicode, unicode_tensor
from samesame.formula.tensor import Tensor, leaf, tensor

K, M = x.Size("k", 1), x.Size("m", 1)
SIZES = {"k": 3, "m": 2}
A, B, C = leaf("a", (M, K)), leaf("b.weight", (K,)), leaf("c", (), "int")
VALUES: dict[str, Callable[..., Any]] = {
    "a": lambda i, j: Fraction(3 * i - 2 * j + 1, 2),
    "b.weight": lambda i: Fraction((i * i) % 3 - 1),
    "c": lambda: 2,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {            # any do that tell arguments apart, if (√a)⁻¹ is 1/√a
    "exp": lambda v: v * v - v + 3,
    "tanh": lambda v: Fraction(v, 7) - 2,
    "power": lambda base, exponent: base ** int(6 * exponent),
    "π": lambda: Fraction(22, 7),
}


# ----------------------------------------------------------------------------------------------------------- a reader

KNOWN = {"a": A, "b.weight": B, "c": C, "k": K, "m": M, "π": x.PI, "true": x.TRUE, "false": x.FALSE}
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[-+]\d+)?|(?:Σ|∏|max|min|⋁|⋀)_|π|[A-Za-z][A-Za-z0-9_.]*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ]+|.)")
SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ", "0123456789-/")
FOLDS = {"Σ_": "sum", "∏_": "prod", "max_": "max", "min_": "min", "⋁_": "any", "⋀_": "all"}


def inverse(expr: x.Expr) -> x.Expr:
    """1 / √a is a power of a, not of its root; 1 / (1 / a) is no a, as it has no value at zero."""
    if isinstance(expr, x.Mul):
        return x.mul(*map(inverse, expr.factors))
    if isinstance(expr, x.Pow) and expr.exponent > 0:
        return x.power(expr.base, -expr.exponent)
    return x.power(expr, -1)


class Reader:
    """Reads plain text back by recursive descent, loosest first."""

    def __init__(self, text: str, names: dict[str, x.Expr]) -> None:
        self.tokens, self.at, self.names = [*TOKEN.findall(text), ""], 0, dict(names)

    def all(self) -> x.Expr:
        found = self.disjunction()
        assert self.peek == "", self.tokens[self.at :]
        return found

    @property
    def peek(self) -> str:
        return self.tokens[self.at]

    def take(self, *wanted: str) -> str | None:
        if self.peek in wanted:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def need(self, token: str) -> None:
        assert self.take(token), f"{token} expected at {self.tokens[self.at:]}"

    def joined(self, part: Callable[[], x.Expr], sign: str, join: Callable[..., x.Expr]) -> x.Expr:
        parts = [part()]
        while self.take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else join(*parts)

    def disjunction(self) -> x.Expr:
        return self.joined(self.conjunction, "∨", x.or_)

    def conjunction(self) -> x.Expr:
        return self.joined(self.negation, "∧", x.and_)

    def negation(self) -> x.Expr:
        return x.not_(self.negation()) if self.take("¬") else self.comparison()

    def comparison(self) -> x.Expr:
        left = self.remainder()
        op = self.take("<", "≤", "=", "≠", "≥", ">")
        return x.compare(op, left, self.remainder()) if op else left

    def remainder(self) -> x.Expr:
        left = self.sum()
        return x.mod(left, self.product()) if self.take("mod") else left

    def sum(self) -> x.Expr:
        first = self.term() if not self.take("−") else self.negated()
        parts = [first]
        while sign := self.take("+", "−"):
            parts.append(self.term() if sign == "+" else self.negated())
        return parts[0] if len(parts) == 1 else x.add(*parts)

    def negated(self) -> x.Expr:
        return x.NEG_INF if self.take("∞") else x.mul(-1, self.term())

    def term(self) -> x.Expr:
        return self.fold() if self.peek in FOLDS else self.product()

    def fold(self) -> x.Expr:
        monoid = FOLDS[self.tokens[self.at]]
        self.at += 1
        self.need("{")
        outside = dict(self.names)
        bound = self.ranges("}")
        body = self.term()
        self.names = outside
        return x.Fold(monoid, bound, body)

    def ranges(self, end: str) -> tuple[x.Index, ...]:
        found: dict[str, x.Index] = {}
        while not self.take(end):
            name = self.tokens[self.at]
            self.at += 1
            closed = not self.take("<")
            if closed:
                self.need("≤")
            found[name] = x.index(self.sum() + 1 if closed else self.sum())
            self.take(",")
        assert not set(found) & set(self.names), "a bound variable takes a name that is in use"
        self.names |= found
        return tuple(found.values())

    def product(self) -> x.Expr:
        factors = [self.factor()]
        while self.take("·"):
            factors.append(self.fold() if self.peek in FOLDS else self.factor())
        above = factors[0] if len(factors) == 1 else x.mul(*factors)
        if not self.take("/"):
            return above
        below = self.factor()
        self.quotient = above, below
        return x.mul(above, inverse(below))

    def factor(self) -> x.Expr:
        if self.take("√"):
            return x.power(self.atom(), Fraction(1, 2))
        base = self.atom()
        if re.fullmatch("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ]+", self.peek):
            base = x.power(base, Fraction(self.peek.translate(SUPERSCRIPT)))
            self.at += 1
        return base

    def atom(self) -> x.Expr:
        token = self.tokens[self.at]
        self.at += 1
        if token[0].isdigit():
            return x.const(Fraction(token) if "e" not in token and "." not in token else Fraction(float(token)))
        match token:
            case "(":
                return self.inside(")")
            case "|":
                return x.absolute(self.inside("|"))
            case "⌊":
                above = self.product()
                if self.take("⌋"):
                    return x.floordiv(*self.quotient)
                raise AssertionError(f"⌊a / b⌋ expected after {above}")
            case "{":
                return self.cases()
            case "[":
                return x.where(self.inside("]"), 1, 0)
            case "max" | "min":
                self.need("{")
                return x.Extremum(token, tuple(self.several("}")))
        return self.named(token)

    def inside(self, end: str) -> x.Expr:
        found = self.disjunction()
        self.need(end)
        return found

    def cases(self) -> x.Expr:
        value = self.disjunction()
        if self.take("}"):
            return value
        self.need("if")
        condition = self.disjunction()
        self.need("else")
        return x.where(condition, value, self.cases())

    def several(self, end: str) -> list[x.Expr]:
        found: list[x.Expr] = []
        while not self.take(end):
            found.append(self.disjunction())
            self.take(",")
        return found

    def named(self, name: str) -> x.Expr:
        if self.take("("):
            return x.absolute(self.inside(")")) if name == "abs" else x.fn(name)(self.inside(")"))
        found = {**KNOWN, **self.names}[name]
        if isinstance(found, Tensor):
            return found[tuple(self.several("]"))] if self.take("[") else found[()]
        return found


# ---------------------------------------------------------------------------------------------------------- the facts


@st.composite
def integers(draw: st.DrawFn, scope: tuple[x.Index, ...], depth: int) -> x.Expr:
    leaves = [x.const(draw(st.integers(-3, 3))), K, M, C[()], *scope]
    if not depth or draw(st.booleans()):
        return draw(st.sampled_from(leaves))
    a, b = draw(integers(scope, depth - 1)), draw(integers(scope, depth - 1))
    return draw(st.sampled_from([a + b, a * b, a - b, x.FloorDiv(a, K), x.Mod(a, M)]))


@st.composite
def conditions(draw: st.DrawFn, scope: tuple[x.Index, ...], depth: int) -> x.Expr:
    kind = draw(st.sampled_from(["compare", "and", "or", "not", "fold"] if depth else ["compare"]))
    if kind == "compare":
        op = draw(st.sampled_from(["<", "≤", "="]))
        return x.compare(op, draw(integers(scope, 1)), draw(integers(scope, 1)))
    if kind == "fold":
        v = x.index(M)
        return x.Fold(draw(st.sampled_from(["any", "all"])), (v,), draw(conditions((*scope, v), depth - 1)))
    a, b = draw(conditions(scope, depth - 1)), draw(conditions(scope, depth - 1))
    return x.Not(a) if kind == "not" else (x.And if kind == "and" else x.Or)((a, b))


@st.composite
def reals(draw: st.DrawFn, scope: tuple[x.Index, ...], depth: int) -> x.Expr:
    """Any expression, also such as the constructors would have simplified."""
    index = integers(scope, 1)
    if not depth:
        thirds = x.const(Fraction(draw(st.integers(-4, 4)), 3))
        fixed = [x.PI, thirds, x.const(Fraction(1e-6)), B[x.Mod(draw(index), K)]]
        return draw(st.sampled_from([*fixed, A[x.Mod(draw(index), M), x.Mod(draw(index), K)]]))
    smaller = reals(scope, depth - 1)
    a = draw(smaller)
    match draw(st.sampled_from(["add", "sub", "mul", "div", "pow", "fn", "where", "extremum", "fold", "raw", "int"])):
        case "add":
            return x.add(a, draw(smaller))
        case "sub":
            return a - draw(smaller)
        case "mul":
            return x.mul(a, draw(smaller), draw(st.sampled_from([x.const(-1), x.const(Fraction(2, 3)), a])))
        case "div":
            return x.Mul((a, x.Pow(draw(smaller), Fraction(-1)), x.Pow(a, Fraction(-2))))
        case "pow":
            return x.Pow(a, Fraction(draw(st.sampled_from(["2", "3", "-1", "-2", "1/2", "-1/2", "2/3"]))))
        case "fn":
            return x.Fn(draw(st.sampled_from(["exp", "tanh", "abs"])), a)
        case "where":
            branches = draw(st.sampled_from([(a, draw(smaller)), (1, 0), (a, x.NEG_INF)]))
            return x.where(draw(conditions(scope, 2)), *branches)
        case "extremum":
            return x.Extremum(draw(st.sampled_from(["max", "min"])), (a, draw(smaller)))
        case "fold":
            bound = tuple(x.index(size) for size in draw(st.sampled_from([(K,), (M,), (K, M)])))
            monoid = draw(st.sampled_from(["sum", "prod", "max", "min"]))
            return x.Fold(monoid, bound, draw(reals((*scope, *bound), depth - 1)))
        case "raw":
            build = draw(st.sampled_from([x.Add, x.Mul]))
            b = draw(smaller)
            return build((x.Add((a, b)), x.Mul((b, a)), x.const(draw(st.integers(-2, 2)))))
    return draw(integers(scope, 2))


def value(expr: x.Expr, indices: dict[x.Index, int]) -> Any:
    try:
        return evaluate_exact(expr, VALUES, FUNCTIONS, indices, SIZES)
    except Undefined:
        return "undefined"


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_reading_the_text_gives_the_formula_back(data: st.DataObject) -> None:
    free = x.index(M), x.index(K)
    expr = data.draw(reals(free, 3))
    text = unicode_tensor("out", Tensor((M, K), lambda i, j: x.substitute(expr, {free[0]: i, free[1]: j})))
    left, _, right = text.partition(" = ")
    names = dict(zip(re.findall(r"\w+", left)[1:], free, strict=True))
    again = Reader(right, names).all()
    for i in range(2):
        for j in range(3):
            at = {free[0]: i, free[1]: j}
            assert value(again, at) == value(expr, at), text


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_latex_is_balanced(data: st.DataObject) -> None:
    text = latex(data.draw(reals((x.index(M),), 3)))
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0 and text.count(r"\left") == text.count(r"\right") and not re.search("[^\x20-\x7e]", text)
    assert text.count(r"\begin{cases}") == text.count(r"\end{cases}")


@given(st.data())
@settings(deadline=None, max_examples=25)
def test_mathml_is_well_formed(data: st.DataObject) -> None:
    root = ElementTree.fromstring(mathml(data.draw(reals((x.index(M),), 3))))
    assert {len(part) for part in root.iter() if part.tag in ("mfrac", "msup", "msub", "munder")} <= {2}


def test_mathml_says_what_the_text_says() -> None:
    root = ElementTree.fromstring(mathml_tensor("out", softmax()))
    assert "".join(root.itertext()).replace("\N{FUNCTION APPLICATION}", "") == "outi,j=exp(xi,j)∑l<kexp(xi,l)"
    assert [part.tag for part in root.iter() if part.tag in ("mfrac", "munder")] == ["mfrac", "munder"]


def test_an_offset_into_memory_reads_as_an_index() -> None:
    """`x*` under 100·i + k would read as the product x·100·i + k."""
    i = x.index(M)
    root = ElementTree.fromstring(mathml(leaf("x*", (1,))[100 * i + 1]))
    assert "".join("".join(root.itertext()).split()).startswith("x∗[") and "".join(root.itertext()).endswith("]")
    assert [part.tag for part in root.iter() if part.tag in ("msup", "msub")] == ["msup"]
    assert is_mathml(mathml(leaf("x*", (1,))[100 * i + 1]))


def test_a_name_in_mathml_is_text_whatever_it_holds() -> None:
    names = "<script>alert(1)</script>", 'a"b&c', "x" * 10_000
    for name in names:
        text = mathml(x.add(leaf(name, (K,))[x.index(K)], x.Opaque(name, (name,), (), (), "real")))
        assert "<script" not in text and len(text) < 2000
        ElementTree.fromstring(text)


def rms_norm() -> Tensor:
    a, w = leaf("x", (M, K)), leaf("w", (K,))
    mean = [lambda i: x.Sum(K, lambda j: a[i, j] ** 2) / K + Fraction(1e-6)]
    return tensor((M, K), lambda i, j: w[j] * a[i, j] * x.power(mean[0](i), Fraction(-1, 2)))


def softmax() -> Tensor:
    a = leaf("x", (M, K))
    return tensor((M, K), lambda i, j: x.exp(a[i, j]) / x.Sum(K, lambda v: x.exp(a[i, v])))


def matmul() -> Tensor:
    n = x.Size("n", 1)
    a, b = leaf("a", (M, K)), leaf("b", (K, n))
    return tensor((M, n), lambda i, j: x.Sum(K, lambda v: a[i, v] * b[v, j]))


DEFINITIONS = [
    (matmul, "out[i, j] = Σ_{l<k} a[i, l]·b[l, j]", r"\mathrm{out}_{i, j} = \sum_{l<k} a_{i, l} \cdot b_{l, j}"),
    (
        softmax,
        "out[i, j] = exp(x[i, j]) / (Σ_{l<k} exp(x[i, l]))",
        r"\mathrm{out}_{i, j} = \frac{\exp\left(x_{i, j}\right)}{\sum_{l<k} \exp\left(x_{i, l}\right)}",
    ),
    (
        rms_norm,
        "out[i, j] = w[j]·x[i, j] / √((Σ_{l<k} x[i, l]²) / k + 1e-06)",
        r"\mathrm{out}_{i, j} = \frac{w_{j} \cdot x_{i, j}}{\sqrt{\frac{\sum_{l<k} x_{i, l}^{2}}{k} + 10^{-6}}}",
    ),
]


@pytest.mark.parametrize("make, plain, tex", DEFINITIONS)
def test_definitions_read_as_in_a_textbook(make: Callable[[], Tensor], plain: str, tex: str) -> None:
    """Made twice, with other serial numbers, the text is the same."""
    for _ in range(2):
        assert unicode_tensor("out", make()) == plain
        assert latex_tensor("out", make()) == tex


U, V = x.index(K), x.index(M)
P, Q = leaf("p", (K,)), leaf("q", (K,))
p, q = P[U], Q[U]
EXAMPLES = [
    (p - q * 2, "p[i] − 2·q[i]"),
    (-(p + q), "−(p[i] + q[i])"),
    (p * (q - 1), "p[i]·(q[i] − 1)"),
    (p / q / 3, "p[i] / (3·q[i])"),
    (x.sqrt(p) ** 2, "(√p[i])²"),
    (x.sqrt(p**2), "√(p[i]²)"),
    (x.power(p, -1), "1 / p[i]"),
    (x.absolute(x.absolute(p) - 1), "abs(|p[i]| − 1)"),
    (x.maximum(p, 0), "max{p[i], 0}"),
    (x.where(x.lt(U, 3), p, q), "{p[i] if i < 3 else q[i]}"),
    (x.where(x.lt(U, 3), p, x.where(x.eq(U, 3), q, x.NEG_INF)), "{p[i] if i < 3 else q[i] if i = 3 else −∞}"),
    (x.where(x.not_(x.le(U, 3)), 1, 0) * p, "[i > 3]·p[i]"),
    (x.not_(x.and_(x.eq(U, 0), x.not_(x.eq(V, 0)))), "¬(i = 0 ∧ j ≠ 0)"),
    (x.Sum(K, lambda v: P[v]) * q, "(Σ_{j<k} p[j])·q[i]"),
    (q * x.Sum(K, lambda v: P[v] + 1) + 1, "q[i]·Σ_{j<k} (p[j] + 1) + 1"),
    (x.Sum((K, M), lambda v, n: P[v] * n), "Σ_{i<k, j<m} p[i]·j"),
    (x.Sum(K, lambda v: P[v]) + x.Max(K, lambda v: P[v]), "Σ_{i<k} p[i] + max_{i<k} p[i]"),
    (x.Sum(K, lambda v: x.Sum(v + 1, lambda n: P[v] * P[n])), "Σ_{i<k} Σ_{j≤i} p[i]·p[j]"),
    (P[U // 4 * 4 + U % 4], "p[4·⌊i / 4⌋ + (i mod 4)]"),
    (p * Fraction(0.044715) + Fraction(1, 3), "0.044715·p[i] + 1 / 3"),
    (p * Fraction(3, 4), "3·p[i] / 4"),
    (x.fold("any", K, lambda v: x.lt(P[v], 0)), "⋁_{i<k} (p[i] < 0)"),
    (x.Fn("exp", x.const(Fraction(-1))), "exp(−1)"),
    ((U + 1) % 4, "(i + 1) mod 4"),
    (x.lt((U + 1) % 4, U + 3), "(i + 1) mod 4 < i + 3"),
    (U % 4 + 1, "(i mod 4) + 1"),
    (x.Mul((p, q / p, q)), "p[i]·(q[i] / p[i])·q[i]"),
    (x.Add((p, p + q)), "p[i] + (p[i] + q[i])"),
    (x.and_(x.or_(x.eq(U, 0), x.eq(V, 0)), x.lt(U, 3)), "(i = 0 ∨ j = 0) ∧ i < 3"),
]


@pytest.mark.parametrize("expr, text", EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_parentheses_stand_where_they_must_and_nowhere_else(expr: x.Expr, text: str) -> None:
    assert unicode(expr) == text


def test_index_variables_avoid_the_names_of_tensors_and_sizes() -> None:
    i, j = leaf("i", (x.Size("j", 1),)), leaf("l", (x.Size("j", 1),))
    assert unicode(x.Sum(x.Size("j", 1), lambda v: i[v] * j[v])) == "Σ_{k<j} i[k]·l[k]"
    assert unicode_tensor("m", i) == "m[k] = i[k]"
    assert unicode_tensor("out", tensor((x.Size("i", 1),), lambda v: 2 * v)) == "out[j] = 2·j"


def test_opaque_operators_show_whole_tensors() -> None:
    rows = tensor((K,), lambda i: P[i])
    (v,), body = rows.element()
    whole = x.Lambda((v,), body)
    top = x.Opaque("topk", (5, True), (whole,), (U,), "real")
    assert unicode(top) == "topk(p; 5, True)[i]" and latex(top) == r"\operatorname{topk}\left(p; 5, True\right)_{i}"
    doubled = x.Opaque("sort", (), (x.Lambda((v,), body * 2),), (U,), "real")
    assert unicode(doubled) == "sort((j<k ↦ 2·p[j]))[i]"
    assert unicode(x.Opaque("f", frozenset(("b", "a")), (), (), "real")) == "f(; {a, b})"


def test_a_part_of_a_tensor_is_not_called_by_its_name() -> None:
    v = x.index(x.add(U, 1))
    assert unicode(x.Opaque("sort", (), (x.Lambda((v,), P[v]),), (U,), "real")) == "sort((j≤i ↦ p[j]))[i]"
    place = x.Opaque("last_argmax", (), (x.Lambda((v,), P[v]),), (), "int")
    assert unicode(place) == "last argmax_{j≤i} p[j]"


def test_latex_of_cases_roots_and_rounding() -> None:
    assert latex(x.where(x.le(U, 2), x.sqrt(p), x.absolute(q))) == (
        r"\begin{cases} \sqrt{p_{i}} & \text{if } i \le 2 \\ \left|q_{i}\right| & \text{otherwise} \end{cases}"
    )
    assert latex((p / 2) ** 2) == r"\left(\frac{p_{i}}{2}\right)^{2}"
    assert latex(leaf("q_proj.weight", (K,))[U // 2]) == (
        r"\mathrm{q\_proj.weight}_{\left\lfloor \frac{i}{2} \right\rfloor}"
    )


def test_a_formula_that_grows_without_end_is_cut_short() -> None:
    wide = deep = p
    for _ in range(60):
        wide = x.Mul((x.exp(wide), x.tanh(wide)))
    for _ in range(3000):
        deep = x.exp(deep)
    assert len(unicode(wide)) < 200_000 and "…" in unicode(wide)
    assert unicode(deep).startswith("exp(exp(") and "…" in unicode(deep)
