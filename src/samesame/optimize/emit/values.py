"""Expressions as C++. What one statement uses twice is named once, in front of it.

Operators and functions of `lanes.h` take a number and lanes alike, so both are written the same; integers (indices,
positions) are linear forms, and become a ramp of lanes only where they are used as values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import pi

import torch

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Index,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Or,
    Pow,
    Unsupported,
    Where,
    walk,
)
from samesame.formula.scalars import SCALARS
from samesame.optimize.emit.arithmetic import OPERATORS, Arithmetic, Shared, Text, from_largest, may_cancel
from samesame.optimize.emit.places import Memory, Place, Scope, Singly
from samesame.optimize.emit.ranges import Linear
from samesame.optimize.ir import Buffer, Store

INT = torch.iinfo(torch.int32)


class Values(Shared):
    """Prints expressions; what one statement uses twice is named once, in front of it."""

    def store(self, several: Sequence[Store], scope: Scope) -> list[str]:
        """Stores of one value, which is computed once."""
        value = several[0].value
        writer = _Expression(self, scope, scope.places[several[0].target.name], value, often=len(several) > 1)
        lines = list[str]()
        for store in several:
            place = scope.places[store.target.name]
            printed = writer.value(value) if place.real in ("float", "double") else writer.unreal(value)
            line = place.write(place.address(store.indices, scope.spans), printed.code, printed.wide, scope)
            if line is None:
                return [line for alone in scope.each_lane() for line in self.store(several, alone)]
            lines.append(line)
        return ["{", *writer.names, *lines, "}"] if writer.names else lines

    def beside(self, several: Sequence[Store], scope: Scope) -> list[str] | None:
        """Stores of few numbers that stand beside one another, of all lanes at once; None where they do not."""
        place = scope.places[several[0].target.name]
        first, *others = (place.address(store.indices, scope.spans) for store in several)
        there = [Linear(first.constant + k, first.terms) for k in range(1, len(several))]
        if (others != there or scope.slope(first) != len(several) or scope.taken < scope.width or place.lanes
                or not isinstance(place, Memory) or place.real not in ("float", "double")):
            return None
        writers = [_Expression(self, scope, place, store.value) for store in several]
        if any(writer.real != place.real for writer in writers):
            return None                                  # vectors of one kind are shuffled
        codes = [scope.widened(writer.value(store.value), place.real)
                 for writer, store in zip(writers, several, strict=True)]
        names = [name for writer in writers for name in writer.names]
        return ["{", *names, f"beside({place.name} + {scope.text(first)}, {', '.join(codes)});", "}"]

    def accumulate(self, target: Buffer, indices: tuple[Expr, ...], value: Expr, scope: Scope) -> list[str]:
        place = scope.places[target.name]
        writer = _Expression(self, scope, place, value)
        writer.summed = value if place.monoid == "sum" else None
        printed = writer.value(value)
        if scope.lane is not None:
            printed = Text(scope.widened(printed, place.real), True)
        line = place.accumulate(place.address(indices, scope.spans), printed, scope)
        if line is None:
            return [line for alone in scope.each_lane() for line in self.accumulate(target, indices, value, alone)]
        return ["{", *writer.names, line, "}"] if writer.names else [line]

    def dot(self, target: Buffer, indices: tuple[Expr, ...], value: Expr, scope: Scope) -> list[str]:
        """Two rounds at once of a sum of products of bf16: of rows of one factor, and of neighbours that the lanes
        share of the other; or, where the lanes fold, of neighbours of both. Raises Singly for anything else."""
        place = scope.places[target.name]
        if scope.taken < scope.width:                     # a whole register would be read beyond the end
            raise Singly()
        if scope.pair is None or scope.lane is None or place.real != "float" or place.lanes or place.monoid != "sum":
            raise Singly()
        if not isinstance(value, Mul) or len(value.factors) != 2:
            raise Singly()
        at, (x, w) = place.address(indices, scope.spans), (self._two(factor, scope) for factor in value.factors)
        if at.slope(scope.pair) != 0:
            raise Singly()
        if scope.pair is scope.lane:
            line = place.accumulate(at, Text(f"dot(all<{scope.width}>(0.0f), {x}, {w})", True), scope)
        elif scope.slope(at) == 1 and (before := place.read(at, scope)) is not None:
            line = place.write(at, f"dot({before.code}, {x}, {w})", True, scope)
        else:
            raise Singly()
        assert line is not None
        return [line]

    def _two(self, e: Expr, scope: Scope) -> str:
        """Two neighbouring rounds' values of an element of bf16, side by side in each lane."""
        source = scope.places[e.leaf.name] if isinstance(e, Load) else None
        if not isinstance(e, Load) or scope.pair is None or not isinstance(source, Memory) or source.kind != "bf16":
            raise Singly()
        form = source.address(e.indices, scope.spans)
        step, slope, place = form.slope(scope.pair), scope.slope(form), scope.text(form)
        first = f"{source.name} + {place}" if slope == 0 else source.run(place, scope)
        if (scope.pair is scope.lane and slope == 1) or (scope.pair is not scope.lane and (slope, step) == (2, 1)):
            return f"two<{scope.width}>({first})"
        if scope.pair is not scope.lane and (slope, step) == (0, 1):
            return f"both<{scope.width}>({first})"
        if scope.pair is not scope.lane and slope == 1 and step is not None:
            return f"both<{scope.width}>({first}, {source.run(f'{place} + {step}', scope)})"
        raise Singly()

    def varies(self, e: Expr, scope: Scope) -> bool:
        """Whether a value may differ from lane to lane."""
        if scope.lane is None:
            return False
        return scope.lane in e.free or any(scope.places[name].lanes for name in self.parts(e)[0])

    def condition(self, e: Expr, scope: Scope) -> str:
        return _Expression(self, scope, None, e).condition(e).code

    def text(self, form: Linear, scope: Scope) -> str:
        """A linear form as C++."""
        found = ""
        if scope.start is not None and scope.lane is not None and scope.lane in form.terms:
            form = Linear(form.constant + scope.start * form.terms[scope.lane],
                          {atom: c for atom, c in form.terms.items() if atom is not scope.lane})
        parts = [(c, self.atom(atom, scope)) for atom, c in form.terms.items()]
        for c, word in sorted(parts, key=lambda part: (-abs(part[0]), part[1])):
            size = word if abs(c) == 1 else f"{abs(c)} * {word}"
            found += f"{' - ' if c < 0 else ' + '}{size}" if found else f"{'-' if c < 0 else ''}{size}"
        if not found:
            return str(form.constant)
        return f"{found} {'-' if form.constant < 0 else '+'} {abs(form.constant)}" if form.constant else found

    def atom(self, e: Expr, scope: Scope) -> str:
        def inside(part: Expr) -> str:
            return f"({self.text(scope.spans.linear(part), scope)})"

        match e:
            case Index():
                return scope.spans[e].text
            case Mul(factors):
                return f"({' * '.join(map(inside, factors))})"
            case FloorDiv(a, b):
                return f"quotient({inside(a)}, {inside(b)})"
            case Mod(a, b):
                return f"remainder({inside(a)}, {inside(b)})"
            case Where(condition, then, otherwise):
                return f"({self.condition(condition, scope)} ? {inside(then)} : {inside(otherwise)})"
            case Extremum(op, parts):
                found = f"long{inside(parts[0])}"
                for part in parts[1:]:
                    found = f"{op}::fold({found}, long{inside(part)})"
                return found
            case Load(leaf, indices):
                place = scope.places[leaf.name]
                text = place.read(place.address(indices, scope.spans), replace(scope, lane=None))
                assert text is not None
                return f"long({text.code})"
        raise Unsupported(f"an index with {type(e).__name__}")


def _of_data(e: Expr) -> bool:
    """Whether it is arithmetic of integers that data holds: as a real's it is a real's own, and integers would wrap
    around. What was computed of integers before is no larger than reals count."""
    return isinstance(e, Add | Mul) and any(isinstance(part, Load) for part in walk(e))


class _Expression(Arithmetic):
    """One statement's value in C++."""

    begin, end = "const auto ", ";"

    def __init__(self, values: Values, scope: Scope, target: Place | None, whole: Expr, lazy: bool = False,
                 often: bool = False) -> None:
        super().__init__(values, whole, lazy)
        self.values, self.scope, self.spans = values, scope, scope.spans
        self.guarded = target.running if target else ""
        self.summed: Expr | None = None              # what is added to a sum
        self.target = target
        loads = values.parts(whole)[0]
        kinds = {scope.places[name].real for name in loads} | {target.real if target else ""}
        self.real = "double" if "double" in kinds else "float"
        if often and isinstance(whole, values.worth):
            self.shared |= {whole}

    def wide(self, text: Text) -> str:
        return self.scope.widened(text, self.real)

    def printed(self, e: Expr) -> Text:
        match e:
            case Num(value):
                return Text(self.literal(value))
            case Named("π"):
                return Text(f"{self.real}({pi!r})")
            case NegInf():
                return Text(f"max::identity<{self.real}>")
            case Load():
                return self.load(e)
            case Where(condition, Num() as then, Num() as otherwise):
                return self.choice(e, condition, then, otherwise)
            case _ if e.kind == "int" and not _of_data(e):
                return self.converted(self.integer(e))
            case _ if e.kind == "bool":
                return self.converted(self.truth(e))
            case Add(terms):
                return self.sum(terms, apart=may_cancel(e))
            case Mul(factors):
                return self.product(factors, by_lanes=e is self.summed)
            case Pow(base, exponent):
                return self.power(self.value(base), exponent)
            case Fn(name, argument) if name in SCALARS:
                inside = self.exponent(argument) if name == "exp" else self.value(argument)
                return Text(f"f_{name}({inside.code})", inside.wide)
            case Extremum(op, parts):
                return self.extremum(op, [self.value(part) for part in parts])
            case Where(condition, then, otherwise):
                return self.choice(e, condition, then, otherwise)
        raise Unsupported(f"a value with {type(e).__name__} in it")

    def exponent(self, e: Expr) -> Text:
        found = from_largest(e)
        if found is None:
            return self.value(e)
        others, taken = found
        inside = self.value(others[0]) if len(others) == 1 else self.sum(tuple(others), may_cancel(Add(tuple(others))))
        largest = self.sum(tuple(taken))
        return Text(f"({self.rounded(inside).code} + {largest.code})", inside.wide or largest.wide)

    def rounded(self, text: Text) -> Text:
        return Text(f"rounded({text.code})", text.wide)

    def literal(self, value: Fraction) -> str:
        number = repr(float(value)) + ("f" if self.real == "float" else "")
        return f"({number})" if value < 0 else number

    def converted(self, text: Text) -> Text:
        return Text(f"to<{self.real}>({text.code})", text.wide)

    def root(self, base: str) -> str:
        return f"f_sqrt({base})"

    def raised(self, base: Text, exponent: Fraction) -> Text:
        if exponent.denominator == 1 and exponent <= 16:
            return Text(f"power<{exponent}>({base.code})", base.wide)
        if exponent.denominator == 2 and exponent <= 16:
            return Text(f"halves<{exponent.numerator}>({base.code})", base.wide)
        return Text(f"f_pow({base.code}, {float(exponent)!r})", base.wide)

    def extremum(self, op: str, parts: list[Text]) -> Text:
        wide = any(part.wide for part in parts)
        codes = [self.wide(part) if wide else part.code for part in parts]
        found = codes[0]
        for code in codes[1:]:
            found = f"{op}::fold({found}, {code})"
        return Text(found, wide)

    def load(self, e: Load) -> Text:
        place = self.scope.places[e.leaf.name]
        text = place.read(place.address(e.indices, self.spans), self.scope)
        if text is None:
            return self.lane_by_lane(e)
        if place.real != self.real:
            text = self.converted(text)
        return Text(f"finite({text.code})", text.wide) if e.leaf.name == self.guarded else text

    def lane_by_lane(self, e: Expr) -> Text:
        lanes = [_Expression(self.values, alone, self.target, e, lazy=True) for alone in self.scope.each_lane()]
        parts = ", ".join(f"{self.real}({lane.value(e).code})" for lane in lanes)
        return Text(f"(vec<{self.real}, {self.scope.width}>{{{parts}}})", True)

    def choice(self, e: Expr, condition: Expr, then: Expr, otherwise: Expr) -> Text:
        decided = self.spans.decide(condition)
        if decided is not None:
            return self.value(then if decided else otherwise)
        before, self.lazy = self.lazy, True
        test = self.condition(condition)
        branches = [self.value(then), self.value(otherwise)] if not test.wide or self.in_range(then, otherwise) else []
        self.lazy = before
        if not branches:
            return self.lane_by_lane(e)
        if test.wide:
            return Text(f"choose({test.code}, {self.wide(branches[0])}, {self.wide(branches[1])})", True)
        wide = any(branch.wide for branch in branches)
        yes, no = (self.wide(branch) if wide else f"{self.real}({branch.code})" for branch in branches)
        return Text(f"({test.code} ? {yes} : {no})", wide)

    def in_range(self, *parts: Expr) -> bool:
        return all(self.spans.in_range(load) for part in parts for load in walk(part) if isinstance(load, Load))

    # ----------------------------------------------------------------------------------------- integers and conditions

    def unreal(self, e: Expr) -> Text:
        return self.truth(e) if e.kind == "bool" else self.integer(e) if e.kind == "int" else self.value(e)

    def integer(self, e: Expr) -> Text:
        form = self.spans.linear(e)
        if not self.values.varies(e, self.scope):
            return Text(f"({self.values.text(form, self.scope)})")
        low, high = self.spans.bounds(e)
        narrow = INT.min <= low and high <= INT.max and not any(isinstance(part, Load) for part in walk(e))
        slope, kind = self.scope.slope(form), "int" if narrow else "long"
        if slope is not None:
            return Text(f"ramp<{self.scope.width}>({kind}({self.values.text(form, self.scope)}), {slope})", True)
        if (found := self.together(form)) is not None:
            return Text(found, True)
        parts = [f"{kind}({self.values.text(alone.spans.linear(e), alone)})" for alone in self.scope.each_lane()]
        return Text(f"(vec<{kind}, {self.scope.width}>{{{', '.join(parts)}}})", True)

    def together(self, form: Linear) -> str | None:
        """Integers that data holds, those of all lanes at once; None where each lane has to ask for its own."""
        data = {atom: c for atom, c in form.terms.items()
                if atom is not self.scope.lane and self.values.varies(atom, self.scope)}
        rest = Linear(form.constant, {atom: c for atom, c in form.terms.items() if atom not in data})
        first, slope, width = self.values.text(rest, self.scope), self.scope.slope(rest), self.scope.width
        found = f"ramp<{width}>(long({first}), {slope})" if slope else f"all<{width}>(long({first}))"
        for atom, c in data.items():
            if (of := self.integers(atom)) is None:
                return None
            found += f" + {of}" if c == 1 else f" + {c}l * {of}"
        return f"({found})"

    def integers(self, e: Expr) -> str | None:
        """What `together` says of a part that is not linear."""
        match e:
            case Load(leaf, indices):
                place = self.scope.places[leaf.name]
                text = place.read(place.address(indices, self.spans), self.scope)
                return f"to<long>({text.code})" if text is not None and text.wide else None
            case Where(condition, then, otherwise) if self.in_range(then, otherwise):
                yes, no = (self.together(self.spans.linear(branch)) for branch in (then, otherwise))
                return f"choose({self.condition(condition).code}, {yes}, {no})" if yes and no else None
            case Extremum(op, parts):
                each = [self.together(self.spans.linear(part)) for part in parts]
                known = [part for part in each if part is not None]
                return reduce(lambda a, b: f"{op}::fold({a}, {b})", known) if len(known) == len(each) else None
        return None

    def truth(self, e: Expr) -> Text:
        """1 or 0."""
        text = self.condition(e)
        return Text(f"(0 - {text.code})", True) if text.wide else Text(f"({text.code} ? 1 : 0)")

    def condition(self, e: Expr) -> Text:
        """A truth value; wide ones are masks, 0 or −1 in each lane."""
        decided = self.spans.decide(e)
        if decided is not None:
            return Text("true" if decided else "false")
        match e:
            case Not(argument):
                inside = self.condition(argument)
                return Text(f"({'~' if inside.wide else '!'}{inside.code})", inside.wide)
            case And(parts) | Or(parts):
                return self.joined("&" if isinstance(e, And) else "|", [self.condition(part) for part in parts])
            case Compare(op, left, right):
                return self.comparison(op, left, right)
            case Load(leaf, indices):
                place = self.scope.places[leaf.name]
                text = place.read(place.address(indices, self.spans), self.scope)
                if text is not None:
                    return Text(f"mask({text.code} != 0)", text.wide)
                each = [_Expression(self.values, alone, None, e).condition(e).code for alone in self.scope.each_lane()]
                return Text(f"(vec<int, {self.scope.width}>{{-int({'), -int('.join(each)})}})", True)
        raise Unsupported(f"a condition with {type(e).__name__} in it")

    def comparison(self, op: str, left: Expr, right: Expr) -> Text:
        if left.kind == right.kind == "int" and any(isinstance(part, Load) for part in walk(left - right)):
            a, b = self.integer(left), self.integer(right)              # whose difference may wrap around
            if not (a.wide or b.wide):
                return Text(f"(long{a.code} {OPERATORS[op]} long{b.code})")
            one, other = (f"to<long>({x.code})" if x.wide else f"all<{self.scope.width}>(long{x.code})" for x in (a, b))
            return Text(f"truths({one}, {other}, [](auto x, auto y) {{ return x {OPERATORS[op]} y; }})", True)
        if left.kind == right.kind == "int":
            difference = self.integer(left - right)
            return Text(f"mask({difference.code} {OPERATORS[op]} 0)", difference.wide)
        a, b = self.value(left), self.value(right)
        if a.wide or b.wide:
            return Text(f"mask({self.wide(a)} {OPERATORS[op]} {self.wide(b)})", True)
        return Text(f"({a.code} {OPERATORS[op]} {b.code})")

    def joined(self, sign: str, parts: list[Text]) -> Text:
        wide = any(part.wide for part in parts)
        words = [part.code if part.wide == wide else f"all<{self.scope.width}>(-int({part.code}))" for part in parts]
        return Text(f"({f' {sign if wide else sign * 2} '.join(words)})", wide)

