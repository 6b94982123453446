"""Branches: conditions on the whole program, as an `if`, or as the blocks that an early `return` makes of a kernel.

`if row >= n: return` ends a block with a branch to one of two others, and what comes later is a block of its own. Here
each block is executed once, under the conditions on the way to it. The last block that every way to it passes (its
dominator) has conditions already; from there on a program arrives unless a branch in between sends it elsewhere for
good. So the conditions of a block are those of its dominator and, for each branch that leaves, its negation: after an
early return, that it was not taken. What a block is handed from several sides is chosen by the way that was taken. The
returns of a function lead to one last block, whose arguments are what the caller gets.

Only branches forward can be read like this. One back is a loop of which no number of iterations is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from samesame.evidence import Refused
from samesame.formula.expr import FALSE, TRUE, Expr, Truth, and_, not_
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Function, Operation, Place, Region
from samesame.kernels.execution.values import Value, chosen

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Environment, Machine

LAST = "return"  # the label of the block behind every return


def if_else(machine: Machine, operation: Operation, env: Environment) -> list[Value]:
    """The results of an `scf.if`: both sides are executed, each under its condition, unless the path decides."""
    condition = settled(machine, cast(Tensor, env[operation.operands[0]])[()])
    branches: list[list[Value]] = []
    for region, holds in zip((*operation.regions, Region())[:2], (True, False), strict=True):
        if isinstance(condition, Truth) and condition.value != holds:
            branches.append([])
            continue
        machine.path.append(condition if holds else not_(condition))
        branches.append(machine.block(region, dict(env)))
        machine.path.pop()
    if isinstance(condition, Truth):
        return branches[0] if condition.value else branches[1]
    both = zip(*branches, strict=True) if operation.results else ()
    return [chosen(operation.place, condition, a, b) for a, b in both]


def settled(machine: Machine, condition: Expr) -> Expr:
    """The condition; true or false where the path decides it."""
    for goal, answer in ((condition, TRUE), (not_(condition), FALSE)):
        if not isinstance(condition, Truth) and machine.prover.proves(machine.path, goal):
            return answer
    return condition


def called(machine: Machine, operation: Operation, env: Environment) -> list[Value]:
    """The results of a function of the module, as Triton leaves one that is not inlined."""
    function = machine.functions.get(operation.callee)
    if function is None or function.name in machine.calling:
        why = "calls itself" if function else "is not part of the module"
        raise Refused(f"{operation.place}: the function {operation.callee} {why}, which is not supported")
    operands = [machine.operand(operation, name, env) for name in operation.operands]
    machine.calling.append(function.name)
    names = (name for name, _ in function.arguments)
    results = Flow(machine, function).run(dict(zip(names, operands, strict=True)))
    machine.calling.pop()
    return results


# ------------------------------------------------------------------------------------------------------------ blocks


@dataclass(frozen=True, eq=False)
class Way:
    """A branch from one block to another, taken where the condition holds there, and what it hands on."""

    source: str
    target: str
    condition: Expr
    values: Sequence[Value]
    place: Place


@dataclass
class Flow:
    """The walk through the blocks of a function: the ways found so far, for each block its dominator (`above`), its
    conditions beyond those of the dominator (`since`), and the names it sees."""

    machine: Machine
    function: Function
    ways: list[Way] = field(default_factory=list)
    above: dict[str, str] = field(default_factory=dict)
    since: dict[str, list[Expr]] = field(default_factory=dict)
    names: dict[str, Environment] = field(default_factory=dict)

    def run(self, env: Environment) -> list[Value]:
        """Execute all blocks, the function's arguments given by name; what it returns."""
        first, *others = in_order(self.function)
        self.names[first] = env
        self.execute(first)
        for label in others:
            ways = [way for way in self.ways if way.target == label]
            if not ways:
                continue  # no program gets there
            handed = self.enter(label, ways)
            if label == LAST:
                return handed
            names = (name for name, _ in self.function.blocks[label].arguments)
            self.names[label] = self.names[self.above[label]] | dict(zip(names, handed, strict=True))
            path, here = self.machine.path, self.conditions(label, first)
            path += here
            self.execute(label)
            del path[len(path) - len(here) :]
        return []

    def execute(self, label: str) -> None:
        """Execute a block, and note the ways out of it."""
        *operations, end = self.function.blocks[label].operations
        env = self.names[label]
        for operation in operations:
            self.machine.execute(operation, env)
        for target, handed, condition in self.ends(end, env):
            if condition is not FALSE:
                values = [self.machine.operand(end, name, env) for name in handed]
                self.ways.append(Way(label, target, condition, values, end.place))

    def ends(self, end: Operation, env: Environment) -> Iterator[tuple[str, list[str], Expr]]:
        """Where the last operation of a block leads, with the names handed on and the condition."""
        if end.name == "tt.return":
            yield LAST, end.operands, TRUE
        elif end.name == "cf.br":
            yield *end.jumps[0], TRUE
        else:
            condition = settled(self.machine, cast(Tensor, env[end.operands[0]])[()])
            for (target, handed), holds in zip(end.jumps, (condition, not_(condition)), strict=True):
                yield target, handed, holds

    def enter(self, label: str, ways: list[Way]) -> list[Value]:
        """Find a block's dominator and conditions; what it is handed."""
        above = self.above[label] = self.common([way.source for way in ways])
        inside, left = {above}, [way.source for way in ways]
        while left:
            one = left.pop()
            if one not in inside:
                inside.add(one)
                left += [way.source for way in self.ways if way.target == one]
        leaving = [w for w in self.ways if w.source in inside and w.target not in (*inside, label)]
        self.since[label] = [not_(self.taken(way, above)) for way in leaving]
        *tested, other = sorted(ways, key=lambda way: len(self.conditions(way.source, above)))
        values = list(other.values)
        for way in reversed(tested):
            condition = self.taken(way, above)
            values = [chosen(way.place, condition, a, b) for a, b in zip(way.values, values, strict=True)]
        return values

    def common(self, labels: list[str]) -> str:
        """The last block that every way to one of these passes."""
        lines = [self.line(label) for label in labels]
        return next(label for label in lines[0] if all(label in line for line in lines))

    def line(self, label: str) -> list[str]:
        """A block, its dominator, the dominator of that one, and so on."""
        found = [label]
        while found[-1] in self.above:
            found.append(self.above[found[-1]])
        return found

    def conditions(self, label: str, above: str) -> list[Expr]:
        """The conditions of a block beyond those of one that dominates it."""
        line = self.line(label)
        return [c for one in reversed(line[: line.index(above)]) for c in self.since[one]]

    def taken(self, way: Way, above: str) -> Expr:
        """The condition that a way is taken, after a block that dominates where it starts."""
        return and_(*self.conditions(way.source, above), way.condition)


def in_order(function: Function) -> list[str]:
    """The labels of the blocks that the first one leads to, each behind all that lead to it, and the last. Raises
    Refused for a branch back."""
    found: list[str] = []
    opened: set[str] = set()

    def visit(label: str) -> None:
        opened.add(label)
        for target in targets(function, label) if label != LAST else ():
            if target in opened and target not in found:
                place = function.blocks[label].operations[-1].place
                raise Refused(f"{place}: a branch back to an earlier block is a loop that is not supported")
            if target not in opened:
                visit(target)
        found.append(label)

    visit(next(iter(function.blocks)))
    return found[::-1]


def targets(function: Function, label: str) -> list[str]:
    """The labels that a block may lead to."""
    operations = function.blocks[label].operations
    end = operations[-1] if operations else None
    if end is not None and end.name == "tt.return":
        return [LAST]
    if end is not None and end.name in ("cf.br", "cf.cond_br"):
        return [target for target, _ in end.jumps]
    raise Refused(f"{end.place if end else function.place}: a block ends in neither a branch nor a return")
