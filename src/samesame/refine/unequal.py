"""Unequal: the job once more, with parts of its inputs that are not equally large.

Where ranks add up what they make of their parts, parts that are equally large hide whether each is given its weight: a
mean of means is then the mean of all. So the inputs that are cut evenly lose their last rows, as the last batch of many
does; torch's cut leaves them to the last rank, and both programs are captured and run again. Where every output is
where it should be on all draws, the answer does not stand on evenness, and the headline says that unequal parts are
tested. Where one is not, or a program takes no such inputs, it stands on evenness, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from samesame.evidence import Refinement, SamesameError
from samesame.refine.asked import conditions
from samesame.refine.granted import equally_much
from samesame.refine.job import Job
from samesame.refine.placement import coordinate, parsed
from samesame.refine.sides import Sides, fits, sides_of, some_of
from samesame.relate.draws import take_draws


def try_unequal(
    verdict: Refinement,
    job: Job,
    equal: Sides,
    even: Mapping[str, str],
    expected: Mapping[str, str],
    *,
    backward: bool,
) -> None:
    """Run the job on unequal parts of the inputs that it has cut `even`ly, `equal` as it was, and write into the
    verdict what comes of it; nothing where it cannot be run so."""
    less = _less(job, equal, even)
    if less is None:
        return
    shorter = replace(job, inputs=job.example(), relations={**job.relations, **even}, change=partial(_shortened, less),
                      again=False)
    try:
        (left, ranks), _ = shorter.captured(backward, lambda found: fits(*found, shorter, expected))
        sides = sides_of(left, ranks, job.axes, shorter.relations, expected, {}, {})
        _, values = take_draws((sides.left, sides.right), sides.relation.layouts, verdict.seed)
        conditions(sides, values)
    except SamesameError:                                  # sizes are written into a program, or decide, say
        return
    lying = sides.without_noise(values).lying(values)
    off = [name for name, lies in lying.items() if name in equal.pairs and not sides.due[name].holds(lies)]
    ran = f"Where the last rank has less of {some_of(list(even))} than the others"
    if off:
        verdict.notes.append(f"{ran}, {some_of(off)} is not where it should be.")
    else:
        verdict.provided.remove(equally_much(even))
        verdict.tried.append(f"unequal parts of {some_of(list(even))}")
        verdict.notes.append(f"{ran}, every output is where it should be as well, on all draws.")


Less = Mapping[str, tuple[int, int, int]]        # by input: the dimension, how often it is taken, rows to drop


def _less(job: Job, sides: Sides, even: Mapping[str, str]) -> Less | None:
    """How the inputs become so much shorter that torch's cut leaves the last piece of each smaller than the others, all
    in the same proportion; None where they cannot."""
    nodes = {node.origin.parameter or node.name: node for node in sides.left.sources("input")}
    dims, pieces, own = {}, {}, {}
    for name, text in even.items():
        if not text:
            return None
        (placement,) = parsed(text, name, job.axes)
        dims[name], (_, pieces[name]) = placement.dim, coordinate(0, placement.axis, job.axes)
        own[name] = nodes[name].shape[placement.dim] // pieces[name]
    least = min(own.values())
    if not least or any(own[name] % least or own[name] // least >= pieces[name] for name in even):
        return None
    return {name: (dims[name], 1 if least > 1 else 2, own[name] // least) for name in even}


def _shortened(less: Less, name: str, value: Any) -> Any:
    if name not in less:
        return value
    dim, times, rows = less[name]
    several = torch.cat([value] * times, dim)
    return several.narrow(dim, 0, several.shape[dim] - rows).contiguous()
