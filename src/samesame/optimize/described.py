"""What kernels are, in words: whose work each does, in which tiles, along which axis its lanes run, and how many rounds
threads have to share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import prod

from samesame.formula.sizes import value_at
from samesame.graph import Graph
from samesame.operators.table import packet
from samesame.optimize.forms import Form, but_indices, walk
from samesame.optimize.ir import Kernel, Loop, bound, statements, symbols
from samesame.optimize.partition import Stage, is_contraction
from samesame.optimize.space import Scheduled, Space
from samesame.report.words import counted

SIDES = ("rows", "lanes", "columns", "depth")        # of a tile, by the roles of what is chosen
POWERS = {Fraction(-1): "reciprocal", Fraction(-1, 2): "rsqrt", Fraction(1, 2): "sqrt"}
WORDS = {"plus": "add", "minus": "sub", "times": "mul", "where": "where", "compare": "compare", "concat": "cat",
         "lookup": "look up"}
MOVED = frozenset({                                  # a tensor as it is, seen otherwise
    "getitem", "view", "_unsafe_view", "reshape", "contiguous", "permute", "transpose", "t", "mT", "movedim", "expand",
    "slice", "select", "unsqueeze", "squeeze", "unbind", "split", "split_with_sizes", "chunk", "unflatten", "flatten",
    "alias", "detach",
})


def operators(graph: Graph) -> Counter[str]:
    """What a program applies, by torch's names, but for what only looks at a tensor in another way."""
    applied = (packet(node.operator).removeprefix("aten.") for node in graph.nodes if not node.is_source)
    return Counter(name for name in applied if name not in MOVED)


def work(stages: Iterable[Stage]) -> Counter[str]:
    """The operators whose work stages do, each part of their forms once."""
    found, seen = Counter[str](), set[Form]()
    for stage in stages:
        several = [x for x in walk(stage.whole, arguments=but_indices) if x not in seen]
        within = {x.arguments[0] for x in several if x.operator == "fold" and is_contraction(x)}
        found.update(word for x in several if x not in within and (word := _word(x)))
        seen.update(several)
    return found


def _word(x: Form) -> str:
    match x.operator:
        case "fold":
            return "matmul" if is_contraction(x) else str(x.attributes[0])
        case "fn" | "extremum":
            return str(x.attributes[0])
        case "power":
            return POWERS.get(x.attributes[0], "pow")
    return WORDS.get(x.operator, "")


def works(group: Iterable[Stage]) -> str:
    """What stages do, in torch's names; what only goes elsewhere is copied."""
    return listed(work(group)) or "copy"


def listed(found: Counter[str]) -> str:
    """`matmul × 2, silu, mul`, the most frequent first."""
    return ", ".join(f"{name} × {n}" if n > 1 else name for name, n in found.most_common())


def described(scheduled: Scheduled, numbers: Mapping[str, int], space: Space, lanes: int) -> str:
    """A group's kernels in a line, with the numbers of their tiles and at the example's sizes."""
    sizes = {**space.numbers(), **numbers}
    chosen = {tile.role: (numbers[tile.size.name], value_at(tile.of, sizes)) for tile in scheduled.program.tiles}
    said = [scheduled.map]
    if sides := [str(chosen[role][0]) for role in SIDES if role in chosen]:
        said.append(f"tiles of {' × '.join(sides)}")
    if "parts" in chosen:
        each, whole = chosen["parts"]
        said.append(f"in {counted(-(-whole // each), 'part')} of {each}")
    if "keys" in chosen:
        said.append(f"{chosen['keys'][0]} tiles of keys at a time")
    run = [kernel for kernel in scheduled.program.kernels if not kernel.ahead]
    if not run:
        return f"{works(scheduled.group)}: {', '.join(said)}, once, as it is made of weights alone"
    if len(run) > 1:
        said.append(counted(len(run), "kernel"))
    if len(run) < len(scheduled.program.kernels):
        said.append("weights packed ahead")
    names = {tile.size.name for tile in scheduled.program.tiles}
    shared = rounds(bound(next((kernel for kernel in run if names & symbols(kernel)), run[0]), sizes))
    width = lanes // 2 if space.real == "float64" else lanes
    said.append(f"{counted(shared, 'round')} for {counted(space.threads, 'thread')}, {width} lanes")
    return f"{works(scheduled.group)}: {', '.join(said)}"


def rounds(kernel: Kernel) -> int:
    """How many rounds of a kernel with numbers for its sizes may run at the same time."""
    loops = [s.variable.extent for s in statements(kernel.body) if isinstance(s, Loop) and s.kind == "parallel"]
    return prod(value_at(extent, {}) for extent in loops)
