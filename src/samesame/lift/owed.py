"""What a tensor that is made on the way owes to those who read it.

A kernel that leaves a part of a scratch tensor out breaks nothing if nobody reads that part: the splits of a row may be
fewer than there is room for, as long as the kernel that joins them asks for no others. So a tensor that `torch.empty`
made, that is not returned, and that something reads later, need not be written whole. It owes that each element that a
launch reads, under the mask and on the path of that read, was written by a launch before. Where that is not shown it is
open, and broken only where a run shows it: a read of what nobody wrote, and a result that changes with what was there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from samesame.evidence import Refused
from samesame.formula.binders import rebuilt
from samesame.formula.definite import is_undefined
from samesame.formula.expr import Expr, Load, and_, const, or_, substitute, walk
from samesame.kernels import clock
from samesame.kernels.execution.values import is_address
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.front import PARTS, layout_of, memories_in, passed_of, written_by
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.tiles.memory import element
from samesame.kernels.verdict import KernelVerdict, Obligation

SECONDS = 4.0  # for all reads of one tensor
Lifted = Mapping[int, Sequence[KernelVerdict]]  # by the number of a launch, in each of its configurations


def hold_to_readers(captured: Any, lifted: Lifted) -> None:
    """Ask of tensors made on the way that what is read of them was written, in place of that all of them is."""
    reads = Reads(captured, lifted)
    for call, verdicts in lifted.items():
        for verdict in verdicts:
            for obligation in (o for o in verdict.obligations if o.name == "coverage" and o.state != "proved"):
                view = reads.views(call).get(obligation.tensor)
                if view is not None and reads.is_on_the_way(view.memory):
                    settle(obligation, verdict, reads, view.memory)


def settle(obligation: Obligation, verdict: KernelVerdict, reads: Reads, memory: int) -> None:
    obligation.owed_to_readers = True
    name, obligation.counterexample = obligation.tensor, None
    with clock.limited(SECONDS):
        try:
            shown = reads.are_of_what_is_written(memory)
        except Refused:
            shown = False  # the time is over
    if shown:
        obligation.state, obligation.detail = "proved", f"every element of {name} that is read later is written"
        verdict.unread.add(name)
    else:
        obligation.state = "undecided"
        obligation.detail = f"it is not shown that every element of {name} that is read later is written"


class Reads:
    """Who reads and who writes a memory, over names that mean the same to all launches."""

    def __init__(self, captured: Any, lifted: Lifted) -> None:
        self.captured, self.lifted = captured, lifted
        self.launches = {launch.call: launch for launch in reversed(captured.launches)}
        self.writers: dict[int, set[int]] = {}  # by memory, the numbers of steps that may write to it
        for number, step in enumerate(captured.steps):
            for memory in self.written(step):
                self.writers.setdefault(memory, set()).add(number)

    def views(self, call: int) -> dict[str, Any]:
        """The tensors of a launch by name; none where it is not lifted."""
        try:
            return {one.name: one.view for one in passed_of(self.launches[call], self.captured).values()}
        except Refused:
            return {}

    def is_on_the_way(self, memory: int) -> bool:
        """Whether a memory is made empty, none of it is returned, as something else is, and a step reads it after
        another one has touched it. What nobody reads may be a result that the launch function drops."""
        returned = {view.memory for _, view in self.captured.outputs}
        if not returned or memory in returned or self.captured.memories[memory].contents not in (None, PARTS):
            return False
        touching = [step for step in self.captured.steps if memory in memories_in(step)]
        return any(map(partial(self.is_read_by, memory), touching[1:]))

    def is_read_by(self, memory: int, step: Any) -> bool:
        """Whether a step that touches a memory may read it."""
        if not hasattr(step, "variants") or any(memory in memories_in(one) for one in step.variants[0].before):
            return True
        call = step.variants[0].call
        verdicts, views = self.lifted.get(call, ()), self.views(call)
        return not verdicts or not views or any(v.unsupported for v in verdicts) or any(
            views[name].memory == memory for v in verdicts for name, _, _ in v.taken
        )

    def written(self, step: Any) -> set[int]:
        """The memories that a step may write to: a launch that is not read may write to all that it gets."""
        variants = getattr(step, "variants", ())
        if not variants:
            return written_by(step)
        found = {memory for launch in variants for one in launch.before for memory in written_by(one)}
        call = variants[0].call
        views, verdicts = self.views(call), self.lifted.get(call, ())
        if not verdicts or not views or any(v.unsupported for v in verdicts):
            return found | memories_in(step)
        stored = {o.tensor for v in verdicts for o in v.obligations if o.name == "coverage"}
        return found | {views[name].memory for name in stored if name in views}

    def are_of_what_is_written(self, memory: int) -> bool:
        """Whether each element of a memory that a step reads was written before, in whichever configurations."""
        written: list[tuple[int, Any, Sequence[KernelVerdict]]] = []  # step, view, and what its launch makes of it
        for number, step in enumerate(self.captured.steps):
            variants = getattr(step, "variants", ())
            befores = [one for launch in variants for one in launch.before]
            if any(memory in memories_in(one) for one in (befores if variants else [step])):
                return False  # what the host reads of it is not told
            if memory not in memories_in(step):
                continue
            call = step.variants[0].call
            verdicts, views = self.lifted.get(call, ()), self.views(call)
            mine = [name for name, view in views.items() if view.memory == memory]
            if not verdicts or any(v.unsupported for v in verdicts) or not mine:
                return False
            for verdict in verdicts:
                for name, offset, facts in verdict.taken:
                    if name in mine and not self.is_written(
                        number, verdict, views, (views[name], offset, facts), written
                    ):
                        return False
            written += [(number, views[name], verdicts) for name in mine if all(name in v.covers for v in verdicts)]
        return True

    def is_written(
        self,
        number: int,
        reader: KernelVerdict,
        views: Mapping[str, Any],
        read: tuple[Any, Expr, Sequence[Expr]],
        written: Sequence[tuple[int, Any, Sequence[KernelVerdict]]],
    ) -> bool:
        """Whether what one read of a launch, the step of this number, takes was written by one of the steps before."""
        view, offset, facts = read
        prover = IndexProver(seconds=SECONDS)
        self.know(prover, number, reader, views)
        offset, *facts = (self.told(e, number, views) for e in (offset, *facts))
        if not all(map(means_the_same, (offset, *facts))):
            return False  # nobody knows where it reads
        covers: list[Expr] = []
        known = tuple(facts)
        for step, other, verdicts in written:
            theirs = self.views(self.captured.steps[step].variants[0].call)
            place = element_of(view, other, offset, known, prover)
            if place is None:
                continue
            parts: list[Expr] = []
            for verdict, name in ((v, n) for v in verdicts for n, one in theirs.items() if one == other):
                self.know(prover, step, verdict, theirs)
                indices, condition = verdict.covers[name]
                told = self.told(condition, step, theirs)
                parts.append(integers.tidied(substitute(told, dict(zip(indices, place, strict=True)))))
                if not means_the_same(told) or told.free - set(indices):
                    return False
            covers.append(and_(*parts))
        return bool(covers) and prover.proves(known, or_(*covers))

    def know(self, prover: IndexProver, number: int, verdict: KernelVerdict, views: Mapping[str, Any]) -> None:
        """What a launch needs, as it stands in its headline, is so where it runs."""
        for condition in verdict.assumed:
            if condition not in prover.assumed and not any(isinstance(e, Load) for e in walk(condition)):
                prover.assume(condition)
        for leaf, (low, high, but, *_) in verdict.data.items():
            name = self.common_name(leaf.removesuffix("*"), number, views) + ", as one line"
            if name not in prover.ranges:
                prover.assume_range(name, low, high, but)

    def told(self, expr: Expr, number: int, views: Mapping[str, Any]) -> Expr:
        """An expression of a launch with names for the tensors that mean the same in other launches."""
        memo: dict[Expr, Expr] = {}

        def go(e: Expr) -> Expr:
            if e not in memo:
                new = rebuilt(e, go)
                if isinstance(new, Load) and not is_undefined(new):
                    name = new.leaf.name.removesuffix("*")
                    line = "" if new.leaf.name == name else ", as one line"
                    common = self.common_name(name, number, views) + line
                    new = Load(replace(new.leaf, name=common), new.indices)
                memo[e] = new
            return memo[e]

        return go(expr)

    def common_name(self, name: str, number: int, views: Mapping[str, Any]) -> str:
        """A name for what a tensor holds when a step begins: of one that a step before wrote to, since the last one."""
        view = views.get(name)
        if view is None:
            return f"{name} of step {number}"
        last = max((n for n in self.writers.get(view.memory, ()) if n < number), default=-1)
        return f"memory {view.memory} as {view!r} since {last}"


def means_the_same(expr: Expr) -> bool:
    """Whether nothing stands in an expression that is another thing in another launch: a value that nobody knows, or
    an address."""
    return not any(is_undefined(e) or is_address(e) for e in walk(expr))


def element_of(
    view: Any, other: Any, offset: Expr, facts: Sequence[Expr], prover: IndexProver
) -> tuple[Expr, ...] | None:
    """The indices in the other view of a memory of the element so far behind the first one of a view."""
    if view.dtype != other.dtype:
        return None
    ahead = integers.minus(integers.tidied(const(view.offset)), integers.tidied(const(other.offset)))
    layout = layout_of("", other)
    return element(layout, integers.plus_(offset, ahead), tuple(facts), Simplifier(prover))
