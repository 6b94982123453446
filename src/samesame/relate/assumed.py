"""What proofs of blocks take for granted, of the two programs: in the names of their tensors, and kept by the example.

A proof speaks of the variables of its block, which stand for tensors of the left program. A tensor that is given has a
name of the user's; one that is computed is printed as what it is of given ones where that is short, and else as the
value of its line. The example has values for all of them, so each formula that a proof assumes is worked out there. A
proof that assumes what the example breaks says nothing about it, and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from numpy.typing import NDArray

from samesame.evidence import Evidence, Rung
from samesame.formula.assumptions import Assumption, Call, Holds, Within, simplified
from samesame.formula.expr import Expr, Lambda, Load, Unsupported
from samesame.formula.looked_at import broken
from samesame.formula.show import unicode
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.graph import Graph, Node, TensorType
from samesame.operators import explain
from samesame.operators.numbers import constant
from samesame.relate.at_infinity import FILLS
from samesame.relate.joint import SOURCES
from samesame.relate.kinds import kind_of
from samesame.relate.propose import Values

SHOWN = 3                           # proofs that do not count, in notes
SHORT, FEW = 40, 8                  # letters, and operators, of a value that is printed as what it is of inputs


@dataclass(slots=True)
class Told:
    """Tells what proofs assume of the left program's tensors, and finds what its run on the example breaks. `sizes` are
    the values of size symbols there."""

    graph: Graph
    runs: Values
    sizes: Mapping[str, int]
    broken: dict[str, None] = field(default_factory=dict)
    called: dict[Node, Call] = field(default_factory=dict)
    marks: dict[str, torch.Tensor] = field(default_factory=dict)

    def of(self, assumptions: Iterable[Assumption], stands_for: Callable[[str], Node | None]) -> tuple[Assumption, ...]:
        """The same of the tensors that variables stand for."""
        return simplified(self._of(one, stands_for) for one in assumptions)

    def _of(self, one: Assumption, stands_for: Callable[[str], Node | None]) -> Assumption:
        nodes = {name: node for name in one.names if (node := stands_for(name)) is not None}

        def put(element: Load) -> Expr:
            node = nodes.get(element.leaf.name)
            return element if node is None else Load(replace(element.leaf, name=node.name), element.indices)

        changed = one.changed(put)
        if isinstance(changed, Within) and one.names <= nodes.keys():
            (node,) = nodes.values()
            return replace(changed, called=_with_place(node))
        if isinstance(changed, Holds):
            calls = {node.name: self.call(node) for node in nodes.values()}
            return replace(changed, calls=tuple(sorted(calls.items(), key=lambda call: call[0])))
        return changed

    def call(self, node: Node) -> Call:
        """How a tensor is printed."""
        if node not in self.called:
            self.called[node] = self._call(node)
        return self.called[node]

    def _call(self, node: Node) -> Call:
        if node.operator in SOURCES:
            return node.origin.parameter or node.name
        whole = self._formula(node)
        if whole is not None:
            indices, body = whole.element()
            if len(unicode(body)) <= SHORT:
                return Lambda(indices, body)
        return f"(the value of {node.name} at {node.origin.spoken})"

    def _formula(self, node: Node) -> Tensor | None:
        """What it is of inputs and weights; None where that takes many operators."""
        behind = _behind(node)
        if len(behind) > FEW:
            return None
        known: dict[Node, Any] = {}
        try:
            for part in behind:
                known[part] = self._source(part) if part.operator in SOURCES else explain(part, known.__getitem__)
        except Unsupported:
            return None
        return known[node] if isinstance(known[node], Tensor) else None

    def _source(self, node: Node) -> Tensor:
        if not isinstance(node.type, TensorType) or kind_of(node.type.dtype) == "complex":
            raise Unsupported("no element of it is one number")
        if node.operator == "constant" and not node.shape:
            item = self.graph.tensors[node.name].item()
            return tensor((), lambda: constant(item) if isinstance(item, float) else item)
        return leaf(node.origin.parameter or node.name, node.shape, kind_of(node.type.dtype))

    def breach(self, assumptions: Iterable[Assumption]) -> str:
        """What the example breaks of this, in words; nothing where it keeps all that can be worked out."""
        for one in assumptions:
            if places := broken(one, self._values(one), self.sizes):
                words = f"{one}, and the example breaks that {places}"
                self.broken[words] = None
                return words
        return ""

    def mark(self, operator: str, node: Node) -> Node:
        """Where a tensor is infinite, as one that the program might have computed by the operator."""
        name = f"{node.name} {operator.removeprefix('aten.').removesuffix('.default')}"
        value = self.value(node.name)
        self.marks[name] = value == FILLS[operator]
        return Node(name, operator, (node,), type=TensorType(node.shape, "bool"), origin=node.origin)

    def not_finite(self, nodes: Iterable[Node]) -> str:
        """That these tensors need not be finite, in words; without any it is memory of the other side, which has no
        tensor on the left."""
        infinite = list(nodes)
        here = any(not bool(self.value(node.name).isfinite().all()) for node in infinite)
        places = " and ".join(dict.fromkeys(map(_with_place, infinite))) or "memory that is read before it is written"
        words = f"{places} is finite, which it is not {'on the example' if here else 'with every mask and every sign'}"
        self.broken[words] = None
        return words

    def left_out(self) -> list[str]:
        """Why proofs do not count, in words."""
        shown = [f"A proof does not count, since it takes for granted that {words}." for words in self.broken]
        return shown[:SHOWN] + ([f"And {len(shown) - SHOWN} more proofs do not count."] if shown[SHOWN:] else [])

    def value(self, name: str) -> Any:
        """A tensor of the example."""
        return self.marks[name] if name in self.marks else self.runs[0].get(name, self.graph.tensors.get(name))

    def _values(self, one: Assumption) -> dict[str, NDArray[Any]]:
        found = {name: self.value(name) for name in one.names}
        return {name: _numbers(value) for name, value in found.items() if isinstance(value, torch.Tensor)}


def as_tested(evidence: Evidence, told: tuple[Assumption, ...], broken: str) -> Evidence:
    """What a proof is worth that takes for granted what the example breaks: what the values of draws are."""
    detail = f"a proof takes for granted that {broken}; values agree"
    return replace(evidence, rung=min(evidence.rung, Rung.TESTED), method="test", detail=detail, conditions=told)


def _with_place(node: Node) -> str:
    return node.name if node.operator in SOURCES or not node.origin.file else f"{node.name} ({node.origin.spoken})"


def _behind(node: Node) -> list[Node]:
    """The node after all that it is computed of, as far as that is a few."""
    found: dict[Node, None] = {}

    def visit(part: Node) -> None:
        if part in found or len(found) > FEW:
            return
        for read in part.inputs:
            visit(read)
        found[part] = None

    visit(node)
    return list(found)


def _numbers(value: torch.Tensor) -> NDArray[Any]:
    """Elements as numpy has them; a complex one as its real and imaginary part in one more dimension."""
    plain = torch.view_as_real(value) if value.is_complex() else value
    return (plain.double() if plain.is_floating_point() else plain).detach().cpu().numpy()
