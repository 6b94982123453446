"""Findings: where the ranks lose the sequential program.

The way back from a failing output leads through sequential tensors that the ranks do not hold (`holdings`) to some that
they do. The loss is the first operator on it, all of whose inputs are held. What an operator reads as a sum that nobody
took tells more: the reduction was missing where that sum arose, so the loss is then the first operator that reads it,
not the last one to which a sum could be carried on. Where an output itself is held in another way than it should be,
and no operator read it before, the loss is at the output. Ranks may compute a thing in another way, so that a tensor is
held nowhere and nothing is wrong: one from which the ranks did get something that they hold is no loss.
"""

from __future__ import annotations

from collections.abc import Sequence

from samesame.evidence import Loss, Site
from samesame.graph import Node
from samesame.refine.holdings import MEAN, PART, PIECES, SUM, WHOLE, Holdings, local
from samesame.relate.candidates import MOVES
from samesame.relate.joint import IDENTITIES


def loss_of(holdings: Holdings, failing: Sequence[Node]) -> Loss | None:
    """The first sequential operator that the ranks lose, on the way to the failing outputs."""
    lost = _lost(holdings, failing)
    ended = [root for root in failing if holdings.of(root)]
    order = {node: position for position, node in enumerate(holdings.relating.left.nodes)}
    lost -= _passed(holdings, set(failing))
    first = min((node for node in lost if not lost.intersection(node.inputs)), key=order.__getitem__, default=None)
    sums = [part for part in (first.inputs if first else ()) if _is_sum(holdings, part)]
    found = [node for part in sums if (node := _first_reader(holdings, part, first, order)) is not None]
    if first is not None and not any(_is_sum(holdings, part) for part in first.inputs):
        found.append(first)
    for root in ended:
        reader = _first_reader(holdings, root, None, order) if _is_sum(holdings, root) else None
        found.append(reader or root)
    if not found:
        return None
    node = min(found, key=order.__getitem__)
    return _at_the_end(node, holdings) if node in ended else _loss(node, holdings)


def _lost(holdings: Holdings, failing: Sequence[Node]) -> set[Node]:
    """The tensors that are not held, from the failing outputs back to those that are."""
    found: set[Node] = set()
    stack = list(failing)
    while stack:
        node = stack.pop()
        if node not in found and not holdings.of(node):
            found.add(node)
            stack.extend(node.inputs)
    return found


def _passed(holdings: Holdings, failing: set[Node]) -> set[Node]:
    """The tensors of which no rank has a piece, but from which one that is held was computed."""
    left = holdings.relating.left
    readers: dict[Node, list[Node]] = {node: [] for node in left.nodes}
    for node in left.nodes:
        for part in node.inputs:
            readers[part].append(node)
    right = {root for _, root in left.roots if root not in failing}
    right |= {node for node in left.nodes if holdings.of(node) in (WHOLE, PIECES, PART) and holdings.has_pieces(node)}
    found: set[Node] = set()
    for node in reversed(left.nodes):
        if not holdings.of(node) and not holdings.has_pieces(node):    # of which a rank has none that another has
            results = readers[node] if isinstance(node.type, tuple) else []
            main = [reader for reader in results if reader.args[1] == 0]   # others may depend on less than it does
            if node in right or any(reader in right or reader in found for reader in main or readers[node]):
                found.update((node, *results))
    return found


def _is_sum(holdings: Holdings, node: Node) -> bool:
    return holdings.of(node).startswith((SUM, MEAN))


def _first_reader(holdings: Holdings, part: Node, last: Node | None, order: dict[Node, int]) -> Node | None:
    """The first operator that reads the sum from which this one comes, on the way to it or to the `last` operator."""
    chain: set[Node] = set()
    stack = [part]
    while stack:
        node = stack.pop()
        if node not in chain and _is_sum(holdings, node):
            chain.add(node)
            stack.extend(node.inputs)
    reading = (node for node in (*chain, *([last] if last else ())) if chain.intersection(node.inputs))
    return min((node for node in reading if not _moves(node)), key=order.__getitem__, default=None)


def _moves(node: Node) -> bool:
    return node.operator.rsplit(".", 1)[0] in MOVES | IDENTITIES


def _at_the_end(root: Node, holdings: Holdings) -> Loss:
    """All is there, but an output is not in its place: a sum that nobody took, as a rule."""
    made, told = root, holdings.of(root)
    while _moves(made) and len(made.inputs) == 1 and not made.inputs[0].is_source:
        made = made.inputs[0]
    instead = f"{root.name} is {told}"
    if _is_sum(holdings, root):
        instead += ": a reduction is missing before it is returned"
    elif told in (WHOLE, PIECES, PART):
        instead = f"the ranks have {root.name}, but return something else for it"
    return Loss(Site("sequential", made.name, made.operator, made.origin), _inputs(made, holdings), (instead,))


def _inputs(node: Node, holdings: Holdings) -> tuple[str, ...]:
    """What the operator reads, by name and place, and what the ranks hold of it."""
    told = []
    for part in dict.fromkeys(node.inputs):
        place = f" ({part.origin})" if part.origin.file or part.origin.module else ""
        told.append(f"{part.origin.parameter or part.name}{place}: {holdings.of(part) or 'several results'}")
    return tuple(told)


def _loss(node: Node, holdings: Holdings) -> Loss:
    instead = [told for part in dict.fromkeys(node.inputs) if (told := _missing(part, holdings))]
    if not instead and (strange := holdings.first_strange()) is not None:
        rank, name = local(strange)
        instead.append(f"rank {rank} computes {name} ({strange.operator}, {strange.origin}) instead")
    return Loss(Site("sequential", node.name, node.operator, node.origin), _inputs(node, holdings), tuple(instead))


def _missing(part: Node, holdings: Holdings) -> str:
    """In words, the reduction that an operator lacks which reads this; nothing where it is no sum."""
    of = holdings.sum_of(part) if not part.is_source and _is_sum(holdings, part) else None
    if of is None:
        return ""
    reader = holdings.reader(of)
    where = f" before {local(reader)[1]} ({reader.origin})" if reader is not None else ""
    return f"{part.name} is {holdings.of(part)}: a reduction is missing{where}"
