"""Formulas as a textbook prints them: `out[i, j] = Σ_{l<k} a[i, l]·b[l, j]`, in plain text or LaTeX.

One traversal decides what is said: index variables get short names in order of appearance, factors with a negative
whole exponent go below a fraction bar, a term with a minus sign is subtracted, and parentheses stand where
precedence needs them and nowhere else. A notation decides how it is written. The text depends on the formula alone,
never on the serial numbers of its variables, so equal texts can be compared and tested. It is for reading: very
large formulas are cut short with `…`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, count
from typing import Any, NamedTuple

from samesame.formula.expr import (
    ONE,
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Opaque,
    Or,
    Pow,
    Size,
    Truth,
    Where,
    const,
    walk,
)
from samesame.formula.scalars import SCALARS
from samesame.formula.tensor import Tensor

LETTERS = "ijklmnpqrstuvwxyzabcdefgh"
MOST_DEPTH = 100                             # of a formula; what is beyond is …
SMALL_DENOMINATOR = 1000                     # 1 / 3 is written so, and the float 1e-06 is not

# How tightly a text holds together: an operand is parenthesised where it holds less tightly than its place asks.
OR, AND, NOT, COMPARE, MOD, ADD, FOLD, MUL, POW, ATOM = range(10)

NEGATED = {"<": "≥", "≤": ">", "=": "≠"}


def unicode(expr: Expr) -> str:
    """The expression as plain text."""
    return Printer(Plain(), expr).show(expr).text


def latex(expr: Expr) -> str:
    """The expression as LaTeX, for math mode with amsmath."""
    return Printer(Latex(), expr).show(expr).text


def unicode_tensor(name: str, tensor: Tensor) -> str:
    """The tensor's definition as plain text: `out[i, j] = …`."""
    return definition(Plain(), name, tensor)


def latex_tensor(name: str, tensor: Tensor) -> str:
    """The tensor's definition as LaTeX."""
    return definition(Latex(), name, tensor)


def definition(notation: Plain, name: str, tensor: Tensor) -> str:
    indices, body = tensor.element()
    printer = Printer(notation, body, indices, reserved=[name])
    left = notation.element(notation.name(name), [printer.show(index).text for index in indices])
    return notation.compare("=", left, printer.show(body).text)


class Piece(NamedTuple):
    """A text, and how tightly it holds together."""

    text: str
    level: int


# -------------------------------------------------------------------------------------------------------- the traversal


class Printer:
    """Writes one expression. The free index variables are named first, `indices` before the others."""

    def __init__(
        self, notation: Plain, expr: Expr, indices: Sequence[Index] = (), reserved: Iterable[str] = ()
    ) -> None:
        self.notation = notation
        self.reserved = {*reserved, *_names_in(expr), *(name for index in indices for name in _names_in(index))}
        self.names: dict[Index, str] = {}
        self.parts = self.depth = 0
        for index in dict.fromkeys([*indices, *_free_in_order(expr)]):
            self.names[index] = self._new_name()

    def _new_name(self) -> str:
        taken = self.reserved | set(self.names.values())
        longer = (f"{LETTERS[0]}{n}" for n in count(1))
        return next(name for name in chain(LETTERS, longer) if name not in taken)

    def show(self, expr: Expr) -> Piece:
        """The expression's text and how tightly it holds."""
        self.parts += 1
        if self.parts > self.notation.most_parts or self.depth > MOST_DEPTH:
            return Piece(self.notation.ellipsis, ATOM)
        self.depth += 1
        piece = self._show(expr)
        self.depth -= 1
        return piece

    def at(self, level: int, expr: Expr) -> str:
        """The expression's text, in parentheses if it holds less tightly than `level`."""
        piece = self.show(expr)
        return piece.text if piece.level >= level else self.notation.parentheses(piece.text)

    def _show(self, expr: Expr) -> Piece:
        write = self.notation
        match expr:
            case Num(value):
                return self._number(value)
            case Named(name) | Size(name, _):
                return Piece(write.name(name), ATOM)
            case Index():
                return Piece(write.index(self.names[expr]), ATOM)
            case NegInf():
                return Piece(write.minus + write.infinity, ADD)
            case Truth(value):
                return Piece(write.word("true" if value else "false"), ATOM)
            case Load(leaf, indices):
                return Piece(write.element(write.name(leaf.name), self._all(indices)), ATOM)
            case Add(terms):
                return Piece(self._sum(terms), ADD)
            case Mul(factors):
                negative, size = _sign(expr)
                return Piece(write.minus + self.at(FOLD, size), ADD) if negative else self._product(factors)
            case Pow(base, exponent):
                return self._power(base, exponent)
            case Fn("abs", argument):
                return Piece(write.absolute(self.show(argument).text), ATOM)
            case Fn("floor", argument):
                return Piece(write.floor(self.show(argument).text), ATOM)
            case Fn("ceil", argument):
                return Piece(write.ceiling(self.show(argument).text), ATOM)
            case Fn(name, argument):
                return Piece(write.function(name, [self.show(argument).text]), ATOM)
            case FloorDiv(a, b):
                return Piece(write.floor(self._fraction([self.show(a)], [self.show(b)])), ATOM)
            case Mod(a, b):
                return Piece(write.mod(self.at(MUL, a), self.at(MUL, b)), MOD)
            case Extremum(op, arguments):
                return Piece(write.extremum(op, self._all(arguments)), ATOM)
            case Where():
                return self._where(expr)
            case Fold(monoid, bound, body):
                return self._fold(monoid, bound, body)
            case Lambda():
                return self._whole(expr)
            case Opaque(name, _, (Lambda(bound, body),), (), _) if name.removeprefix("aten.") in PLACES:
                return self._fold(name.removeprefix("aten."), bound, body)
            case Opaque(name, attributes, arguments, indices, _):
                whole = write.function(name, [self._whole(argument).text for argument in arguments], attributes)
                return Piece(write.element(whole, self._all(indices)), ATOM)
        return self._proposition(expr)

    def _all(self, exprs: Iterable[Expr]) -> list[str]:
        return [self.show(expr).text for expr in exprs]

    def _proposition(self, expr: Expr) -> Piece:
        write = self.notation
        match expr:
            case Compare(op, a, b):
                return Piece(write.compare(op, self.at(MOD, a), self.at(MOD, b)), COMPARE)
            case Not(Compare(op, a, b)):
                return Piece(write.compare(NEGATED[op], self.at(MOD, a), self.at(MOD, b)), COMPARE)
            case Not(argument):
                return Piece(write.negation + self.at(NOT, argument), NOT)
            case And(arguments):
                return Piece(write.conjunction.join(self.at(NOT, a) for a in arguments), AND)
            case Or(arguments):
                return Piece(write.disjunction.join(self.at(AND, a) for a in arguments), OR)
        raise TypeError(f"there is no notation for {type(expr).__name__}")

    def _number(self, value: Fraction) -> Piece:
        write = self.notation
        if value < 0:
            return Piece(write.minus + self._number(-value).text, ADD)
        if value.denominator == 1:
            return Piece(write.number(str(value)), ATOM)
        if _is_decimal(value):
            return write.decimal(repr(float(value)))
        above, below = (write.number(str(part)) for part in value.as_integer_ratio())
        return Piece(write.fraction(above, below), write.fraction_level)

    def _sum(self, terms: Sequence[Expr]) -> str:
        text = ""
        for term in sorted(terms, key=lambda term: _sign(term)[0]):
            negative, size = _sign(term)
            sign = self.notation.minus if negative else self.notation.plus
            piece = self.at(FOLD, size)
            text += f" {sign} {piece}" if text else (sign if negative else "") + piece
        return text

    def _product(self, factors: Sequence[Expr]) -> Piece:
        above, below = list[Piece](), list[Piece]()
        for factor in _powers(factors):
            match factor:
                case Num(value) if not _is_decimal(value):
                    above += [self._number(Fraction(value.numerator))] * (value.numerator != 1)
                    below += [self._number(Fraction(value.denominator))] * (value.denominator != 1)
                case Pow(base, exponent) if exponent < 0:
                    below.append(self.show(base) if exponent == -1 else self._power(base, -exponent))
                case _:
                    above.append(self.show(factor))
        if below:
            return Piece(self._fraction(above, below), self.notation.fraction_level)
        return self._times(above)

    def _times(self, pieces: Sequence[Piece]) -> Piece:
        """Pieces multiplied. A fold reaches as far to the right as it can, so only the last may be one."""
        if len(pieces) == 1:
            return pieces[0]
        *before, last = pieces
        level = FOLD if last.level == FOLD else MUL
        texts = [*(self._within(piece, POW) for piece in before), self._within(last, FOLD if level == FOLD else POW)]
        return Piece(self.notation.times.join(texts), level)

    def _within(self, piece: Piece, level: int) -> str:
        return piece.text if piece.level >= level else self.notation.parentheses(piece.text)

    def _fraction(self, above: Sequence[Piece], below: Sequence[Piece]) -> str:
        top, bottom = self._times(above or [Piece(self.notation.number("1"), ATOM)]), self._times(below)
        if self.notation.fractions_are_closed:
            return self.notation.fraction(top.text, bottom.text)
        above_level = MUL if len(above) > 1 else POW
        return self.notation.fraction(self._within(top, above_level), self._within(bottom, POW))

    def _power(self, base: Expr, exponent: Fraction) -> Piece:
        if exponent < 0:
            return self._product([Pow(base, exponent)])
        if exponent == Fraction(1, 2):
            return self.notation.root(self.show(base))
        return Piece(self.notation.power(self.at(ATOM, base), exponent), POW)

    def _where(self, expr: Where) -> Piece:
        if expr.then is ONE and expr.otherwise is ZERO:
            return Piece(self.notation.indicator(self.show(expr.condition).text), ATOM)
        cases: list[tuple[str, str]] = []
        rest: Expr = expr
        while isinstance(rest, Where) and len(cases) < MOST_DEPTH:
            cases.append((self.show(rest.then).text, self.show(rest.condition).text))
            rest = rest.otherwise
        return Piece(self.notation.cases(cases, self.show(rest).text), ATOM)

    def _fold(self, monoid: str, bound: Sequence[Index], body: Expr) -> Piece:
        ranges = self._ranges(bound)
        text = self.notation.fold(monoid, ranges, self.at(FOLD, body))
        self._forget(bound)
        return Piece(text, FOLD)

    def _ranges(self, bound: Sequence[Index]) -> list[str]:
        """`l<k` for each bound variable, named from here on; extents do not see the variables beside them."""
        limits = [_limit(index.extent) for index in bound]
        extents = [(sign, self.at(ADD, limit)) for sign, limit in limits]
        for index in bound:
            self.names[index] = self._new_name()
        write = self.notation
        names = [write.index(self.names[index]) for index in bound]
        return [write.range(name, *limit) for name, limit in zip(names, extents, strict=True)]

    def _forget(self, bound: Sequence[Index]) -> None:
        for index in bound:
            del self.names[index]

    def _whole(self, argument: Lambda) -> Piece:
        """A whole tensor: its name where it is a leaf as it stands, else what each element is."""
        body = argument.body
        if not argument.bound:
            return self.show(body)
        if isinstance(body, Load) and body.indices == argument.bound and is_all(argument.bound, body.leaf):
            return Piece(self.notation.name(body.leaf.name), ATOM)
        ranges = self._ranges(argument.bound)
        text = self.notation.whole(ranges, self.show(body).text)
        self._forget(argument.bound)
        return Piece(text, OR)


def _limit(extent: Expr) -> tuple[str, Expr]:
    """How a variable below `extent` is bounded: k < n, and k ≤ j where the extent is j + 1."""
    match extent:
        case Add(terms) if ONE in terms:
            rest = [term for term in terms if term is not ONE]
            return "≤", rest[0] if len(rest) == 1 else Add(tuple(rest))
    return "<", extent


def _powers(factors: Sequence[Expr]) -> list[Expr]:
    """The factors, one that stands there several times as a power. x / x and √x·√x stay: they are not 1 and x."""
    found: list[tuple[Expr, Fraction]] = []
    for factor in factors:
        base, exponent = (factor.base, factor.exponent) if isinstance(factor, Pow) else (factor, Fraction(1))
        before = next((k for k, (b, n) in enumerate(found) if b is base and n * exponent > 0), None)
        if before is None or not all(n.denominator == 1 for n in (exponent, found[before][1])):
            found.append((base, exponent))
        else:
            found[before] = base, found[before][1] + exponent
    return [base if n == 1 else Pow(base, n) for base, n in found]


def is_all(bound: Sequence[Index], leaf: Leaf) -> bool:
    """Whether the variables run over all of a tensor, and not up to somewhere in it."""
    return all(v.extent is const(n) for v, n in zip(bound, leaf.shape, strict=True))


def _sign(term: Expr) -> tuple[bool, Expr]:
    """Whether the term is written with a minus sign, and what is written behind it."""
    match term:
        case Num(value) if value < 0:
            return True, Num(-value)
        case Mul((Num(value), first, *rest)) if value < 0:
            if value == -1:
                return True, Mul((first, *rest)) if rest else first
            return True, Mul((Num(-value), first, *rest))
    return False, term


def _is_decimal(value: Fraction) -> bool:
    """Whether the number is written as the float it came from, and not as a fraction."""
    if value.denominator <= SMALL_DENOMINATOR:
        return False
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def _parts(expr: Expr) -> Iterator[Expr]:
    """Every sub-expression, and those of the extents of bound variables."""
    todo, seen = [expr], set[Expr]()
    while todo:
        for part in walk(todo.pop()):
            if part not in seen:
                seen.add(part)
                yield part
                if isinstance(part, Fold | Lambda):
                    todo.extend(index.extent for index in part.bound)
                elif isinstance(part, Index):
                    todo.append(part.extent)


def _names_in(expr: Expr) -> Iterator[str]:
    """Every name that is written somewhere in the formula."""
    for part in _parts(expr):
        if isinstance(part, Load):
            yield part.leaf.name
        elif isinstance(part, Named | Size | Fn | Opaque):
            yield part.name


def _free_in_order(expr: Expr) -> list[Index]:
    """The free index variables in the order in which they are written first."""
    found: dict[Index, None] = {}
    seen: set[Expr] = set()
    todo = [expr]
    while todo:
        part = todo.pop()
        if part in seen or not part.free & expr.free:
            continue
        seen.add(part)
        if isinstance(part, Index) and part in expr.free:
            found[part] = None
        extents = [index.extent for index in part.bound] if isinstance(part, Fold | Lambda) else []
        todo.extend(reversed([*extents, *part.children]))
    return list(found)


# -------------------------------------------------------------------------------------------------------- the notations


FOLDS = {"sum": "Σ", "prod": "∏", "max": "max", "min": "min", "any": "⋁", "all": "⋀", "argmax": "argmax",
         "argmin": "argmin", "last_argmax": "last argmax", "last_argmin": "last argmin"}
PLACES = ("argmax", "argmin", "last_argmax", "last_argmin")
LATEX_SIGNS = {"≤": r"\le", "≥": r"\ge", "≠": r"\ne"}
LATEX_FOLDS = {"sum": r"\sum", "prod": r"\prod", "max": r"\max", "min": r"\min", "any": r"\bigvee", "all": r"\bigwedge",
               "argmax": r"\operatorname*{arg\,max}", "argmin": r"\operatorname*{arg\,min}",
               "last_argmax": r"\operatorname*{last\,arg\,max}", "last_argmin": r"\operatorname*{last\,arg\,min}"}


class Plain:
    """Plain text. Each method joins texts that are parenthesised already where they must be."""

    most_parts = 4000                            # of a formula; what is beyond is …
    plus, minus, infinity, ellipsis, times = "+", "−", "∞", "…", "·"
    negation, conjunction, disjunction = "¬", " ∧ ", " ∨ "
    fraction_level, fractions_are_closed = MUL, False

    def name(self, name: str) -> str:
        return name

    def index(self, name: str) -> str:
        return name

    def number(self, digits: str) -> str:
        return digits

    def word(self, word: str) -> str:
        return word

    def parentheses(self, text: str) -> str:
        return f"({text})"

    def element(self, whole: str, indices: Sequence[str]) -> str:
        return f"{whole}[{', '.join(indices)}]" if indices else whole

    def function(self, name: str, arguments: Sequence[str], attributes: Any = ()) -> str:
        return f"{name}({', '.join(arguments)}{attributes_text(attributes)})"

    def extremum(self, op: str, arguments: Sequence[str]) -> str:
        return f"{op}{{{', '.join(arguments)}}}"

    def absolute(self, text: str) -> str:
        return f"abs({text})" if "|" in text else f"|{text}|"

    def floor(self, text: str) -> str:
        return f"⌊{text}⌋"

    def ceiling(self, text: str) -> str:
        return f"⌈{text}⌉"

    def mod(self, a: str, b: str) -> str:
        return f"{a} mod {b}"

    def decimal(self, text: str) -> Piece:
        return Piece(text, ATOM)

    def fraction(self, above: str, below: str) -> str:
        return f"{above} / {below}"

    def power(self, base: str, exponent: Fraction) -> str:
        return base + str(exponent).translate(str.maketrans("0123456789-/", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ"))

    def root(self, piece: Piece) -> Piece:
        return Piece("√" + (piece.text if piece.level == ATOM else self.parentheses(piece.text)), POW)

    def compare(self, op: str, a: str, b: str) -> str:
        return f"{a} {op} {b}"

    def indicator(self, condition: str) -> str:
        return f"[{condition}]"

    def cases(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        chosen = "".join(f"{value} if {condition} else " for value, condition in cases)
        return f"{{{chosen}{otherwise}}}"

    def range(self, name: str, sign: str, limit: str) -> str:
        return f"{name}{sign}{limit}"

    def fold(self, monoid: str, ranges: Sequence[str], body: str) -> str:
        return f"{FOLDS[monoid]}_{{{', '.join(ranges)}}} {body}"

    def whole(self, ranges: Sequence[str], body: str) -> str:
        return f"({', '.join(ranges)} ↦ {body})"


class Latex(Plain):
    """LaTeX for math mode."""

    minus, infinity, ellipsis, times = "-", r"\infty", r"\ldots", r" \cdot "
    negation, conjunction, disjunction = r"\lnot ", r" \land ", r" \lor "
    fraction_level, fractions_are_closed = POW, True

    def name(self, name: str) -> str:
        if name == "π":
            return r"\pi"
        return name if len(name) == 1 and name.isalpha() else rf"\mathrm{{{_escape(name)}}}"

    def word(self, word: str) -> str:
        return rf"\mathrm{{{word}}}"

    def parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"

    def element(self, whole: str, indices: Sequence[str]) -> str:
        return f"{whole}_{{{', '.join(indices)}}}" if indices else whole

    def function(self, name: str, arguments: Sequence[str], attributes: Any = ()) -> str:
        head = f"\\{name}" if name in SCALARS and SCALARS[name].latex else rf"\operatorname{{{_escape(name)}}}"
        return head + self.parentheses(", ".join(arguments) + _escape(attributes_text(attributes)))

    def extremum(self, op: str, arguments: Sequence[str]) -> str:
        return rf"\{op}\left\{{{', '.join(arguments)}\right\}}"

    def absolute(self, text: str) -> str:
        return rf"\left|{text}\right|"

    def floor(self, text: str) -> str:
        return rf"\left\lfloor {text} \right\rfloor"

    def ceiling(self, text: str) -> str:
        return rf"\left\lceil {text} \right\rceil"

    def mod(self, a: str, b: str) -> str:
        return rf"{a} \bmod {b}"

    def decimal(self, text: str) -> Piece:
        digits, _, exponent = text.partition("e")
        if not exponent:
            return Piece(text, ATOM)
        power = f"10^{{{int(exponent)}}}"
        return Piece(power, POW) if digits == "1" else Piece(digits + self.times + power, MUL)

    def fraction(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: Fraction) -> str:
        return f"{base}^{{{exponent}}}"

    def compare(self, op: str, a: str, b: str) -> str:
        return f"{a} {LATEX_SIGNS.get(op, op)} {b}"

    def range(self, name: str, sign: str, limit: str) -> str:
        return rf"{name} \le {limit}" if sign == "≤" else f"{name}{sign}{limit}"

    def fold(self, monoid: str, ranges: Sequence[str], body: str) -> str:
        return f"{LATEX_FOLDS[monoid]}_{{{', '.join(ranges)}}} {body}"

    def root(self, piece: Piece) -> Piece:
        return Piece(rf"\sqrt{{{piece.text}}}", POW)

    def indicator(self, condition: str) -> str:
        return rf"\left[{condition}\right]"

    def cases(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        lines = [rf"{value} & \text{{if }} {condition}" for value, condition in cases]
        return r"\begin{cases} " + r" \\ ".join([*lines, rf"{otherwise} & \text{{otherwise}}"]) + r" \end{cases}"

    def whole(self, ranges: Sequence[str], body: str) -> str:
        return self.parentheses(rf"{', '.join(ranges)} \mapsto {body}")


def attributes_text(attributes: Any) -> str:
    """`; 5, true`: what an opaque operator was given besides tensors; nothing where that is nothing."""
    if attributes is None or attributes == ():
        return ""
    parts = attributes if isinstance(attributes, tuple) else (attributes,)
    return "; " + ", ".join(map(_attribute, parts))


def _attribute(value: Any) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_attribute, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_attribute, value)) + ")"
    return str(value)


def _escape(text: str) -> str:
    return "".join("\\" + letter if letter in "_%&#$" else letter for letter in text)
