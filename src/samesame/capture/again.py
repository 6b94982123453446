"""Again: the program runs once more, on other values and with nobody watching, and must compute what its graph does.

A graph is made from one run. Whatever that run took from its values unseen (a NumPy view made before, a kernel called
by address, a thread, the clock) stands in the graph as a number or as a branch taken. So the program runs again,
as its users run it, on larger inputs and weights, and once more on inputs and weights of the other sign, and the graph
is worked out on the same. Where the two differ, the program is run again on those values to tell why: no two
runs agree, or it takes another course, and then the first line at which it does is named. Values on which the program
fails or computes no finite number are outside its domain: milder ones are tried, the example last.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from samesame.budget import undisturbed
from samesame.capture.asked import asking, laid_out_otherwise
from samesame.capture.exits import OFF, Derives, Differentiates
from samesame.capture.memory import address, place_of
from samesame.capture.program import Program, failed
from samesame.capture.views import keeps_dice
from samesame.evidence import Refused, SamesameError
from samesame.graph import Asked, Graph, Node, Origin, map_nodes
from samesame.operators.execute import COMPARED, execute
from samesame.operators.table import UNINITIALISED, packet

Outputs = list[tuple[str, torch.Tensor]]
Move = Callable[[torch.Tensor], torch.Tensor]

MANY = 1 << 16                              # elements of a weight that is moved where it lies, and moved back
REPEATS = 11                                # further runs of a program that may depend on chance: of a coin 1 in 4,096
LARGE = 8.0                                 # times the example's inputs
SPREAD = 0.25                               # how much each number moves besides, relative to itself
NEAR = 0.01
REALS = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64))
WRITABLE = re.compile(rb"^(\w+)-(\w+) .w.p", re.MULTILINE)    # memory of this process alone, as Linux tells it
INTEGERS = frozenset((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64))


def noise(value: torch.Tensor) -> torch.Tensor:
    """Numbers between −1 and 1, the same for every tensor of this shape."""
    dice = torch.Generator().manual_seed(value.numel())
    return (torch.rand(value.shape, generator=dice, dtype=torch.float64) * 2 - 1).to(value.device)


def otherwise(value: torch.Tensor) -> torch.Tensor:
    """Other values: reals of the other sign and larger, integers from the same range, truths moved along. What holds
    two values only (a mask) holds the same two."""
    if value.numel() == 0:
        return value
    if value.dtype in INTEGERS:
        return permuted(value) if int(value.min()) < 0 else within(value)
    if is_generic(value):
        return scaled(value, -LARGE, SPREAD)
    return permuted(value) if value.dtype == torch.bool or value.dtype in REALS else value


def never_negative(value: torch.Tensor) -> torch.Tensor:
    """The same, but that what is never negative stays so."""
    moved = otherwise(value)
    return moved.abs() if is_generic(value) and bool((value >= 0).all()) else moved


def opposite(value: torch.Tensor) -> torch.Tensor:
    """Reals of the other sign; anything else stays."""
    return scaled(value, -1.0, SPREAD) if is_generic(value) and bool((value < 0).any()) else value


def nearby(value: torch.Tensor) -> torch.Tensor:
    """Reals a hundredth off."""
    return scaled(value, 1.0, NEAR) if is_generic(value) else value


def scaled(value: torch.Tensor, by: float, spread: float) -> torch.Tensor:
    return (value.double() * by * (1 + spread * noise(value))).to(value.dtype)


def is_generic(value: torch.Tensor) -> bool:
    """Whether a tensor holds real numbers of which others may take the place: all finite, and not, as in a mask, zeros
    and one other number."""
    if value.dtype not in REALS or value.numel() == 0 or not bool(value.isfinite().all()):
        return False
    return not bool(((value == 0) | (value == value.flatten()[value.abs().argmax()])).all())


def permuted(value: torch.Tensor) -> torch.Tensor:
    return value.flatten().roll(1).flip(0).reshape(value.shape)


def within(value: torch.Tensor) -> torch.Tensor:
    """Integers from the range of these; the ends stay what they are."""
    low, high = int(value.min()), int(value.max())
    return (low + (noise(value) + 1) / 2 * (high - low + 1)).floor().clamp(low, high).to(value.dtype)


def turned(weight: torch.Tensor) -> torch.Tensor:
    """A weight of the other sign; one that holds the same number throughout holds others."""
    ends = weight.flatten()[:: max(weight.numel() - 1, 1)]
    if weight.numel() > 1 and ends[0] == ends[1] and bool((weight == ends[0]).all()):
        return (weight.double() + 0.5 * noise(weight)).to(weight.dtype)
    return -weight


def same(value: torch.Tensor) -> torch.Tensor:
    return value


def larger(value: torch.Tensor) -> torch.Tensor:
    """Reals of the same sign and larger, in another order."""
    return scaled(permuted(value), LARGE, SPREAD) if is_generic(value) else value


def grown(weight: torch.Tensor) -> torch.Tensor:
    """A weight of the same sign and larger."""
    return weight * 2


FACTORS: dict[Move, float] = {turned: -1.0, grown: 2.0}       # products by these are exact, as long as they are finite


@dataclass(frozen=True, slots=True)
class Draw:
    """How values change from those of the example, and what to call that in a message."""

    inputs: Move
    weights: Move
    words: str


# Each of the two is tried until one lies in the program's domain; that of the first is the example at last.
TURNED = (
    Draw(otherwise, turned, "other inputs and weights"),
    Draw(never_negative, turned, "other inputs and weights"),
    Draw(otherwise, same, "other inputs"),
    Draw(never_negative, same, "other inputs"),
    Draw(opposite, same, "other inputs"),
    Draw(nearby, same, "other inputs"),
    Draw(same, same, "the same inputs"),
)
LARGER = (
    Draw(larger, grown, "larger inputs and weights"),
    Draw(larger, same, "larger inputs"),
)


@contextmanager
def put(
    changes: Mapping[torch.Tensor, torch.Tensor], kept: list[torch.Tensor], moved: Mapping[torch.Tensor, float]
) -> Iterator[Callable[[], None]]:
    """Inside, these tensors hold other values; what is yielded puts them there anew, with what stood in those `kept`.
    Those `moved` by a factor are written where they lie, once: a power of two leaves no trace. Afterwards all hold what
    they held before."""
    before = [(tensor, tensor.detach().clone()) for tensor in (*changes, *kept)]
    multiplied: list[tuple[torch.Tensor, float]] = []

    @torch.inference_mode()
    def restore() -> None:
        for tensor, value in before:
            tensor.copy_(value)

    @torch.inference_mode()
    def begin() -> None:
        restore()
        for tensor, value in changes.items():
            tensor.copy_(value)

    try:
        with undisturbed(), torch.inference_mode():
            for tensor, factor in moved.items():
                tensor.mul_(factor)
                multiplied.append((tensor, factor))
        begin()
        yield begin
    finally:
        with undisturbed(), torch.inference_mode():
            for tensor, factor in multiplied:
                tensor.mul_(1 / factor)
            restore()


def factor_of(weights: Move, weight: torch.Tensor) -> float | None:
    """The power of two by which a weight is moved, if it is large, all of it is moved so, and nothing is lost by it."""
    if weight.numel() <= MANY or weight.dtype not in REALS or weights not in FACTORS:
        return None
    low, high = map(float, torch.aminmax(weight.detach()))              # NaN if there is one
    grows = max(abs(low), abs(high)) < torch.finfo(weight.dtype).max / 2
    return FACTORS[weights] if low < high and grows else None


@dataclass(frozen=True, slots=True)
class Ways:
    """How a program can be run once more: `run(otherwise)` with nobody watching, where gradients that were off are on,
    or the other way round; `recorded()` with the recorder, if that can be. `weights` are the tensors behind the graph's
    parameters, by node name, and `others` further weights of the program; `written` are those from outside that it
    writes into. `asked` is what it asked for while it was recorded, and `otherwise` says what is wrong where nothing
    better is known."""

    run: Callable[[bool], Outputs]
    recorded: Callable[[], Graph] | None
    weights: Mapping[str, torch.Tensor]
    others: list[torch.Tensor]
    written: list[torch.Tensor]
    asked: Mapping[str, Origin]
    otherwise: str


def demand_same(program: Program, graph: Graph, ways: Ways) -> tuple[Asked, ...]:
    """Raise Refused where the program, run once more, does not compute what its graph computes; else what it asks for
    beside values. Weights, inputs and what the program writes into hold afterwards what they held before."""
    weights = [*ways.weights.values(), *ways.others]
    owned, places = movable(weights), [*map(place_of, weights)]
    run_on(LARGER, program, graph, ways, owned)
    if [*map(place_of, weights)] != places:                # a call may give a weight other memory
        owned = movable(weights)
    asked = run_on(TURNED, program, graph, ways, owned)
    assert asked is not None, "the last draw is the example"
    return asked


def run_on(
    draws: Sequence[Draw], program: Program, graph: Graph, ways: Ways, owned: list[torch.Tensor]
) -> tuple[Asked, ...] | None:
    """The program and its graph on the first of these draws that lies in the program's domain; None if none does.
    Weights that are `owned` may be written."""
    places = {address(tensor) for tensor in ways.written}

    def is_written(tensor: torch.Tensor) -> bool:
        return address(tensor) in places

    for draw in draws:
        changes = {tensor: draw.inputs(tensor) for tensor in program.inputs.values()}
        moving = owned if draw.weights is not same else []
        factors = ((tensor, factor_of(draw.weights, tensor)) for tensor in moving if not is_written(tensor))
        moved = {tensor: factor for tensor, factor in factors if factor is not None}
        changes |= {tensor: draw.weights(tensor) for tensor in moving if tensor not in moved}
        unmoved = not moved and all(is_unmoved(tensor, value) for tensor, value in changes.items())
        if draw.inputs is not same and unmoved:
            continue
        asked = dict(ways.asked)
        with put(changes, ways.written, moved) as begin:
            with asking(asked):
                found = outputs_of(program, ways.run, last=draw.inputs is same)
            if found is None:
                continue
            begin()
            pairs = zip(graph.sources("input"), program.inputs.values(), strict=True)
            values = graph.tensors | {node.name: changes[tensor].cpu() for node, tensor in pairs}
            values |= {name: tensor.detach().cpu() for name, tensor in ways.weights.items()}
            if half_filled := unfilled(program, graph, values):
                raise half_filled
            if not computes(graph, values, found):
                raise explained(program, graph, found, draw, ways, begin)
            if draws is LARGER:
                return ()
            if "chance" in asked or "clock" in asked or keeps_dice(program):
                demand_steady(program, found, ways, begin)
            return tuple(tried(what, origin, program, found, ways, begin) for what, origin in asked.items())
    return None


def is_unmoved(tensor: torch.Tensor, value: torch.Tensor) -> bool:
    """Are the two equal? Torch does not compare floats of one byte."""
    bytewise = tensor.is_floating_point() and tensor.itemsize == 1
    return torch.equal(*(part.view(torch.uint8) if bytewise else part for part in (tensor, value)))


def demand_steady(program: Program, outputs: Outputs, ways: Ways, begin: Callable[[], None]) -> None:
    """Raise Refused where a program that draws numbers or reads the clock does not always return the same."""
    for _ in range(REPEATS):
        begin()
        again = outputs_of(program, ways.run, last=True)
        if again is None or not alike(outputs, again, exactly=True):
            raise random(program)


def tried(
    what: str, origin: Origin, program: Program, outputs: Outputs, ways: Ways, begin: Callable[[], None]
) -> Asked:
    """What the program asked for, and whether it computes the same where the answer is another, if that can be had."""
    if what not in ("gradients", "strides"):
        return Asked(what, origin, same=False if what == "checks" else None)       # what is not valid raises
    begin()
    with laid_out_otherwise(program.inputs.values() if what == "strides" else ()), Derives() as derives:
        try:
            other = ways.run(what == "gradients")
        except (Exception, SystemExit):                    # where gradients are off, there are none to compute
            return Asked(what, origin, same=what == "gradients" and program.gradients)
    if derives.any and not program.gradients:
        raise Differentiates(f"{program.spoken(origin)} {OFF}")
    return Asked(what, origin, same=alike(outputs, other))


def movable(weights: list[torch.Tensor]) -> list[torch.Tensor]:
    """The weights that may hold other values: reals whose memory no other weight shares."""
    distinct = {place_of(tensor): tensor for tensor in weights}.values()
    places = Counter(address(tensor) for tensor in distinct)
    return in_private_memory([x for x in distinct if x.dtype in REALS and places[address(x)] == 1])


def in_private_memory(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors whose memory may be written: those mapped from a file that is read-only, or shared with others, may
    not. Only Linux tells, in thousands of lines."""
    if not tensors:
        return []
    try:
        told = Path("/proc/self/maps").read_bytes()
    except OSError:
        return tensors
    kept = [(int(first, 16), int(end, 16)) for first, end in WRITABLE.findall(told)]
    starts = [first for first, _ in kept]

    def private(tensor: torch.Tensor) -> bool:
        place = bisect(starts, tensor.data_ptr()) - 1
        return tensor.device.type != "cpu" or tensor.numel() == 0 or (place >= 0 and tensor.data_ptr() < kept[place][1])

    return [tensor for tensor in tensors if private(tensor)]


def outputs_of(program: Program, run: Callable[[bool], Outputs], *, last: bool) -> Outputs | None:
    """What the program returns on these values; None where they are outside its domain, unless they are the `last`."""
    try:
        found = run(False)
    except (Exception, SystemExit) as error:
        if not last:
            return None
        if isinstance(error, SamesameError):
            raise
        raise failed(error, f"{program.title}, called a second time,") from error
    real = [tensor for _, tensor in found if tensor.is_floating_point() or tensor.is_complex()]
    return found if last or all(map(_is_finite, real)) else None


def _is_finite(tensor: torch.Tensor) -> bool:
    """Of any dtype: torch does not ask it of 8 bits."""
    return bool((tensor if tensor.is_complex() else tensor.double()).isfinite().all())


def computes(graph: Graph, values: Mapping[str, torch.Tensor], outputs: Outputs) -> bool:
    """Whether the graph gives these outputs, but for rounding."""
    try:
        found = execute(graph, values, precision="own", keep=False)
    except Refused:
        return False
    if [name for name, _ in graph.roots] != [name for name, _ in outputs]:
        return False
    pairs = zip(graph.roots, outputs, strict=True)
    off = [name for (name, node), (_, output) in pairs if not agree(found[node.name], output.cpu())]
    return not off or not unsettled_by_rounding(graph, values, outputs, off)


def unfilled(program: Program, graph: Graph, values: Mapping[str, torch.Tensor]) -> Refused | None:
    """Why no two runs agree, where an output shows what memory held before the program: another filling shows there."""
    fillings = [node for node in graph.nodes if packet(node.operator) in UNINITIALISED]

    def filled(node: Node, value: Any) -> Any:
        return torch.ones_like(value) if packet(node.operator) in UNINITIALISED else value

    if not fillings:
        return None
    marked: dict[str, Any] = execute(graph, values, precision="own", keep=False)
    other: dict[str, Any] = execute(graph, values, precision="own", keep=False, changed=filled)
    if all(agree(marked[root.name], other[root.name]) for _, root in graph.roots):
        return None
    return Refused(
        f"{program.spoken(fillings[-1].origin)} makes a tensor of which not every element is written before it is read "
        "or returned, so no two runs agree; fill it (torch.zeros), or write all of it"
    )


def explained(
    program: Program, graph: Graph, outputs: Outputs, draw: Draw, ways: Ways, begin: Callable[[], None]
) -> Refused:
    """Why the program does not compute what its graph does: chance, another course, or something unseen."""
    for _ in range(REPEATS):
        begin()
        once_more = outputs_of(program, ways.run, last=True)
        if once_more is None or not alike(outputs, once_more, exactly=True):
            return random(program)
    if ways.recorded is not None:
        begin()
        place = departure(graph, ways.recorded())
        if place is not None:
            return Refused(
                f"{program.spoken(place)} does something else on {draw.words}, so the graph depends on data; pass what "
                "decides as an argument, or compute with torch's operators"
            )
    return Refused(f"{program.title} does not compute what its graph computes: {ways.otherwise}")


def random(program: Program) -> Refused:
    return Refused(
        f"{program.title} draws random numbers (Python's, numpy's or the system's), reads the clock or keeps something "
        "from call to call, so no two runs agree; call .eval() on the module, or pass the number as an argument"
    )


def alike(left: Outputs, right: Outputs, *, exactly: bool = False) -> bool:
    """Whether two runs gave the same outputs, but for rounding, or but for the order of a sum over threads."""
    names = [name for name, _ in left] == [name for name, _ in right]
    within = STEADY if exactly else None
    return names and all(agree(a.cpu(), b.cpu(), within) for (_, a), (_, b) in zip(left, right, strict=True))


def departure(graph: Graph, other: Graph) -> Origin | None:
    """Where two recordings of a program first differ: in an operator, in a number, in which input or weight is read, in
    a tensor made outside of torch; None where they are one."""
    mine, yours = ({node: k for k, node in enumerate(side.nodes)} for side in (graph, other))

    def said(node: Node, place: Mapping[Node, int]) -> Any:
        name = node.name if node.operator in ("input", "parameter") else ""
        operands = node.args, tuple(sorted(node.kwargs.items()))
        return node.operator, name, node.type, map_nodes(lambda operand: f"%{place[operand]}", operands)

    for a, b in zip(graph.nodes, other.nodes, strict=False):
        if repr(said(a, mine)) != repr(said(b, yours)):
            return b.origin
        if a.operator == "constant" and not agree(graph.tensors[a.name], other.tensors[b.name]):
            return b.origin
    if len(graph.nodes) != len(other.nodes):
        longer = max(graph, other, key=lambda side: len(side.nodes))
        return longer.nodes[min(len(graph.nodes), len(other.nodes))].origin
    if [(name, mine[node]) for name, node in graph.roots] != [(name, yours[node]) for name, node in other.roots]:
        return other.roots[0][1].origin
    return None


# How far a second run may be off, relative to the largest magnitude: the order of a sum may differ.
ROUNDING = {torch.float64: 1e-9, torch.float32: 1e-3}
COARSE = 0.1
STEADY = 1e-6
ROUNDED = 30                                # times what rounding of the inputs alone moves an output


def confirm(graph: Graph, outputs: Outputs, otherwise: str) -> None:
    """Run the graph on the example: had the program done something unseen, `outputs`, its own, would be others."""
    values = execute(graph, graph.tensors, precision="own", keep=False)
    pairs = zip(graph.roots, outputs, strict=True)
    off = [name for (name, root), (_, output) in pairs if not agree(values[root.name], output.cpu())]
    if off and (off := unsettled_by_rounding(graph, graph.tensors, outputs, off)):
        raise Refused(f"the output {off[0]} is not what the program's graph computes: {otherwise}")


def unsettled_by_rounding(
    graph: Graph, values: Mapping[str, torch.Tensor], outputs: Outputs, names: Sequence[str]
) -> list[str]:
    """Those of the outputs that are further off than rounding moves them. Where terms cancel, as in the gradient of a
    bias before a norm, rounding is all that is left: so the graph also runs on values moved by as much as these may
    have been rounded, and an output may be off by as many times what it then moves."""
    def rounded(value: torch.Tensor) -> torch.Tensor:
        return scaled(value, 1.0, 4 * torch.finfo(value.dtype).eps) if value.dtype in REALS else value

    known, found = dict(outputs), dict(graph.roots)
    near: dict[str, Any] = execute(graph, values, precision="own", keep=False)
    moved: dict[str, Any] = execute(graph, {k: rounded(x) for k, x in values.items()}, precision="own", keep=False)

    def is_off(name: str) -> bool:
        mine, other, theirs = near[found[name].name], moved[found[name].name], known[name].cpu()
        if mine.shape != theirs.shape or mine.dtype not in REALS or not bool(theirs.isfinite().all()):
            return True
        room = ROUNDED * float((mine.double() - other.double()).abs().max())
        return float((mine.double() - theirs.double()).abs().max()) > room

    return [name for name in names if is_off(name)]


def agree(value: Any, output: torch.Tensor, within: float | None = None) -> bool:
    """Whether two runs gave the same tensor, but for rounding."""
    if value.shape != output.shape or value.dtype != output.dtype:
        return False
    if not (value.is_floating_point() or value.is_complex()):
        return torch.equal(value, output)
    if value.dtype in COMPARED and torch.equal(value, output):        # as nearly always, and bits are soon compared
        return True
    wide = torch.complex128 if value.is_complex() else torch.float64
    a, b = value.to(wide), output.to(wide)
    finite = b.isfinite()
    if not bool(finite.all()):
        if not torch.equal(a[~finite].nan_to_num(nan=0.5), b[~finite].nan_to_num(nan=0.5)):
            return False
        a, b = a[finite], b[finite]
    scale = b.abs().amax() if b.numel() else 0.0
    tolerance = within or ROUNDING.get(value.abs().dtype if value.is_complex() else value.dtype, COARSE)
    return bool(((a - b).abs() <= tolerance * scale).all())
