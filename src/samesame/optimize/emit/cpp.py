"""Kernels as C++: one translation unit from a program whose sizes and tiles are numbers.

A parallel nest becomes one OpenMP region, a vector loop takes as many rounds at once as a register has lanes, an
unrolled one is written out, and what is left are plain loops. Three things make the code fast, and all are decided here
rather than left to the compiler:

    cuts        a loop is cut where a condition of its body begins to be decided, so that full tiles test nothing and
                the ragged end has bounds of its own (`ranges.py`);
    registers   a local buffer whose elements are all named by numbers, once loops are written out, is no memory but one
                variable for each run of lanes; where that fails the block is printed again, with memory (`Misplaced`);
    lanes       an element free of the lanes' variable is read once for all of them; neighbours are read together.
                A fold over lanes keeps one partial result in each lane and folds these at the end.

Expressions are `values.py`, buffers `places.py`; what all is written in, `lanes.h`, stands at the file's head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, takewhile
from math import prod

from samesame.formula.expr import Expr, Index, Load, Num, Unsupported, lt, walk
from samesame.optimize.emit.places import (
    COPIES,
    LANES,
    Frame,
    Memory,
    Misplaced,
    Place,
    Registers,
    Scope,
    Serially,
    Singly,
    Wide,
    c_type,
    register,
    reserved,
    whole,
)
from samesame.optimize.emit.ranges import Linear, Span, Spans
from samesame.optimize.emit.values import Values
from samesame.optimize.ir import (
    Accumulate,
    Kernel,
    Local,
    Loop,
    Program,
    Rescaled,
    Statement,
    Store,
    When,
    is_narrow_product,
    narrow_ones,
    statements,
)

BESIDE = 4                                           # numbers that are stored beside one another, at most
WRITTEN_OUT = 64                                     # rounds of an unrolled loop, or runs of lanes, at most
IN_REGISTERS = 64                                    # elements (or runs of lanes) of a buffer, at most
ON_STACK = 4096                                      # bytes


def source(program: Program, lanes: int) -> str:
    """The whole file. `lanes` is how many float32 a vector register holds."""
    return "\n".join([LANES.read_text(), *(function(kernel, lanes) for kernel in program.kernels)])


def in_registers(elements: int, lanes: int) -> bool:
    """Whether a local buffer of so many elements may be variables."""
    return elements <= IN_REGISTERS * lanes


def function(kernel: Kernel, lanes: int) -> str:
    return _indented(_Printer(kernel, lanes).lines())


def _indented(lines: Sequence[str]) -> str:
    text, depth = [], 0
    for line in lines:
        depth -= line.startswith("}")
        text.append("    " * depth + line if not line.startswith("#") else line)
        depth += line.endswith("{")
    return "\n".join(text) + "\n"


def _braced(lines: list[str], head: str = "") -> list[str]:
    if not lines:
        return []
    return [f"{head} {{".lstrip(), *lines, "}"] if head or len(lines) > 1 else lines


@dataclass(frozen=True)
class Held:
    """How a local buffer is held, as far as printing its block has shown."""

    memory: bool = False
    across: bool = False
    runs: Mapping[int, int] = field(default_factory=dict)


def _is_again(one: Statement, other: Statement) -> bool:
    """Whether two neighbours store the same value, in which they do not read what they store."""
    return isinstance(one, Store) and isinstance(other, Store) and one.value is other.value and not any(
        isinstance(e, Load) and e.leaf in (one.target.leaf, other.target.leaf) for e in walk(one.value))


def _stores_too(one: Store, other: Statement) -> bool:
    """Whether a neighbour stores something else in the same tensor, and reads nothing of it."""
    return isinstance(other, Store) and other.target is one.target and not any(
        isinstance(e, Load) and e.leaf == one.target.leaf for e in walk(other.value))


class _Printer:
    """Prints one kernel. Every method returns lines, and none at all for a statement without effect."""

    def __init__(self, kernel: Kernel, lanes: int) -> None:
        buffers = [*kernel.tensors, *(s.buffer for s in statements(kernel.body) if isinstance(s, Local))]
        doubles = any(buffer.dtype == "float64" for buffer in buffers)       # of which a register holds half as many
        self.kernel, self.lanes, self.count = kernel, lanes // 2 if doubles else lanes, 0
        self.values = Values()

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def lines(self) -> list[str]:
        tensors = self.kernel.tensors
        written = {buffer.name for buffer in self.kernel.writes}
        places: dict[str, Place] = {b.name: Memory(reserved(b.name), b) for b in tensors}
        takes = ", ".join(f"{'' if b.name in written else 'const '}{c_type(b.dtype)}* __restrict__ {reserved(b.name)}"
                          for b in tensors)
        body = self.block(self.kernel.body, Scope(Spans(), places, self.values.text))
        return ['extern "C"', *_braced(body or [";"], f"void {reserved(self.kernel.name)}({takes})")]

    # ----------------------------------------------------------------------------------------------- statements

    def block(self, body: tuple[Statement, ...], scope: Scope) -> list[str]:
        """Statements one after the other; local buffers are in registers where that is possible."""
        parallel = any(isinstance(s, Loop) and s.kind == "parallel" for s in statements(body)) and not scope.region
        shared = {s.buffer.name for s in body if isinstance(s, Local) and parallel}
        how = dict.fromkeys(shared, Held(memory=True))
        while True:
            tried = replace(scope, fetched=set(scope.fetched))
            try:
                lines = self._block(body, tried, how)
                scope.fetched.update(tried.fetched)
                return lines
            except Misplaced as needed:
                if not any(isinstance(s, Local) and s.buffer.name == needed.name for s in body):
                    raise
                before = how.get(needed.name, Held())
                if needed.runs is not None:
                    how[needed.name] = replace(before, runs=needed.runs)
                else:
                    how[needed.name] = Held(across=True) if needed.across and not before.across else Held(memory=True)

    def _block(self, body: tuple[Statement, ...], scope: Scope, how: Mapping[str, Held]) -> list[str]:
        lines: list[str] = []
        declared: list[tuple[int, Place]] = []
        done = 0                                           # before which all is printed
        for k, statement in enumerate(body):
            if isinstance(statement, Local):
                place = self._place(statement, scope, how.get(statement.buffer.name, Held()))
                declared.append((len(lines), place))
                scope = scope.with_place(statement.buffer.name, place)
            elif isinstance(statement, Store) and scope.pair is None:
                too = takewhile(partial(_stores_too, statement), body[k:])
                few = [each for each in too if isinstance(each, Store)][:BESIDE]
                if k >= done and len(few) > 1 and scope.lane is not None and (text := self.values.beside(few, scope)):
                    lines += text
                    done = k + len(few)
                if k >= done and (k == done or not _is_again(statement, body[k - 1])):
                    same = takewhile(partial(_is_again, statement), body[k + 1:])
                    lines += self.values.store([statement, *(s for s in same if isinstance(s, Store))], scope)
            else:
                lines += self.statement(statement, scope)
        if not lines:
            return []
        for at, place in reversed(declared):
            lines[at:at] = place.declaration()
        return lines

    def _place(self, local: Local, scope: Scope, held: Held) -> Place:
        buffer, name = local.buffer, reserved(local.buffer.name)
        elements = prod(map(whole, buffer.shape))
        lanes = scope.width if scope.lane is not None else 0
        small = elements <= IN_REGISTERS if lanes else in_registers(elements, self.lanes)
        running = local.running.name if local.running else ""
        if held.memory or not small:
            size = elements * max(lanes, 1) * (8 if buffer.dtype == "float64" else 4)
            static = size > ON_STACK or not scope.region
            return Memory(name, buffer, local.monoid, running, elements, lanes, static)
        return Registers(name, buffer, local.monoid, running, elements, lanes,
                         across=self.lanes if held.across else 0, runs=dict(held.runs))

    def statement(self, statement: Statement, scope: Scope) -> list[str]:
        if scope.pair is not None and not isinstance(statement, Loop | When | Accumulate):
            raise Singly()
        match statement:
            case Loop():
                return self.loop(statement, scope)
            case When(condition, body):
                return self.when(condition, body, scope)
            case Rescaled():
                return self.rescaled(statement, scope)
            case Accumulate(target, indices, value) if scope.pair is not None:
                return self.values.dot(target, indices, value, scope)
            case Accumulate(target, indices, value):
                return self.values.accumulate(target, indices, value, scope)
        raise Unsupported(f"a {type(statement).__name__} where it cannot stand")

    def when(self, condition: Expr, body: tuple[Statement, ...], scope: Scope) -> list[str]:
        decided = scope.spans.decide(condition)
        if decided is not None:
            return self.block(body, scope) if decided else []
        if scope.pair is not None and scope.pair in condition.free:
            raise Singly()
        if self.values.varies(condition, scope):
            raise Serially()
        return _braced(self.block(body, scope), f"if ({self.values.condition(condition, scope)})")

    def rescaled(self, statement: Rescaled, scope: Scope) -> list[str]:
        """One maximum changes in the body, if its element is the same in all of it; else any of them may."""
        if scope.lane is not None and not scope.places[statement.running.name].lanes:
            raise Serially()
        running, sums = scope.places[statement.running.name], [scope.places[each.name] for each in statement.sums]
        inside = list(statements(statement.body))
        bound = {s.variable for s in inside if isinstance(s, Loop)}
        targets = {s.indices for s in inside if isinstance(s, Accumulate) and s.target == statement.running}
        one = len(targets) == 1 and not any(bound & e.free for e in next(iter(targets)))
        addresses = ([running.address(next(iter(targets)), scope.spans)] if one else
                     [Linear(i) for i in range(running.elements)])
        if len(addresses) > WRITTEN_OUT:
            raise Unsupported(f"{len(addresses)} maxima that change together")
        def now(at: Linear) -> str:
            text = running.read(at, scope)
            assert text is not None
            return f"finite({text.code})"

        befores = [self.fresh("before") for _ in addresses]
        lines = [f"const auto {before} = {now(at)};" for before, at in zip(befores, addresses, strict=True)]
        lines += self.block(statement.body, scope)
        for before, at in zip(befores, addresses, strict=True):
            factor = self.fresh("factor")
            lines.append(f"const auto {factor} = f_exp({before} - {now(at)});")
            for each in sums:
                lines += each.scaled(at, each.elements // running.elements, factor, scope)
        return lines

    # ---------------------------------------------------------------------------------------------------- loops

    def loop(self, loop: Loop, scope: Scope) -> list[str]:
        variable, body = loop.variable, loop.body
        low, high = map(int, scope.spans.bounds(variable.extent))
        if low != high:                              # the extent depends on outer loops: a condition cuts these
            body = (When(lt(variable, variable.extent), body),)
        if loop.kind == "unrolled" and high <= WRITTEN_OUT:
            return [line for i in range(high) for line in
                    _braced(self.block(body, scope.at(variable, Span(str(i), i, i))))]
        lanes = loop.kind == "vector" and scope.lane is None
        cuts = scope.spans.cuts(variable, 0, high, body, self.lanes if lanes else 1)
        if loop.kind == "parallel" and not scope.region and high > 1:
            return self.parallel(replace(loop, body=body), scope)
        lines: list[str] = []
        for start, end in pairwise(cuts):
            if lanes:
                lines += self.vector(variable, start, end, body, scope)
            else:
                lines += self.serial(variable, start, end, body, scope)
        return lines

    def serial(self, variable: Index, start: int, end: int, body: tuple[Statement, ...], scope: Scope) -> list[str]:
        if end - start == 1:
            return _braced(self.block(body, scope.at(variable, Span(str(start), start, start))))
        i = self.fresh("i")
        inside = replace(scope.at(variable, Span(i, start, end - 1)), fetched=set())
        if scope.pair is None and self.narrow(body):
            try:
                pairs = self.block(body, replace(inside, pair=variable))
            except Singly:
                pass
            else:
                if end - start == 2:
                    return _braced([f"constexpr long {i} = {start};", *pairs])
                odd = self.serial(variable, end - 1, end, body, scope) if (end - start) % 2 else []
                return [*_braced(pairs, f"for (long {i} = {start}; {i} + 1 < {end}; {i} += 2)"), *odd]
        return _braced(self.block(body, inside), f"for (long {i} = {start}; {i} < {end}; ++{i})")

    def narrow(self, body: tuple[Statement, ...]) -> bool:
        """Whether products of bf16 are summed up, of which machines can take two at once."""
        narrow = narrow_ones(self.kernel.tensors)
        return any(is_narrow_product(s, narrow) for s in statements(body))

    def parallel(self, loop: Loop, scope: Scope) -> list[str]:
        """Nested parallel loops with nothing between them are one; within it, each part of a cut is a branch."""
        nest = [loop]
        while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], Loop) and inner.kind == "parallel" \
                and isinstance(inner.variable.extent, Num):
            nest.append(inner)
        heads, names = [], [self.fresh("i") for _ in nest]
        for name, each in zip(names, nest, strict=True):
            high = int(scope.spans.bounds(each.variable.extent)[1])
            heads.append(f"for (long {name} = 0; {name} < {high}; ++{name})")
        inside = self.branches(nest, names, nest[-1].body, replace(scope, region=True, fetched=set()))
        if not inside:
            return []
        collapse = f" collapse({len(nest)})" if len(nest) > 1 else ""
        return [f"#pragma omp parallel for{collapse} schedule(static)", *heads[:-1], *_braced(inside, heads[-1])]

    def branches(self, nest: list[Loop], names: list[str], body: tuple[Statement, ...], scope: Scope) -> list[str]:
        if not nest:
            return self.block(body, scope)
        variable, name = nest[0].variable, names[0]
        high = int(scope.spans.bounds(variable.extent)[1])
        lines: list[str] = []
        cuts = scope.spans.cuts(variable, 0, high, nest[0].body)
        for start, end in pairwise(cuts):
            text = str(start) if end - start == 1 else name
            inside = self.branches(nest[1:], names[1:], body, scope.at(variable, Span(text, start, end - 1)))
            test = [f"{name} >= {start}"] * (start > 0) + [f"{name} < {end}"] * (end < high)
            lines += _braced(inside, f"if ({' && '.join(test)})") if test else inside
        return lines

    # ---------------------------------------------------------------------------------------------------- lanes

    def vector(self, variable: Index, start: int, end: int, body: tuple[Statement, ...], scope: Scope) -> list[str]:
        """Rounds start … end − 1, as many at once as there are lanes; one by one where a test depends on the lane."""
        try:
            if end - start <= 4 * self.lanes:
                return self.runs(variable, start, end, body, scope)
            try:
                return self.strip(variable, start, end, body, scope)
            except Wide as needed:
                if needed.variable is not variable:
                    raise
                return self.runs(variable, start, end, body, scope, needed.name)
        except Serially:
            if scope.lane is not None:
                raise
            return self.serial(variable, start, end, body, scope)

    def runs(self, variable: Index, start: int, end: int, body: tuple[Statement, ...], scope: Scope,
             wanted: str = "") -> list[str]:
        """Every run of lanes written out: full ones, then what is left, in as many as it takes: a row of 30 is one of
        16 and one of 14, of which two lanes are no rounds."""
        if end - start > WRITTEN_OUT * self.lanes:
            raise Misplaced(wanted)
        frame, lines, at = Frame(scope, written_out=True), list[str](), start
        pairs = scope.pair is None and self.narrow(body)
        while at < end:
            if pairs and end - at >= 2 * self.lanes:
                try:
                    lines += self.run(variable, str(at), at, at, 2 * self.lanes, body, replace(scope, frame=frame))
                    at += 2 * self.lanes
                except Singly:
                    pairs = False
                continue
            taken = min(end - at, self.lanes)
            lines += self.run(variable, str(at), at, at, taken, body, replace(scope, frame=frame))
            at += taken
        return frame.around(lines)

    def run(self, variable: Index, text: str, low: int, high: int, taken: int, body: tuple[Statement, ...],
            scope: Scope) -> list[str]:
        """The body for so many neighbouring values of the variable, the first of which lies in low … high; two in each
        lane where there are more than lanes."""
        inside = scope.at(variable, Span(text, low, high + taken - 1))
        if taken > 1:
            pair, width = variable if taken > self.lanes else scope.pair, min(register(taken), self.lanes)
            inside = replace(inside, lane=variable, width=width, taken=min(taken, width), pair=pair,
                             start=low if low == high else None)
        return _braced(self.block(body, inside))

    def strip(self, variable: Index, start: int, end: int, body: tuple[Statement, ...], scope: Scope) -> list[str]:
        """A loop over runs of lanes. If they fold into one result, several are under way at once."""
        if scope.pair is None and self.narrow(body):
            try:
                return self.strips(variable, start, end, 2 * self.lanes, body, scope)
            except Singly:
                pass
        return self.strips(variable, start, end, self.lanes, body, scope)

    def strips(self, variable: Index, start: int, end: int, width: int, body: tuple[Statement, ...],
               scope: Scope) -> list[str]:
        frame, i = Frame(scope, written_out=False), self.fresh("i")
        inside = replace(scope, frame=frame, fetched=set())
        copies, lines, last = 1, list[str](), end - width
        rounds = self.run(variable, i, start, last, width, body, inside)
        if frame.partial and end - start >= 2 * COPIES * width:
            copies = COPIES
            for copy in range(1, copies):
                further = f"({i} + {copy * width})"
                rounds += self.run(variable, further, start, last, width, body, replace(inside, copy=copy))
        step = copies * width
        at = end - (end - start) % step
        lines += _braced(rounds, f"for (long {i} = {start}; {i} < {at}; {i} += {step})")
        while at < end:
            taken = min(end - at, self.lanes)
            lines += self.run(variable, str(at), at, at, taken, body, inside)
            at += taken
        return frame.around(lines)
