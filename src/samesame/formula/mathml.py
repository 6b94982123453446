"""MathML: formulas as a browser draws them, with nothing but itself.

The same traversal as for plain text and LaTeX (`show.py`); only the notation is another. What a formula names is text
of somebody's program, so every name is escaped where it enters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from samesame.formula.expr import Expr
from samesame.formula.show import ATOM, FOLDS, MUL, POW, Piece, Plain, Printer, attributes_text, definition
from samesame.formula.tensor import Tensor

SIGNS = {"sum": "∑"}                             # the operator that grows with its term, in place of the letter
APPLIED = "<mo>&#x2061;</mo>"                  # what cannot be seen is written as its number
FLAT = "<mo>∗</mo></msup>"                      # ends the name of a tensor that is read as the memory it lies in
LONGEST = 80                                     # characters of a name
ELEMENTS = "mrow|mi|mo|mn|mfrac|msup|msub|msqrt|munder|mtext|mtable|mtr|mtd"
WHOLE = re.compile(rf'<math display="block">(?:[^<>&]|</?(?:{ELEMENTS})>|&(?:#x?[0-9A-Fa-f]+|[a-z]+);)*</math>')


def mathml(expr: Expr) -> str:
    """The expression as a <math> element."""
    return _math(Printer(MathML(), expr).show(expr).text)


def mathml_tensor(name: str, tensor: Tensor, names: Mapping[str, str] | None = None) -> str:
    """The tensor's definition as a <math> element; `names` are written in place of those of leaves."""
    return _math(definition(MathML(names), name, tensor))


def is_mathml(text: str) -> bool:
    """Is the text what this module writes, and nothing else? For what comes back from a file."""
    return WHOLE.fullmatch(text) is not None


def _math(content: str) -> str:
    return f'<math display="block">{content}</math>'


def _operator(sign: str) -> str:
    return f"<mo>{escape(sign)}</mo>"


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _fenced(left: str, content: str, right: str) -> str:
    return _row(_operator(left), content, _operator(right))


def _listed(parts: Sequence[str]) -> str:
    return _operator(",").join(parts)


class MathML(Plain):
    """Presentation MathML. Each text is a sequence of elements, made one by `<mrow>` where one is asked for."""

    most_parts = 700
    plus, minus, infinity, ellipsis, times = map(_operator, "+−∞…·")
    negation, conjunction, disjunction = map(_operator, "¬∧∨")
    fraction_level, fractions_are_closed = POW, True

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = names or {}

    def name(self, name: str) -> str:
        name = self.names.get(name, name)
        if len(name) > 1 and name.endswith("*"):
            return f"<msup>{self.name(name[:-1])}{FLAT}"
        return f"<mi>{escape(name if len(name) <= LONGEST else name[:LONGEST] + '…')}</mi>"

    def index(self, name: str) -> str:
        return f"<mi>{name}</mi>"

    def word(self, word: str) -> str:
        return f"<mi>{word}</mi>"

    def number(self, digits: str) -> str:
        return f"<mn>{digits}</mn>"

    def parentheses(self, text: str) -> str:
        return _fenced("(", text, ")")

    def element(self, whole: str, indices: Sequence[str]) -> str:
        if whole.endswith(FLAT):                         # an offset is a term, which nobody should take for a factor
            return _row(whole, _fenced("[", _listed(indices), "]"))
        return f"<msub>{_row(whole)}{_row(_listed(indices))}</msub>" if indices else whole

    def function(self, name: str, arguments: Sequence[str], attributes: Any = ()) -> str:
        told = attributes_text(attributes)
        shown = f"<mtext>{escape(told[:LONGEST])}</mtext>" if told else ""
        return self.name(name) + APPLIED + _fenced("(", _listed(arguments) + shown, ")")

    def extremum(self, op: str, arguments: Sequence[str]) -> str:
        return self.name(op) + APPLIED + _fenced("{", _listed(arguments), "}")

    def absolute(self, text: str) -> str:
        return _fenced("|", text, "|")

    def floor(self, text: str) -> str:
        return _fenced("⌊", text, "⌋")

    def ceiling(self, text: str) -> str:
        return _fenced("⌈", text, "⌉")

    def mod(self, a: str, b: str) -> str:
        return a + _operator("mod") + b

    def decimal(self, text: str) -> Piece:
        digits, _, exponent = text.partition("e")
        if not exponent:
            return Piece(self.number(text), ATOM)
        power = self.power(self.number("10"), Fraction(exponent))
        return Piece(power, POW) if digits == "1" else Piece(self.number(digits) + self.times + power, MUL)

    def fraction(self, above: str, below: str) -> str:
        return f"<mfrac>{_row(above)}{_row(below)}</mfrac>"

    def power(self, base: str, exponent: Fraction) -> str:
        return f"<msup>{_row(base)}<mn>{exponent}</mn></msup>"

    def root(self, piece: Piece) -> Piece:
        return Piece(f"<msqrt>{piece.text}</msqrt>", POW)

    def compare(self, op: str, a: str, b: str) -> str:
        return a + _operator(op) + b

    def indicator(self, condition: str) -> str:
        return _fenced("[", condition, "]")

    def cases(self, cases: Sequence[tuple[str, str]], otherwise: str) -> str:
        rows = [*((value, "<mtext>if&#xA0;</mtext>" + condition) for value, condition in cases),
                (otherwise, "<mtext>otherwise</mtext>")]
        cells = "".join(f"<mtr><mtd>{value}</mtd><mtd>{when}</mtd></mtr>" for value, when in rows)
        return _row(_operator("{"), f"<mtable>{cells}</mtable>")

    def range(self, name: str, sign: str, limit: str) -> str:
        return name + _operator(sign) + limit

    def fold(self, monoid: str, ranges: Sequence[str], body: str) -> str:
        sign = SIGNS.get(monoid, FOLDS[monoid])
        return f"<munder>{_operator(sign)}{_row(_listed(ranges))}</munder>{body}"

    def whole(self, ranges: Sequence[str], body: str) -> str:
        return _fenced("(", _listed(ranges) + _operator("↦") + body, ")")
