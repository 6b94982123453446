"""How good `samesame refine` is at finding a planted mistake: every fault of the jobs in tests/jobs and the two bugs
that Entangle's graphs hold, one at a time.

    python benchmarks/refine_faults.py                      # all of them: some minutes
    python benchmarks/refine_faults.py megatron_mlp         # those of one job

A fault is detected if the verdict is "does not refine". It is named rightly if the sequential operator that the
verdict names first is the one whose counterpart was changed, or the first that reads what was changed:
tests/jobs/rank_faults.py says which, by operator and source line. Prints a table and both shares.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "jobs"))

from check import machine
from rank_faults import PLANTED, Planted

from samesame.entangle.verb import refine_case
from samesame.evidence import Refinement
from samesame.refine import load_job, refine

HERE = Path(__file__).resolve().parent
CASES = HERE.parent.parent / "shared" / "data" / "entangle"
OF_CASES = (
    Planted("case", "bug_grad_accumulation", "gradient accumulation normalised per micro-batch",
            ("aten.div", "aten.add"), ""),
    Planted("case", "bug_missing_layernorm_allreduce", "norm gradients not reduced",
            ("apex.fused_layer_norm_backward", "aten.native_layer_norm_backward", "aten.sum"), ""),
)


def decided(planted: Planted) -> Refinement:
    if planted.job == "case":
        return refine_case(str(CASES / planted.fault / "relation.json"))
    job = load_job(str(HERE.parent / "tests" / "jobs" / f"{planted.job}.py"))
    return refine(**job | {"distributed": partial(job["distributed"], fault=planted.fault)})


def named_rightly(verdict: Refinement, planted: Planted) -> bool:
    site = verdict.loss.operator if verdict.loss else None
    return site is not None and planted.is_named(site.operator, site.origin)


def rows(jobs: list[str]) -> Iterator[tuple[bool, bool, bool]]:
    """Print a row for each fault: whether it was detected, named rightly, and mended."""
    cases = OF_CASES if CASES.is_dir() else ()
    for planted in (*PLANTED, *cases):
        if jobs and planted.job not in jobs:
            continue
        started = time.process_time()
        verdict = decided(planted)
        seconds = time.process_time() - started
        found, right = verdict.verdict == "does not refine", named_rightly(verdict, planted)
        site = verdict.loss.operator if verdict.loss else None
        place = f"{Path(site.origin.file).name}:{site.origin.line} {site.origin.module}" if site else ""
        named = f"{site.operator} ({place.strip()})" if site else ""
        edit = verdict.diagnosis[0].description if verdict.diagnosis else ""
        told = (planted.bug, planted.job, planted.fault, verdict.verdict, named, "yes" if right else "no", edit)
        print(f"| {' | '.join(told)} | {seconds:.1f} |", flush=True)
        yield found, right, bool(edit)


def main() -> None:
    print(f"{machine()}\n")
    print("| bug class | job | fault | verdict | named operator | right | edit that mends it | processor s |")
    print("|---|---|---|---|---|---|---|---|")
    found = list(rows(sys.argv[1:]))
    detected, right, mended = (sum(column) for column in zip(*found, strict=True))
    print(f"\n{detected} of {len(found)} detected; the named operator is right in {right}, "
          f"{100 * right / len(found):.0f} %; an edit was found for {mended}")


if __name__ == "__main__":
    main()
