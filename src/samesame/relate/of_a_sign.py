"""Of a sign: a claim about tensors that are never negative, as one about any numbers.

A claim holds for all numbers that its variables may be. A variable that stands for a softmax or a count is never
negative, and what two programs make of it may be the same for such numbers only: |p| is p, and so is √(p²). Moving the
frontier back shows that, as far as a formula reaches. But the operators that make a tensor tell its sign, too
(infinities.py), wherever it has a value. So the claim is asked once more with what takes on just the numbers of that
sign in the variable's place: e^v for those above zero, 1/(1 + e^−v) for those between 0 and 1, |v| for those that are
not negative, v any number. What is proved of these is proved of the tensor.
"""

from __future__ import annotations

from collections.abc import Mapping

from samesame.formula.assumptions import Assumption, Holds
from samesame.formula.expr import ZERO, Compare, Expr, Not
from samesame.formula.spans import ABOVE, ALL, POSITIVES, ZEROS, Places, Spans, between
from samesame.graph import Node, TensorType
from samesame.relate.blocks import Block, Made, taking_on

TAKES_ON = {                                         # all numbers of these spans, and no others, smallest first
    "aten.sigmoid.default": between(0, 1),
    "aten.exp.default": POSITIVES,
    "aten.abs.default": POSITIVES | ZEROS,
}


def of_a_sign(claim: Block, spans: Mapping[str, Spans]) -> Block | None:
    """The claim for the signs of its variables, which lie in these spans by name; None where no sign is known. The
    name of a variable is then that of what takes its place."""
    def made_of(node: Node) -> Made | None:
        operator = _takes_its_place(node, spans)
        if operator is None:
            return None
        any_number = Node(f"{node.name} v", "input", type=node.type)
        return (any_number,), Node(node.name, operator, (any_number,), type=node.type)

    return taking_on(claim, made_of)


def _takes_its_place(node: Node, spans: Mapping[str, Spans]) -> str | None:
    """The operator whose values are the numbers that a variable may be; None where no sign of real numbers is known."""
    if node.operator != "input" or not isinstance(node.type, TensorType) or node.type.dtype != "float64":
        return None
    return next((operator for operator, taken in TAKES_ON.items() if spans[node.name] <= taken), None)


def is_told(condition: Assumption, spans: Mapping[str, Spans]) -> bool:
    """Whether it says nothing but a sign that values have whose tensors lie in these spans, by name."""
    if not isinstance(condition, Holds) or condition.kind:
        return False
    asked = _asked(condition.that)
    return asked is not None and Places(spans).of(asked[0]) <= asked[1]


def _asked(that: Expr) -> tuple[Expr, Spans] | None:
    """A value, and the spans in which a comparison with 0 wants it to lie."""
    match that:
        case Compare("<" | "≤" as op, low, value) if low is ZERO:
            return value, POSITIVES | {ABOVE} | (ZEROS if op == "≤" else frozenset())
        case Not(Compare("=", one, other)) if ZERO in (one, other):
            return other if one is ZERO else one, ALL - ZEROS
    return None
