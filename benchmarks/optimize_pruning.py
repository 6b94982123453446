"""Does pruning ever cut the best? Everything that the search could make of small programs, tuned without pruning.

    python benchmarks/optimize_pruning.py                    # three programs: some minutes each
    python benchmarks/optimize_pruning.py lora --markdown

Every form in the e-graph of a program (all terms that its rules make, up to a depth) is cut into stages, every schedule
of every group of stages is tuned over all its tiles, and the fastest of each is timed once more, all in turns. A form
takes as long as its groups do together. *Kept* is what is left when forms are chosen and schedules pruned as `samesame
optimize` does it; its best is shown over the best of all.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import inf
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))

from optimize_workloads import Gated, LoRA, NormLinear

from samesame.capture import capture
from samesame.egraph import EGraph
from samesame.formula.expr import Unsupported
from samesame.optimize import forms as f
from samesame.optimize.compiled import Compiled, describe, load
from samesame.optimize.emit import cpp
from samesame.optimize.forms import Form
from samesame.optimize.ir import bound, text
from samesame.optimize.machine import here
from samesame.optimize.native import FORMS
from samesame.optimize.partition import stages
from samesame.optimize.pruning import pruned
from samesame.optimize.read import read
from samesame.optimize.rules import RULES, add, typed
from samesame.optimize.schedule import NoSchedule, Scheduled, Space, alternatives
from samesame.optimize.search import LIMITS, searched
from samesame.optimize.specification import Specification
from samesame.optimize.tune import tune

PROGRAMS: dict[str, Callable[[], tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]] = {
    "RMSNorm+Linear (8,256,384)": lambda: (NormLinear(256, 384), (torch.randn(8, 256),)),
    "LoRA (8,256,256,r8)": lambda: (LoRA(256, 256, 8), (torch.randn(8, 256),)),
    "SwiGLU (8,256,256)": lambda: (Gated(256, 256), (torch.randn(8, 256),)),
}
DEPTH, MOST = 7, 400                                 # of a term; forms of one class
SECONDS, ROUNDS = 8.0, 60                           # to tune a schedule; turns of the last timing


def every_form(specification: Specification) -> tuple[list[Form], bool]:
    """All forms of a program's one output that the rules make; whether these are all up to the depth."""
    graph, (root,) = EGraph(typed), specification.roots()
    top = add(graph, root.form, {})
    graph.saturate(RULES, LIMITS)
    known: dict[int, dict[Form, None]] = {cls: {} for cls in graph.classes()}
    whole = True
    for _ in range(DEPTH):
        before = {cls: list(forms) for cls, forms in known.items()}
        for cls, forms in known.items():
            for node in graph.nodes(cls):
                operator, attributes, below = graph.application(node)
                for xs in product(*(before[graph.find(part)] for part in below)):
                    if len(forms) >= MOST:
                        whole = False
                        break
                    forms[form_of(operator, attributes, xs)] = None
    return list(known[graph.find(top)]), whole


def form_of(operator: str, attributes: tuple[object, ...], xs: Sequence[Form]) -> Form:
    if operator == "contract":
        return f.fold("sum", attributes[0], f.times(*xs))                                    # type: ignore[arg-type]
    return f.made(operator, attributes, tuple(xs))


class Timed:
    """The best time of each schedule, by what its kernels read as."""

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.calls: dict[str, tuple[Compiled, list[torch.Tensor]]] = {}
        self.tiles = 0

    def key(self, scheduled: Scheduled) -> str:
        return "\n".join(text(kernel) for kernel in scheduled.program.kernels)

    def tune(self, scheduled: Scheduled, space: Space) -> None:
        if self.key(scheduled) not in self.calls:
            best = tune([scheduled.program], space.numbers(), {}, SECONDS)
            self.tiles += len(best.measured)
            program = bound(scheduled.program, {**space.numbers(), **best.numbers})
            written = {buffer.name for kernel in program.kernels for buffer in kernel.writes}
            ahead = {b.name for kernel in program.kernels if kernel.ahead for b in kernel.reads} - written
            reads = {b.name for kernel in program.kernels for b in kernel.reads} - written - ahead
            outputs = [b.name for b in program.kernels[-1].writes]
            call = load(cpp.source(program, here().lanes), describe(program, sorted(reads), sorted(ahead), outputs))
            tensors = [torch.rand(call.tensors[name]["shape"]) for name in call.arguments]
            self.calls[self.key(scheduled)] = call, tensors

    def seconds(self) -> dict[str, float]:
        """Of each, the least of many calls that take turns."""
        found = dict.fromkeys(self.calls, inf)
        for _ in range(ROUNDS):
            for key, (call, tensors) in self.calls.items():
                call(*tensors)
                begun = time.perf_counter()
                for _ in range(5):
                    call(*tensors)
                found[key] = min(found[key], (time.perf_counter() - begun) / 5)
        return found


def compared(name: str) -> list[str]:
    """One row of the table."""
    torch.manual_seed(0)
    specification = read(capture(*PROGRAMS[name]()))
    forms, whole = every_form(specification)
    chosen = {c.outputs[0] for c in sorted(searched(specification).candidates, key=lambda c: c.cost["time"])[:FORMS]}
    timed, cut = Timed(specification), Counter[str]()
    plans: dict[tuple[tuple[str, ...], ...], tuple[bool, list[tuple[list[str], list[str]]]]] = {}
    for form in [*chosen, *(form for form in forms if form not in chosen)]:
        groups = list[tuple[list[str], list[str]]]()
        try:
            for space, several in scheduled(specification, form):
                left, own = pruned(several, space, cut if form in chosen else Counter()), list[Scheduled]()
                for each in several:
                    try:
                        timed.tune(each, space)
                        own.append(each)
                    except Unsupported:
                        cut["schedules that are not printed"] += 1
                groups.append(([timed.key(each) for each in own], [timed.key(each) for each in left if each in own]))
        except (NoSchedule, Unsupported):
            cut["forms without a schedule"] += 1
            continue
        plans.setdefault(tuple(tuple(own) for own, _ in groups), (form in chosen, groups))
    seconds = timed.seconds()
    everything = min(sum(min(seconds[key] for key in own) for own, _ in groups) for _, groups in plans.values())
    kept = min(sum(min(seconds[key] for key in left) for _, left in groups) for own, groups in plans.values() if own)
    reasons = ", ".join(f"{number} {reason.removeprefix('schedules ')}" for reason, number in cut.items())
    return [name, f"{len(forms)}{'' if whole else ' and more'}", str(len(plans)), str(len(timed.calls)),
            str(timed.tiles), reasons or "none", f"{1e6 * everything:.1f} µs", f"{kept / everything:.2f}"]


def scheduled(specification: Specification, form: Form) -> Iterator[tuple[Space, list[Scheduled]]]:
    (output,) = specification.outputs
    cut = stages([type(output)(f"result {output.name}", form, output.dims, output.dtype)], specification.extents)
    space = Space(specification, cut)
    for several in alternatives(space):
        yield space, several


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("rows", nargs="*", help="words of which a row's name holds one")
    words.add_argument("--threads", type=int, default=1)
    words.add_argument("--markdown", action="store_true")
    asked = words.parse_args()
    torch.set_num_threads(asked.threads)
    head = ["program", "forms", "of other stages", "schedules", "tiles tried", "cut of the kept forms'", "best of all",
            "best kept ÷ that"]
    rows = [name for name in PROGRAMS if not asked.rows or any(word.lower() in name.lower() for word in asked.rows)]
    for cells in ([head, ["---"] * len(head)] if asked.markdown else [head]):
        print(f"| {' | '.join(cells)} |" if asked.markdown else "   ".join(cells), flush=True)
    for name in rows:
        cells = compared(name)
        print(f"| {' | '.join(cells)} |" if asked.markdown else "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
