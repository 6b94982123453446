"""Labels that a loss may ignore: a claim about them, as one about classes and about which of them are ignored.

A loss has a value for labels of two kinds: classes, and the one negative number that it ignores. Who computes it by
hand asks for either: whether a label is that number, or whether it is one of the classes that a rank has. That these
are one another's contrary is known of labels that the loss itself has, and all of them. So the claim is asked once more
with what takes on just these numbers in the labels' place: −100 where they are ignored, a class where not.
"""

from __future__ import annotations

from dataclasses import replace

from samesame.formula.assumptions import Said
from samesame.formula.sizes import size_text
from samesame.graph import Node, TensorType
from samesame.operators.demands import is_integer
from samesame.relate.blocks import Block, Made, taking_on
from samesame.relate.domain import ignorable


def classes_or_ignored(claim: Block) -> Block | None:
    """The claim for labels that are classes or ignored; None where no loss says what its labels are."""
    labels = {name: told for name, told in ignorable(claim.graph).items() if name not in claim.ranges}

    def made_of(node: Node) -> Made | None:
        if node.operator != "input" or node.name not in labels or not is_integer(node):
            return None
        ignored = Node(f"{node.name} ignored", "input", type=TensorType(node.shape, "bool"))
        label = Node(_class_of(node.name), "input", type=node.type)
        number = labels[node.name][0]
        return (ignored, label), Node(node.name, "aten.where.ScalarSelf", (ignored, number, label), type=node.type)

    found = taking_on(claim, made_of, {_class_of(name): (0, last) for name, (_, last) in labels.items()})
    said = (Said("labels", f"{{}} holds classes from 0 to {size_text(last)}, or −{-number}, which a loss ignores",
                 (_class_of(name),)) for name, (number, last) in labels.items())
    return None if found is None else replace(found, granted=(*claim.granted, *said))


def _class_of(name: str) -> str:
    return f"{name} class"
