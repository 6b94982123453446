"""What congruence carries on is worth no more than where it comes from."""

from __future__ import annotations

import pytest

from samesame.evidence import Evidence, Relation, Rung
from samesame.graph import Graph, Node, Origin, TensorType
from samesame.relate.carried import carried

KIND = TensorType((2,), "float32")


def chain(*operators: str) -> Graph:
    nodes = [Node("x", "input", (), {}, KIND)]
    for k, operator in enumerate(operators):
        nodes.append(Node(f"y{k}", operator, (nodes[-1],), {}, KIND))
    return Graph("ranks", tuple(nodes), (("0", nodes[-1]),))


def related(name: str, rung: Rung, method: str) -> Relation:
    return Relation((name,), name, name, Evidence(rung, method, detail="12 draws"), Origin(), Origin())


@pytest.mark.parametrize("between", [True, False])
def test_a_relation_carried_from_a_tested_one_is_tested(between: bool) -> None:
    graph = chain("aten.attention", "aten.neg", "aten.exp", "aten.tanh")
    given = [related("x", Rung.PROVED, "input"), related("y0", Rung.TESTED, "test")]
    given += [related("y1", Rung.PROVED, "congruence")] if between else []
    given += [related("y2", Rung.PROVED, "congruence"), related("y3", Rung.PROVED, "normal form")]
    found = {relation.right: relation.evidence for relation in carried(given, graph)}
    assert found["y0"].rung is found["y2"].rung is Rung.TESTED and "12 draws" in found["y2"].detail
    assert found["y3"].rung is Rung.PROVED                 # a proof of its own block stands as it is


def test_nothing_changes_where_all_is_proved() -> None:
    graph = chain("aten.neg", "aten.exp")
    given = [related(name, Rung.PROVED_HERE, "congruence") for name in ("x", "y0", "y1")]
    assert carried(given, graph) == given
