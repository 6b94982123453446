"""The second prover: expands both sides of a claim element by element at small sizes, and compares numbers.

The first prover rewrites both sides until they look alike; it is fast, it holds for all sizes, and it could be wrong.
This one rewrites nothing and shares no code with it, or with anything else here: it reads a claim as plain data, gives
every size symbol a small number and every leaf random numbers, and works out what the formulas say. A mismatch refutes
the claim; agreement is evidence, not a proof.

A claim without roots and transcendental functions is worked out in exact fractions. Otherwise reals are fixed-point
numbers of 384 binary places (115 decimals), of which 38 decimals must agree: functions, comparisons, max and min have
their true meaning, and no mismatch is an artefact of rounding. Functions without a meaning are random maps: equal
arguments give equal results, and nothing else is known. Rows are sorted; equal elements stand in any order, but of
the greatest the first is taken. Where a side is undefined (1/0, log 0, a load out of range, the maximum of nothing)
nothing is compared, as claims speak only of places where both sides are defined.

A claim is a dict: `leaves` (name, shape, kind, bounds) and `nodes`, as formula/dag.py writes them; `indices`, the
places of the output's index variables; `left` and `right`, the places of the two sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, reduce
from hashlib import blake2b
from typing import Any

import mpmath.libmp as mp
import numpy as np
from mpmath import erfinv, make_mpf, workprec

PLACES = 384                        # binary places of a real
ONE = 1 << PLACES
ZERO = ONE >> 192                   # a real nearer to zero is zero: so is what rounding leaves of it
LARGEST = (ONE << PLACES) // ZERO   # what is larger has an inverse nearer to zero
AGREE = 128                         # binary digits of the larger side (or of 2^-32) in which both sides must agree
PREFERRED, TOLERATED, MOST = 1 << 15, 1 << 18, 1 << 21      # numbers worked out, for good sizes, and the smallest ones
DRAWN = 1 << 24                     # random numbers for one leaf
WHOLE, FEW = 512, 4                 # of an output with more elements, four positions along each dimension are compared
TOO_LARGE = "the claim is too large to expand element by element"
DRAWS = ("generic", "positive", "small", "ties", "generic")
BETWEEN = ("fraction",) * 3         # numbers between 0 and 1, where no other draw has a value: √(1 − x)·√x
SMALL_SIZES = ((2, 3, 5, 4, 7, 6, 8, 9, 11, 10), (3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_LIBRARY = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf", "erfc")
FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(mp, f"mpf_{name}") for name in _LIBRARY} | {
    "lgamma": mp.mpf_loggamma, "digamma": mp.mpf_psi0, "erfinv": lambda x, n: workprec(n)(erfinv)(make_mpf(x))._mpf_}
EXACT: dict[str, Callable[[Any], Any]] = {
    "abs": abs, "sign": lambda x: (x > 0) - (x < 0), "floor": math.floor, "ceil": math.ceil, "round": round,
    "trunc": math.trunc}
DERIVED: dict[str, Callable[[Callable[[str, Any], Any], Any], Any]] = {
    "sigmoid": lambda f, x: ONE * ONE // (ONE + f("exp", -x)), "softplus": lambda f, x: f("log", ONE + f("exp", x)),
    "expm1": lambda f, x: f("exp", x) - ONE, "log1p": lambda f, x: f("log", ONE + x),
    "log2": lambda f, x: f("log", x) * (ONE * ONE // f("log", 2 * ONE)) >> PLACES,
    "log10": lambda f, x: f("log", x) * (ONE * ONE // f("log", 10 * ONE)) >> PLACES}
MATRICES = ("inverse", "cholesky", "determinant")     # which are worked out: they are no random maps
KINDS = dict.fromkeys(("truth", "compare", "not", "and", "or", "any", "all"), "bool") | dict.fromkeys(
    ("size", "index", "floordiv", "mod"), "int") | dict.fromkeys(("named", "-inf", "fn"), "real")


@dataclass(frozen=True)
class Agreement:
    """Both sides agree at all `points` that were tried, at these sizes."""

    sizes: tuple[dict[str, int], ...]
    points: int
    arithmetic: str
    grids: tuple[Any, ...] = field(default=(), compare=False, repr=False)     # with everything that was worked out


@dataclass(frozen=True)
class Disagreement:
    """A refutation: at these sizes and on this draw of the leaves, an element differs."""

    sizes: dict[str, int]
    draw: str
    element: tuple[int, ...]
    left: str
    right: str


@dataclass(frozen=True)
class Cannot:
    """Nothing was compared; `reason` says why."""

    reason: str


class Stop(Exception):
    """The claim cannot be worked out; the message says why."""


class TooLarge(Stop):
    """The claim has too many elements to be worked out one by one."""


class Undefined:
    """What has no value; neither has anything that is computed from it."""

    __add__ = __radd__ = __mul__ = __rmul__ = __rshift__ = lambda self, _: self


class Infinity:
    """±∞: beyond every number, and still there when a number is added or one that is not 0 multiplied."""

    def __init__(self, sign: int) -> None:
        self.sign = sign

    def __add__(self, x: Any) -> Any:
        return UNDEFINED if x is UNDEFINED or (isinstance(x, Infinity) and x is not self) else self

    def __mul__(self, x: Any) -> Any:
        if isinstance(x, Infinity):
            return TOP if x is self else BOTTOM
        return UNDEFINED if x is UNDEFINED or -ZERO < x < ZERO else TOP if (x > 0) == (self is TOP) else BOTTOM

    def __lt__(self, x: Any) -> bool:
        return self is BOTTOM and x is not self

    def __gt__(self, x: Any) -> bool:
        return self is TOP and x is not self

    def __le__(self, x: Any) -> bool:
        return self is BOTTOM or x is self

    def __ge__(self, x: Any) -> bool:
        return self is TOP or x is self

    def __rshift__(self, _: Any) -> Infinity:
        return self

    def __repr__(self) -> str:
        return "−∞" if self is BOTTOM else "+∞"

    __radd__, __rmul__ = __add__, __mul__


UNDEFINED: Any = Undefined()
BOTTOM, TOP, ABSENT = Infinity(-1), Infinity(1), object()
Value = tuple[tuple[int, ...], Any]     # index nodes, and an array of objects: axis 0 for the draw, then one for each


def compare(claim: dict[str, Any], seed: int = 0, draws: Sequence[str] = DRAWS) -> Agreement | Disagreement | Cannot:
    """Compare the two sides of a claim at two choices of sizes, on several draws. Same seed, same answer."""
    grids: list[Grid] = []
    points = 0
    try:
        symbols = sorted({row[1]: row[2] for row in claim["nodes"] if row[0] == "size"}.items())
        for choice in range(2 if symbols else 1):
            for sizes, most in _sizes(symbols[:: 1 - 2 * choice], choice):
                if sizes in [grid.sizes for grid in grids]:
                    break
                try:
                    grid = Grid(claim, sizes, f"{seed} {choice}", most, draws)
                    found = grid.compared()
                except TooLarge:
                    if most == MOST:
                        raise
                    continue
                if isinstance(found, Disagreement):
                    return found
                points += found
                grids.append(grid)
                break
    except Stop as reason:
        return Cannot(str(reason))
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as fault:
        return Cannot(f"the claim is malformed ({type(fault).__name__}: {fault})")
    if not points:
        return Cannot("nowhere are both sides defined") if draws == BETWEEN else compare(claim, seed, BETWEEN)
    arithmetic = "fractions" if grids[0].exact else f"{PLACES} binary places"
    return Agreement(tuple(grid.sizes for grid in grids), points, arithmetic, tuple(grids))


def _sizes(symbols: list[Any], choice: int) -> Iterator[tuple[dict[str, int], int]]:
    """Small sizes to try, each with the numbers that may be worked out for it: distinct, if that is not too much."""
    tried: list[dict[str, int]] = []
    for most in (13, 4, 3) if symbols else ():
        sizes: dict[str, int] = {}
        for k, (name, least) in enumerate(symbols):
            free = [n for n in SMALL_SIZES[choice] if least <= n <= most and n not in sizes.values()]
            sizes[name] = free[0] if free else max(least, 2 + (k + choice) % 2)
        if sizes not in tried:
            tried.append(sizes)
            yield sizes, PREFERRED
    yield from ((sizes, TOLERATED) for sizes in tried[-1:])
    yield {name: max(least, 2) for name, least in symbols}, MOST


class Grid:
    """One choice of sizes: every node at all values of the index variables it depends on, on every draw.

    Index variables are known by the place of their node. Truths are bools and integers ints; a real is a fraction, or
    an int that counts 2^-384.
    """

    def __init__(self, claim: dict[str, Any], sizes: dict[str, int], seed: str, most: int,
                 draws: Sequence[str] = DRAWS) -> None:
        self.claim, self.nodes, self.sizes, self.seed, self.left = claim, claim["nodes"], sizes, seed, most
        self.draws = draws
        self.kinds = kinds(claim)
        self.exact = not any(map(_is_irrational, self.nodes))
        self.one = 1 if self.exact else ONE
        self.values: list[Value] = []
        self.positions: dict[int, list[int]] = {}
        self.leaf, self.call = cache(self.leaf), cache(self.call)         # type: ignore[method-assign]
        # Where a formula may change its mind: at 0, ±1, its constants and next to them; halves, if it has a mind.
        held = sorted({0, 1, *(abs(_number(row[1])) for row in self.nodes if row[0] == "num")})
        apart = (-1, 0, 1, *[Fraction(1, 2)] * any(_chooses(row, self.kinds) for row in self.nodes))
        near = dict.fromkeys(sign * (c + d) for c in held[:8] if c <= 32 for d in apart for sign in (-1, 1))
        self.ties = list(map(self.rational, near))

    def compared(self) -> Disagreement | int:
        """The first element that differs, or at how many points both sides are defined."""
        axes = tuple(self.claim["indices"])
        for v in axes:
            self.value(v)
        bound = {v for row in self.nodes if row[0] in ("fold", "lambda") for v in row[-2]}
        if math.prod(len(self.positions[v]) for v in axes) > WHOLE and not bound & set(axes):
            for v in axes:
                among = self.positions[v]
                self.positions[v] = sorted({among[0], among[-1], *(among[self.random(v, k) % len(among)]
                                                                   for k in range(FEW - 2))})
                self.values[v] = (v,), np.asarray([self.positions[v]], dtype=object)
        sides = [self.spread(self.number(self.claim[side], True), axes) for side in ("left", "right")]
        left, right = np.broadcast_arrays(*sides)
        found = np.asarray(np.frompyfunc(self.verdict, 2, 1)(left, right), dtype=object)
        wrong = np.argwhere(found == "apart")
        if not len(wrong):
            return int((found == "agree").sum())
        first = tuple(map(int, wrong[0]))
        element = tuple(self.positions[v][k] for v, k in zip(axes, first[1:], strict=True))
        texts = (self.text(side[first]) for side in (left, right))
        return Disagreement(self.sizes, self.draws[first[0]], element, *texts)

    def verdict(self, a: Any, b: Any) -> str:
        if a is UNDEFINED or b is UNDEFINED:
            return "undefined"
        if self.exact or isinstance(a, Infinity) or isinstance(b, Infinity):
            return "agree" if a == b else "apart"
        return "apart" if abs(a - b) << AGREE > max(abs(a), abs(b), ONE >> 32) else "agree"

    def text(self, x: Any) -> str:
        return str(x) if self.exact or isinstance(x, Infinity) else str(mp.to_str(mp.from_man_exp(x, -PLACES), 20))

    def value(self, place: int) -> Value:
        """The node's value. Nodes stand behind what they are built of, so all before it are worked out first."""
        while len(self.values) <= place:
            self.values.append(self.step(self.nodes[len(self.values)], self.kinds[len(self.values)] == "real"))
        return self.values[place]

    def number(self, place: int, real: bool) -> Value:
        """The node as a real, or as the integer it is; truths count as 1 and 0."""
        axes, array = self.value(place)
        return axes, np.multiply(array, self.one) if real and self.kinds[place] != "real" else array

    def rational(self, value: int | Fraction) -> Any:
        return value if self.exact else math.floor(value * ONE)

    def random(self, *what: Any) -> int:
        """A number of 64 bits that depends on `what`, and on the seed, only."""
        return int.from_bytes(blake2b(repr((self.seed, what)).encode(), digest_size=8).digest(), "big")

    def anything(self, *what: Any) -> Any:
        return self.rational(Fraction(self.random(*what) % 999983 - 499979, 1 << 18))

    def rounded(self, x: Any) -> Any:
        """A real without the digits in which two ways of computing it may differ. To the nearest: what is drawn
        has no digits there, and √x·√x, which is x less its last digit, would be one step below x."""
        return x if self.exact or x in (BOTTOM, TOP, ABSENT) else (x + (ONE >> AGREE + 1)) >> (PLACES - AGREE)

    def spread(self, value: Value, axes: Sequence[int], fully: bool = True) -> Any:
        """The array over these axes, in their order; unless `fully`, of length 1 along those it does not depend on."""
        own, array = value
        turned = array.transpose(0, *(own.index(a) + 1 for a in axes if a in own))
        thin = turned.reshape(len(array), *(len(self.positions[a]) if a in own else 1 for a in axes))
        return np.broadcast_to(thin, (len(array), *(len(self.positions[a]) for a in axes))) if fully else thin

    def arrays(self, function: Callable[..., Any], values: Sequence[Value]) -> Value:
        """`function` of arrays that broadcast over all their axes."""
        axes = tuple(sorted({axis for own, _ in values for axis in own}))
        self.left -= max(len(array) for _, array in values) * math.prod(len(self.positions[a]) for a in axes)
        if self.left < 0:
            raise TooLarge(TOO_LARGE)
        return axes, np.asarray(function(*(self.spread(v, axes, False) for v in values)), dtype=object)

    def each(self, function: Callable[..., Any], values: Sequence[Value], strict: bool = True) -> Value:
        """`function` of the numbers at each point; if strict, what it makes of something undefined is undefined."""
        used = function
        if strict and any(UNDEFINED in array.flat for _, array in values):
            used = lambda *xs: UNDEFINED if UNDEFINED in xs else function(*xs)    # noqa: E731
        return self.arrays(np.frompyfunc(used, len(values), 1), values)

    def step(self, row: list[Any], real: bool) -> Value:
        """What each kind of node means."""
        match row:
            case ["num", text]:
                return _constant(self.rational(_number(text)) if real else int(text))
            case ["named", "π"]:
                return _constant(int(mp.pi_fixed(PLACES)))
            case ["-inf"]:
                return _constant(BOTTOM)
            case ["truth", value]:
                return _constant(value)
            case ["size", name, _]:
                return _constant(self.sizes[name])
            case ["index", _, extent]:
                longest = max((n for n in self.value(extent)[1].flat if n is not UNDEFINED), default=0)
                self.positions[len(self.values)] = list(range(longest))
                return (len(self.values),), np.arange(longest).astype(object)[None]
            case ["load", leaf, indices] if all(self.kinds[p] in ("int", "real") for p in indices):
                return self.load(self.leaf(leaf), [self.index(p) for p in indices])
            case ["add" | "mul" as tag, parts]:
                operation = np.add if tag == "add" else self.times if real else np.multiply
                return self.arrays(lambda *arrays: reduce(operation, arrays), [self.number(p, real) for p in parts])
            case ["pow", base, exponent]:
                return self.power(self.number(base, real), Fraction(exponent), self.times if real else np.multiply)
            case ["fn", name, argument]:
                return self.each(lambda x: self.call(name, x), [self.number(argument, True)])
            case ["floordiv" | "mod" as tag, a, b]:
                part = int.__floordiv__ if tag == "floordiv" else int.__mod__
                return self.each(lambda x, y: part(x, y) if y > 0 else UNDEFINED, [self.value(a), self.value(b)])
            case ["compare", "<" | "≤" | "=" as op, a, b]:
                real = "real" in (self.kinds[a], self.kinds[b])
                near = ZERO if real and not self.exact else 0
                holds = {"<": lambda x, y: x + near < y, "≤": lambda x, y: x <= y + near,
                         "=": lambda x, y: x <= y + near and y <= x + near}[op]
                return self.each(holds, [self.number(a, real), self.number(b, real)])
            case ["not", a]:
                return self.each(lambda x: not x, [self.value(a)])
            case ["and" | "or" as tag, parts]:
                return self.each(lambda *xs: _connected(xs, tag == "or"), [self.value(p) for p in parts], False)
            case ["where", condition, *branches]:
                values = [self.value(condition), *(self.number(p, real) for p in branches)]
                return self.each(lambda c, x, y: c if c is UNDEFINED else x if c else y, values, False)
            case ["extremum", "max" | "min" as op, parts]:
                best = max if op == "max" else min
                return self.each(lambda *xs: best(xs), [self.number(p, real) for p in parts])
            case ["fold", monoid, bound, body]:
                times: Any = self.times if real else int.__mul__
                fold: Any = {"sum": sum, "any": any, "all": all,
                             "prod": lambda xs: reduce(times, xs, self.one if real else 1),
                             "max": lambda xs: max(xs, default=UNDEFINED),
                             "min": lambda xs: min(xs, default=UNDEFINED)}[monoid]
                return self.rows(lambda xs: fold([x for x in xs if x is not ABSENT]), bound, self.value(body))
            case ["lambda", _, body]:
                return self.value(body)
            case ["opaque", name, _, [argument], indices, _] if name in MATRICES:
                return self.of_matrix(name, argument, [self.value(p) for p in indices])
            case ["opaque", "aten.argmax" | "aten.argmin" as name, _, [argument], [], "int"]:
                return self.of_extreme(max if name == "aten.argmax" else min, argument)
            case ["opaque", "aten.sort", [_, [_, what], [_, [_, bool(falls)], _]], [argument], [place], kind]:
                return self.of_row(what, falls, None, row[1:3], argument, self.value(place), kind)
            case ["opaque", "aten.topk", [_, [_, what], [_, [_, int(most)], [_, bool(falls)], [_, bool(ordered)]]],
                  [argument], [place], kind]:
                return self.of_row(what, falls, None if ordered else most, row[1:3], argument, self.value(place), kind)
            case ["opaque", name, told, arguments, indices, kind]:
                return self.opaque(f"{name} {told}", arguments, [self.value(p) for p in indices], kind)
        raise Stop(f"{row[:2]} is no part of a formula")

    def index(self, place: int) -> Value:
        """A node as an index. A real, such as what floor makes, is one where it is a whole number."""
        whole = lambda x: UNDEFINED if isinstance(x, Infinity) or x % self.one else int(x // self.one)    # noqa: E731
        return self.value(place) if self.kinds[place] == "int" else self.each(whole, [self.value(place)])

    def load(self, source: Any, indices: list[Value]) -> Value:
        def taken(draw: Any, *positions: Any) -> Any:
            if not source.size:
                return np.full(np.broadcast_shapes(draw.shape, *(p.shape for p in positions)), UNDEFINED)
            places = [np.where(p == UNDEFINED, -1, p).astype(np.int64) for p in positions]
            outside = [(p < 0) | (p >= n) for p, n in zip(places, source.shape[1:], strict=True)]
            inside = (p.clip(0, n - 1) for p, n in zip(places, source.shape[1:], strict=True))
            return np.where(reduce(np.logical_or, outside, False), UNDEFINED, source[(draw.astype(np.int64), *inside)])

        return self.arrays(taken, [((), np.arange(len(self.draws)).astype(object)), *indices])

    def power(self, value: Value, q: Fraction, times: Callable[[Any, Any], Any]) -> Value:
        if q.denominator > 1:
            value = self.each(lambda x: _root(x, q.denominator), [value])
        if q:
            value = self.arrays(lambda x: reduce(times, [x] * abs(q.numerator)), [value])
        else:
            value = self.each(lambda x: self.one, [value])
        return value if q >= 0 else self.each(self.reciprocal, [value])

    def reciprocal(self, x: Any) -> Any:
        if self.exact:
            return UNDEFINED if isinstance(x, Infinity) or not x else Fraction(1) / x
        return UNDEFINED if isinstance(x, Infinity) or not ZERO <= abs(x) <= LARGEST else (ONE << PLACES) // x

    def times(self, a: Any, b: Any) -> Any:
        return a * b if self.exact else (a * b) >> PLACES

    def call(self, name: str, x: Any) -> Any:
        """A function of one real number."""
        if isinstance(x, Infinity):
            return 0 if name == "exp" and x is BOTTOM else UNDEFINED
        if name in EXACT:
            near = x if self.exact or name == "abs" else Fraction((x + ZERO // 2) // ZERO * ZERO, ONE)
            return EXACT[name](near) * (1 if name == "abs" else self.one)
        if abs(x) >> 11 > ONE or (name == "log" and x < ZERO) or (name == "erfinv" and abs(x) >= ONE):
            return UNDEFINED
        if name in DERIVED:
            return DERIVED[name](self.call, x)
        if name not in FUNCTIONS:
            return self.anything(name, self.rounded(x))
        try:
            return int(mp.to_fixed(FUNCTIONS[name](mp.from_man_exp(x, -PLACES), PLACES + 64), PLACES))
        except (mp.ComplexResult, ValueError, OverflowError, AttributeError):
            return UNDEFINED

    def rows(self, function: Callable[[list[Any]], Any], bound: list[int], body: Value) -> Value:
        """`function` of the body along the bound indices; where an extent varies, what is beyond it is absent."""
        for v in bound:
            extent = self.value(self.nodes[v][2])
            if any(n != len(self.positions[v]) for n in extent[1].flat):
                within: Any = lambda i, n, x: n if n is UNDEFINED else x if i < n else ABSENT    # noqa: E731
                body = self.each(within, [self.value(v), extent, body], False)
        outer = tuple(sorted(set(body[0]) - set(bound)))
        whole = self.spread(body, (*outer, *bound))
        found = np.empty(whole.shape[: len(outer) + 1], dtype=object)
        length = math.prod(whole.shape[len(outer) + 1 :])
        for point, row in zip(np.ndindex(found.shape), whole.reshape(found.size, length).tolist(), strict=True):
            found[point] = UNDEFINED if UNDEFINED in row else function(row)
        return outer, found

    def opaque(self, what: str, arguments: list[int], indices: list[Value], kind: str) -> Value:
        """A random map of whole tensors: a number that depends on name, attributes, every argument and the indices."""
        digests, lengths = [], [1]
        for place in reversed(arguments):
            _, bound, body = self.nodes[place]
            lengths = [len(self.positions[v]) for v in bound]
            digests.append(self.rows(lambda xs: self.random(lengths, [*map(self.rounded, xs)]), bound,    # noqa: B023
                                     self.number(body, True)))
        most = max(math.prod(lengths), 1)       # an integer is a position in the first argument, if anything

        def element(*parts: int) -> Any:
            number = self.random(what, parts)
            return self.anything(what, parts) if kind == "real" else number % most if kind == "int" else number % 2 > 0

        return self.each(element, [*digests, *indices] or [_constant(0)])

    def of_row(
        self, what: str, falls: bool, most: int | None, told: list[Any], argument: int, place: Value, kind: str
    ) -> Value:
        """An element of a sorted row ("values"), or where it stood ("indices"); of the `most` that are chosen, if they
        come in no known order. Equal elements stand in any order, which is another one with each operator."""
        _, bound, body = self.nodes[argument]
        places, own = what == "indices", repr([told[0], told[1][2]])

        def function(row: list[Any]) -> Any:
            xs = [x for x in row if x is not ABSENT]
            order = sorted(range(len(xs)), key=lambda k: (self.rounded(xs[k]), self.random(own, k)))
            chosen = order[::-1] if falls else order
            if most is not None:
                chosen = sorted(chosen[:most], key=lambda k: self.random("in no order", own, k))
            return tuple(chosen if places else (xs[k] for k in chosen))

        whole = self.rows(function, bound, self.number(body, places or kind == "real"))
        return self.each(lambda row, k: row[k] if 0 <= k < len(row) else UNDEFINED, [whole, place])

    def of_extreme(self, best: Callable[[list[Any]], Any], argument: int) -> Value:
        """Where the first of the greatest elements of a whole stands, or of the least."""
        _, bound, body = self.nodes[argument]
        return self.rows(lambda row: xs.index(best(xs)) if (xs := [self.rounded(x) for x in row if x is not ABSENT])
                         else UNDEFINED, bound, self.number(body, True))

    def of_matrix(self, name: str, argument: int, indices: list[Value]) -> Value:
        """An element of the inverse or the Cholesky factor of a matrix, or its determinant."""
        _, bound, body = self.nodes[argument]
        n = len(self.positions[bound[0]])

        def function(xs: list[Any]) -> Any:
            matrix = [xs[k * n : (k + 1) * n] for k in range(n)]
            return UNDEFINED if any(x in (ABSENT, BOTTOM, TOP) for x in xs) else getattr(self, name)(matrix)

        whole = self.rows(function, bound, self.number(body, True))
        return self.each(lambda m, i, j: m[i][j], [whole, *indices]) if indices else whole

    def inverse(self, matrix: list[list[Any]]) -> Any:
        return self.eliminated(matrix)[0]

    def determinant(self, matrix: list[list[Any]]) -> Any:
        return self.eliminated(matrix)[1]

    def eliminated(self, matrix: list[list[Any]]) -> tuple[Any, Any]:
        """The inverse and the determinant, by elimination."""
        n, determinant = len(matrix), self.one
        rows = [[*row, *(self.one * (i == j) for j in range(n))] for i, row in enumerate(matrix)]
        for k in range(n):
            best = max(range(k, n), key=lambda i: abs(rows[i][k]))
            rows[k], rows[best] = rows[best], rows[k]
            pivot = self.reciprocal(rows[k][k])
            if pivot is UNDEFINED:
                return UNDEFINED, 0
            determinant = self.times(determinant, rows[k][k] * (1 if best == k else -1))
            rows[k] = [self.times(x, pivot) for x in rows[k]]
            for i in set(range(n)) - {k}:
                rows[i] = [x - self.times(rows[i][k], y) for x, y in zip(rows[i], rows[k], strict=True)]
        return tuple(tuple(row[n:]) for row in rows), determinant

    def cholesky(self, matrix: list[list[Any]]) -> Any:
        """The lower triangular factor of the symmetric matrix with this lower triangle."""
        n = len(matrix)
        factor = [[0] * n for _ in range(n)]
        for i, j in (place for place in np.ndindex(n, n) if place[1] <= place[0]):
            rest = matrix[i][j] - sum(self.times(factor[i][k], factor[j][k]) for k in range(j))
            below = _root(rest, 2) if i == j else self.times(rest, self.reciprocal(factor[j][j]))
            if below is UNDEFINED or (i == j and below < ZERO):
                return UNDEFINED
            factor[i][j] = below
        return tuple(map(tuple, factor))

    def leaf(self, number: int) -> Any:
        """Random elements of a leaf, one draw after the other."""
        name, shape, kind, bounds = self.claim["leaves"][number]
        sizes = [max(self.value(p)[1].item(), 0) for p in shape]
        ends = bounds and [self.value(p)[1].item() for p in bounds]
        if len(self.draws) * math.prod(sizes) > DRAWN:
            raise TooLarge(TOO_LARGE)
        whole = np.empty((len(self.draws), math.prod(sizes)), dtype=object)
        for k, draw in enumerate(self.draws):
            whole[k] = self.drawn(draw, kind, ends, whole.shape[1], np.random.default_rng(self.random(name, k)))
        return whole.reshape(len(self.draws), *sizes)

    def drawn(self, draw: str, kind: str, ends: list[int] | None, count: int, rng: Any) -> list[Any]:
        if kind == "bool":
            return [x < (0.8 if draw == "ties" else 0.5) for x in rng.random(count).tolist()]
        if kind == "int":
            low, high = ends or ((0, 1) if draw in ("small", "positive") else (-5, 9))
            if low > high and count:
                raise Stop("an integer has no value within its bounds")
            return [int(n) for n in rng.integers(low, high + 1, count)] if count else []
        if draw == "ties":
            return [self.ties[k] for k in rng.integers(0, len(self.ties), count)]
        signs = 1 if draw in ("positive", "fraction") else 1 - 2 * rng.integers(0, 2, count)
        scale = {"small": 1 << 20, "fraction": 1 << 11}.get(draw, 1 if self.exact else 1 << 10)
        odd = ((2 * rng.integers(8, 1024, count) + 1) * signs).tolist()
        return [Fraction(n, scale) if self.exact and scale > 1 else n * self.one // scale for n in odd]


def _number(text: str) -> Any:
    """An exact number: an int where it is whole, for these are faster."""
    found = Fraction(text)
    return found.numerator if found.denominator == 1 else found


def _constant(value: Any) -> Value:
    return (), np.asarray([value], dtype=object)


def kinds(claim: dict[str, Any]) -> list[str]:
    """Which kind of number each node of a claim is: "real", "int" or "bool"."""
    found: list[str] = []
    for row in claim["nodes"]:
        found.append(_kind(row, found, claim["leaves"]))
    return found


def _kind(row: list[Any], kinds: list[str], leaves: list[list[Any]]) -> str:
    tag = row[0]
    if tag in KINDS or (tag == "fold" and row[1] in KINDS):
        return KINDS[tag if tag in KINDS else row[1]]
    if tag in ("load", "opaque"):
        return str(leaves[row[1]][2] if tag == "load" else row[5])
    if tag in ("num", "pow"):
        q = Fraction(row[-1])
        return "int" if q.denominator == 1 and (tag == "num" or (q > 0 and kinds[row[1]] == "int")) else "real"
    found = {kinds[p] for p in (row[2:] if tag == "where" else row[-1:] if tag in ("fold", "lambda") else row[-1])}
    return "bool" if found == {"bool"} else "real" if "real" in found else "int"


def _is_irrational(row: list[Any]) -> bool:
    root = row[0] == "pow" and Fraction(row[2]).denominator != 1
    root = root or row[0] in ("named", "-inf") or row[:2] == ["opaque", "cholesky"]
    return root or (row[0] == "fn" and row[1] not in EXACT)


def _chooses(row: list[Any], kinds: list[str]) -> bool:
    """May it have jumps or corners in real numbers?"""
    return row[0] in ("extremum", "fn", "opaque") or (row[0] == "compare" and "real" in (kinds[row[2]], kinds[row[3]]))


def _connected(parts: Iterable[Any], decisive: bool) -> Any:
    """∧ or ∨; a part that decides the whole makes up for an undefined one."""
    return decisive if decisive in parts else UNDEFINED if UNDEFINED in parts else not decisive


def _root(x: Any, degree: int) -> Any:
    if isinstance(x, Infinity) or x <= -ZERO:
        return UNDEFINED
    if x < ZERO or degree == 2:
        return math.isqrt(x << PLACES) if x >= ZERO else 0
    logarithm = mp.mpf_div(mp.mpf_log(mp.from_man_exp(x, -PLACES), PLACES + 64), mp.from_int(degree), PLACES + 64)
    return int(mp.to_fixed(mp.mpf_exp(logarithm, PLACES + 64), PLACES))
