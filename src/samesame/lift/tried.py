"""What the proofs leave open, run: the launch function in Triton's interpreter, at sizes around its tiles' ends.

Nothing is claimed for want of a proof, and a wrong kernel is often one that no rule can read. So where an obligation or
the comparison is open, the function runs at the example's sizes and at others that keep the printed conditions, a few
seconds in all. An access that leaves its tensor, two programs at one element, a result that changes with undefined
values or that is far from the reference's is violated, with the case. What no run shows stays open.

Where numbers are drawn around zero, so is their mean, and a lane that is not masked adds next to nothing; nor is a zero
among them ever their maximum. So the tensors that `randn` draws lie on one side of zero in further runs: all below it,
or in turn above and below. A mask that is made of them may then hide all, which nobody means, and a sum of exponentials
may be too large for floats: a run in which what is chosen is something else, or that leaves the numbers, shows nothing.
Sums of such numbers are long while what they differ by is as short as ever, so rounding in shorter floats may be all
that is seen, and elements that are cut off at zero tie: kernels with either are not run so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Load, Unsupported, walk
from samesame.formula.sizes import value_at
from samesame.kernels.verdict import KernelVerdict, LiftVerdict, Obligation
from samesame.lift.differences import widened
from samesame.lift.draws import integers, sizes_to_try
from samesame.lift.example import run_at
from samesame.lift.parameters import taken_by
from samesame.lift.replayed import Rerun, changes_with_undefined, garbage_left, is_off

SECONDS = 3.0  # for all runs
AGAIN = 1  # the seed of a second draw: a result is another one only if it is so on both
SIDES: dict[tuple[int, ...], str] = {  # of zero, on which tensors that `randn` draws lie in turn, and how that is said
    (-1,): "by randn, all below zero",
    (1, -1): "by randn, tensors in turn above and below zero",
}
FAR = 1e-2  # of the largest value, in a kernel that computes in single precision or better
FAR_HALF = 1e-1  # in one that has shorter floats anywhere
FAR_ASIDE = 5e-2  # in one that runs on one side of zero
WIDE = (torch.float32, torch.float64)
HALF = re.compile(r"(?:\b|x)(bf16|f16|f8\w*)\b")
LEAVES = ("load out of bounds", "store out of bounds", "atomic out of bounds")


@dataclass
class Tried:
    """One target, of which something is open. `launched` are its kernels' verdicts, with the launches as recorded."""

    target: Any
    inputs: Any
    captured: Any
    launched: Sequence[tuple[KernelVerdict, Any]]
    verdict: LiftVerdict
    reference: Callable[..., Any] | None
    configuration: str
    until: float = field(default_factory=lambda: time.thread_time() + SECONDS)

    def run(self, conditions: Sequence[Expr], tiles: Sequence[int]) -> None:
        """Look for a case against each thing that is open, at the example's sizes and around the ends of `tiles`."""
        unread = any(kernel.unsupported for kernel, _ in self.launched)
        example = dict(self.captured.sizes)
        for sizes in sizes_to_try(example, conditions, tiles, capped=unread) if tiles else [example]:
            try:
                for how, run in self.runs(sizes):
                    self.look(sizes, run, how)
                    if self.is_over():
                        return
            except (Refused, Unsupported):
                continue  # the host does not go through with these sizes

    def confirm(self) -> None:
        """Run what is proved to be the same once, on the example's own numbers. Where that gives something else than
        the reference, and on a second draw too, the formulas say less than the programs do: 0/0 where a mask leaves
        nothing is one, as (x if c else 0) / (w if c else 0) is taken for x/w. Then nothing is claimed."""
        self.until = time.thread_time() + SECONDS
        try:
            first = self.difference(self.at(self.captured.sizes))
            if first is None or self.difference(self.at(self.captured.sizes, seed=AGAIN)) is None:
                return
        except (Refused, Unsupported):
            return
        self.verdict.against = "undecided"
        self.verdict.against_detail = f"by their formulas they are the same, but where both are run, {in_words(first)}"

    def is_over(self) -> bool:
        return time.thread_time() > self.until or not (self.is_open() or self.open_obligations())

    def runs(self, sizes: Mapping[str, int]) -> Iterator[tuple[dict[str, Any], Any]]:
        """Runs at some sizes, each with how it was drawn: as ever, then, as long as the comparison is open, on one side
        of zero, and on integers from the ends of their dtype."""
        own = self.at(sizes)
        yield {}, own
        for sides in SIDES if own.normal and self.is_plain(own) else ():
            if self.is_open() and is_chosen_alike(own, run := self.at(sizes, sides=sides)):
                yield {"sides": sides}, run
        if self.is_open() and self.unbounded:
            given = self.extremes(sizes)
            yield {"given": given}, self.at(sizes, given=given)

    def is_plain(self, run: Any) -> bool:
        """Whether all that is computed are floats of 32 bits at least, and no integers of them."""
        short = any(HALF.search(recorded.ttir) for _, recorded in self.launched)
        left = [held for one in run.executions for name, held in one.after.items() if name not in one.before or (
            not torch.equal(held, one.before[name]))]
        return not short and all(held.dtype in WIDE for held in (*left, *run.outputs.values()))

    def at(self, sizes: Mapping[str, int], **how: Any) -> Any:
        left = max(0.1, self.until - time.thread_time())
        return run_at(
            self.target, self.inputs, self.captured, sizes, configuration=self.configuration, timeout=left, **how
        )

    @cached_property
    def unbounded(self) -> dict[str, Any]:
        """Example tensors of integers that serve as no index, of which nothing is known or stated, by name; none where
        a kernel could not be read, or where the host makes something of its tensors, or some of others."""
        kernels = [kernel for kernel, _ in self.launched]
        made = self.captured.worked or not hasattr(self.captured.steps[0], "variants")
        if made or any(kernel.unsupported for kernel in kernels):
            return {}
        formulas = [formula.expr[1] for kernel in kernels for formula in kernel.formulas if formula.expr is not None]
        loads = {e for whole in formulas for e in walk(whole) if isinstance(e, Load)}
        used = {e.leaf.name for load in loads for i in load.indices for e in walk(i) if isinstance(e, Load)}
        used |= {leaf for kernel in kernels for leaf in kernel.data}
        bound = {leaf.removesuffix("*") for leaf in used}
        told = len(formulas) == sum(len(kernel.formulas) for kernel in kernels) > 0
        return {name: view for name, view in self.captured.inputs if told and "int" in view.dtype and name not in bound}

    def extremes(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Values from the ends of their dtype for these."""
        shapes = {name: [value_at(n, sizes) for n in view.shape] for name, view in self.unbounded.items()}
        random = np.random.default_rng(0)
        return {n: integers(random, shape, sizes, 1, None, self.unbounded[n].dtype) for n, shape in shapes.items()}

    def is_open(self) -> bool:
        """Whether it is open that the reference computes the same."""
        return self.reference is not None and self.verdict.against == "undecided"

    def open_obligations(self) -> list[tuple[KernelVerdict, Any, Obligation]]:
        return [
            (kernel, recorded, obligation)
            for kernel, recorded in self.launched
            if recorded.configuration == self.configuration or not recorded.configuration
            for obligation in (*kernel.obligations, *unread_bounds(kernel))
            if obligation.state == "undecided" and obligation.name in SHOWN
        ]

    def look(self, sizes: Mapping[str, int], run: Any, how: Mapping[str, Any]) -> None:
        """What a run at some sizes shows of all that is open; `how` it was drawn, if not as the launch function does.
        """
        if self.is_in_range(sizes, run) and "sides" not in how:
            self.look_at_obligations(sizes, run, bool(how))
        races = any(o.name == "race" and o.state != "proved" for kernel, _ in self.launched for o in kernel.obligations)
        if races and dict(sizes) != dict(self.captured.sizes):
            return  # what the last program stores is no result, and data at other sizes may be as nobody means it
        if self.is_open():
            self.look_at_results(sizes, run, how)

    def look_at_obligations(self, sizes: Mapping[str, int], run: Any, drawn: bool) -> None:
        """`drawn`: on numbers that are not the example's own."""
        for kernel, recorded, obligation in self.open_obligations():
            if obligation.name in OWN_NUMBERS and (drawn or self.agrees(run)):
                continue
            if obligation.name == "undefined" and drawn:
                continue  # the run without undefined values is of the example's own numbers
            seen = run.executions[recorded.call : recorded.call + 1]
            if not seen or seen[0].kernel != recorded.kernel:
                continue
            rerun = Rerun(self.target, self.inputs, self.captured, recorded, kernel, dict(sizes))
            rerun.whole = run
            case = SHOWN[obligation.name](rerun, obligation)
            if case is not None:
                obligation.state = "violated"
                obligation.detail = case.pop("detail")
                obligation.counterexample = {"sizes": dict(sizes), **case, "replayed": "yes"}
                obligation.place = case.get("line", obligation.place)
                if obligation not in kernel.obligations:
                    kernel.obligations.append(obligation)

    def look_at_results(self, sizes: Mapping[str, int], run: Any, how: Mapping[str, Any]) -> None:
        """A run that is far from the reference is drawn once more, and the launch is different if that one is, too."""
        first = self.shown(run, how)
        if first is None or ("shapes" in str(first) and dict(sizes) != dict(self.captured.sizes)):
            return  # or the reference has numbers that the launch calls sizes
        if self.shown(self.at(sizes, seed=AGAIN, **how), how) is not None:
            told = {"drawn": SIDES[how["sides"]]} if "sides" in how else {}
            self.verdict.against = "different"
            self.verdict.against_detail = "the launch gives something else where it is run"
            self.verdict.against_counterexample = {"sizes": dict(sizes), **told, **first, "replayed": "yes"}

    def shown(self, run: Any, how: Mapping[str, Any]) -> dict[str, Any] | None:
        """A difference from the reference; between numbers, if the run is on one side of zero."""
        found = self.difference(run, FAR_ASIDE if "sides" in how else FAR)
        if found is None or "sides" not in how or "shapes" in found["run"]:
            return found
        return found if all(isfinite(found["run"][side]) for side in ("interpreter", "torch")) else None

    def is_in_range(self, sizes: Mapping[str, int], run: Any) -> bool:
        """Whether integers, which may serve as indices, are as they have to be at other sizes than the example's."""
        if dict(sizes) == dict(self.captured.sizes):
            return True
        for name, held in run.inputs.items():
            if held.is_floating_point() or held.dtype == torch.bool:
                continue
            known = [kernel.data[f"{name}*"] for kernel, _ in self.launched if f"{name}*" in kernel.data]
            for low, high, but, *_ in known:
                within = (held >= value_at(low, sizes)) & (held <= value_at(high, sizes))
                for n in but:
                    within |= held == n
                if not bool(within.all()):
                    return False
            if not known:
                return False
        return True

    def answers(self, run: Any) -> Iterator[list[torch.Tensor]]:
        assert self.reference is not None
        return answers(self.reference, run, self.captured.by_every_name(run.sizes))

    def agrees(self, run: Any) -> bool:
        """Whether the reference gives what the launch does: it may wrap around just so."""
        known = self.reference is not None and any(map(len, self.answers(run)))
        return known and self.difference(run) is None

    def difference(self, run: Any, least: float = FAR) -> dict[str, Any] | None:
        """An output that is far from the reference's, which is worked out in double precision and as it is."""
        assert self.reference is not None
        far = FAR_HALF if any(HALF.search(recorded.ttir) for _, recorded in self.launched) else least
        got = list(run.outputs.values())
        wanted = list(self.answers(run))
        again = list(self.answers(run))
        steady = all(same_numbers(a, b) for a, b in zip(wanted, again, strict=True))
        if not wanted or not steady:  # nothing to hold it against, or it draws numbers of its own
            return None
        floats = any(x.is_floating_point() for x in run.inputs.values())
        for number, x in enumerate(got):
            found = [far_apart(x, answer[number], far, floats) for answer in wanted if number < len(answer)]
            if len(found) == len(wanted) and all(found):
                return {"output": number, "run": found[0]}
        return None


def answers(
    reference: Callable[..., Any], run: Any, sizes: Mapping[str, int]
) -> Iterator[list[torch.Tensor]]:
    """What the reference gives in double precision, and in the tensors' own; without those that it cannot take."""
    for given in (widened, lambda x: x):
        try:
            with torch.enable_grad():                      # a reference may be what autograd makes of a loss
                tensors = {name: x.clone() for name, x in run.named.items()}
                taken = {name: given(x) for name, x in taken_by(reference, tensors, sizes).items()}
                yield [x.detach() if isinstance(x, torch.Tensor) else x for x in tree_leaves(reference(**taken))]
        except Exception:
            continue  # it has no such operator on the CPU, or refuses these sizes


def is_chosen_alike(one: Any, other: Any) -> bool:
    """Whether tensors that choose (integers and masks) are the same in two runs, before and after each launch."""

    def chosen(run: Any) -> list[torch.Tensor]:
        launched = [held for one in run.executions for held in (*one.before.values(), *one.after.values())]
        return [held for held in (*run.inputs.values(), *launched) if not held.is_floating_point()]

    pairs = list(zip_longest(chosen(one), chosen(other)))
    return all(a is not None and b is not None and torch.equal(a, b) for a, b in pairs)


def same_numbers(a: Sequence[torch.Tensor], b: Sequence[torch.Tensor]) -> bool:
    return all(torch.equal(x.nan_to_num(), y.nan_to_num()) for x, y in zip(a, b, strict=True))


def far_apart(got: torch.Tensor, wanted: torch.Tensor, far: float, floats: bool) -> dict[str, Any] | None:
    """The element in which both differ by more than rounding explains: integers that come from floats by 2 or more."""
    if got.shape != wanted.shape:
        return {"shapes": [list(got.shape), list(wanted.shape)]}
    left, right = got.double(), wanted.double()
    apart = torch.where(left.isfinite() & right.isfinite(), (left - right).abs(), torch.inf)
    apart = apart.masked_fill((left == right) | (left.isnan() & right.isnan()), 0)
    largest = right[right.isfinite()].abs().max().item() if right.isfinite().any() else 1.0
    least = far * max(largest, 1e-3) if got.is_floating_point() else 1.0 if floats and got.dtype != torch.bool else 0.0
    if not apart.numel() or apart.max().item() <= least:
        return None
    place = tuple(int(n) for n in torch.unravel_index(apart.argmax(), apart.shape))
    return {"element": list(place), "interpreter": got[place].item(), "torch": wanted[place].item()}


def in_words(difference: Mapping[str, Any]) -> str:
    """An output that differs in a run, as a part of a sentence."""
    of, run = f"of output {difference['output']}", difference["run"]
    if "shapes" in run:
        return "the shape {} is {} and the reference's {}".format(of, *run["shapes"])
    return f"element {run['element']} {of} is {run['interpreter']:g} and the reference's {run['torch']:g}"


# ------------------------------------------------------------------------------------------------ what one run shows


def unread_bounds(kernel: KernelVerdict) -> Iterator[Obligation]:
    """Of a kernel that is not supported no obligation is stated; that it stays in its tensors is asked all the same."""
    if kernel.unsupported and not any(o.name == "bounds" for o in kernel.obligations):
        yield Obligation("bounds", "undecided")


def leaves_tensor(run: Rerun, _: Obligation) -> dict[str, Any] | None:
    return fault_of(run, LEAVES, "an access leaves its tensor")


def races(run: Rerun, _: Obligation) -> dict[str, Any] | None:
    return fault_of(run, ("race",), "two programs meet in one element")


def fault_of(run: Rerun, kinds: Sequence[str], detail: str) -> dict[str, Any] | None:
    fault = next((fault for fault in run.seen.faults if fault.kind in kinds), None)
    if fault is None:
        return None
    told = {"program": list(fault.program), "lane": list(fault.lane), "line": fault.origin.spoken}
    return {"detail": detail, "tensor": fault.argument, "at": fault.element, **told}


def hangs_on_order(run: Rerun, _: Obligation) -> dict[str, Any] | None:
    """Two programs at one element, one of which reads, where the launch leaves something else if the last program runs
    first. Atomic sums that come out rounded another way, and two stores, are none of that."""
    case = fault_of(run, ("race",), "a program reads what another one writes, and the result hangs on which is first")
    if case is None or any(o.name == "race" and o.state != "proved" for o in run.kernel.obligations):
        return None
    try:
        other = run.launch_in(run.run(backwards=True))
    except Refused:
        return None  # a program waits for another one
    one = run.seen
    if not all(torch.equal(bits(held), bits(other.before[name])) for name, held in one.before.items()):
        return None  # an earlier launch, or the host, has left something else
    far = FAR_HALF if HALF.search(run.recorded.ttir) else FAR
    floats = any(x.is_floating_point() for x in one.before.values())
    for name, marks in one.written.items():
        if not bool(marks.any()):
            continue
        found = far_apart(one.after[name], other.after[name], far, floats)
        if found is not None:
            told = {"first to last": found["interpreter"], "last to first": found["torch"]}
            return {**case, "left in": name, "element": found["element"], "programs": told}
    return None


def bits(held: torch.Tensor) -> torch.Tensor:
    """All bytes of a tensor's memory."""
    return torch.tensor([], dtype=torch.uint8).set_(held.untyped_storage())


def undefined_shows(run: Rerun, obligation: Obligation) -> dict[str, Any] | None:
    if not changes_with_undefined(run, obligation):
        return None
    line = obligation.place if ".py:" in obligation.place else run.recorded.called.spoken
    return {"detail": f"{obligation.detail}, and the result changes with it", "line": line}


def nobody_writes(run: Rerun, obligation: Obligation) -> dict[str, Any] | None:
    element = garbage_left(run, obligation.tensor) if obligation.tensor else None
    if element is None:
        return None
    return {"detail": f"an element of {obligation.tensor} is not written", "offset": element}


def wraps_around(run: Rerun, obligation: Obligation) -> dict[str, Any] | None:
    """That a number wraps around shows where all else is proved, and what is proved of numbers that do not is not so:
    an access leaves its tensor, or what is stored is not the formula."""
    proved = {o.name: o.state == "proved" for o in run.kernel.obligations if o.name != "overflow"}
    surely = obligation.detail.replace("may wrap", "wraps")
    if proved.get("bounds") and (case := fault_of(run, LEAVES, f"{surely}, and an access leaves its tensor")):
        return case
    stored = {run.seen.after[name].dtype for name, marks in run.seen.written.items() if bool(marks.any())}
    if not all(proved.values()) or HALF.search(run.recorded.ttir) or stored & UNSIGNED:
        return None  # half precision is far from formulas by itself, and unsigned numbers wrap around on purpose
    try:
        off = is_off(run, obligation)
    except Refused:
        return None  # nobody can work the formula out
    told = {"detail": f"{surely}, and what is stored is not the formula", "line": obligation.place}
    return told if off else None


UNSIGNED = {torch.uint8, torch.uint16, torch.uint32, torch.uint64}
OWN_NUMBERS = ("overflow",)  # how large integers may be nobody says, so only the example's are held against these
SHOWN: dict[str, Callable[[Rerun, Obligation], dict[str, Any] | None]] = {
    "bounds": leaves_tensor,
    "race": races,
    "aliasing": hangs_on_order,
    "undefined": undefined_shows,
    "coverage": nobody_writes,
    "overflow": wraps_around,
}
