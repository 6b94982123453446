"""Whether a busy machine changes what `check` says: pairs of the corpus alone, then beside processes that only count.

    python benchmarks/busy.py                # every fourth pair of tests/pairs with its twins, beside four processes
    python benchmarks/busy.py 16 8           # every sixteenth, beside eight

The same seed has to give the same verdict, evidence, conditions and report, whatever else the machine does: limits that
decide are of the thread's own time. Each pass has a process of its own, which checks one pair after the other; the
table names every case of which the two passes say different things, and shows by how much the clock went slower.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EVERY, BESIDE = 4, 4
COUNTING = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**6))"    # ends with its parent
ASPECTS = ("verdict", "evidence", "conditions", "text")
Said = dict[str, Any]


# -------------------------------------------------------------------------------------------------- one pass's process


def work(every: int) -> None:
    """Check each case of the sample and print what is said of it, a JSON line each."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from pairs.corpus import PAIRS

    for pair in PAIRS[::every]:
        for name, right in (("", pair.right), *((f" / {twin.name}", twin.right) for twin in pair.twins)):
            started, busy = time.monotonic(), time.process_time()
            said = told(pair.left, right, pair.inputs)
            spent = {"clock": time.monotonic() - started, "cpu": time.process_time() - busy}
            print(json.dumps({"case": f"{pair.name}{name}", **said, **spent}), file=results, flush=True)


def told(left: Any, right: Any, inputs: Any) -> Said:
    from samesame import check
    from samesame.report import plain_text

    verdict = check(left, right, inputs)
    evidence = [one.evidence for one in (*verdict.roots, *verdict.relations)]
    text, _, _how_long_it_took = plain_text(verdict).rstrip().rpartition("\n\n")
    return {
        "verdict": verdict.verdict,
        "evidence": [str(verdict.evidence), *(f"{one.rung}: {one.method}, {one.detail}" for one in evidence)],
        "conditions": sorted({str(condition) for one in evidence for condition in one.conditions}),
        "text": text,
    }


# ------------------------------------------------------------------------------------------------------- the two passes


@contextmanager
def counting(processes: int) -> Iterator[None]:
    """Beside so many processes that do nothing but count."""
    begun = [subprocess.Popen([sys.executable, "-c", COUNTING]) for _ in range(processes)]
    try:
        yield
    finally:
        for one in begun:
            one.kill()
            one.wait()


def one_pass(every: int) -> list[Said]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    asked = [sys.executable, __file__, "work", str(every)]
    run = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "PYTHONPATH": path})
    return [json.loads(line) for line in run.stdout.splitlines()]


def differing(alone: list[Said], beside: list[Said]) -> Iterator[str]:
    """A line for each case and aspect of which the passes say different things."""
    for one, other in zip(alone, beside, strict=True):
        for aspect in ASPECTS:
            if one[aspect] != other[aspect]:
                both = _lines(one[aspect]), _lines(other[aspect])
                lines = difflib.unified_diff(*both, "alone", "beside", n=0, lineterm="")
                yield "\n    ".join([f"{one['case']}: {aspect}", *lines])


def _lines(said: str | list[str]) -> list[str]:
    return said.splitlines() if isinstance(said, str) else said


def main(every: int = EVERY, processes: int = BESIDE) -> None:
    alone = one_pass(every)
    with counting(processes):
        beside = one_pass(every)
    found = list(differing(alone, beside))
    print("\n".join(found))
    print(f"| {len(alone)} cases | seconds of the clock | of the processor | verdicts same, different, undecided |")
    print("|---|---|---|---|")
    for words, said in (("alone", alone), (f"beside {processes} others", beside)):
        clock, cpu = (sum(one[kind] for one in said) for kind in ("clock", "cpu"))
        verdicts = [one["verdict"] for one in said]
        counts = ", ".join(str(verdicts.count(word)) for word in ("same", "different", "undecided"))
        print(f"| {words} | {clock:.0f} | {cpu:.0f} | {counts} |")
    print(f"\n{len(found)} differences in verdict, evidence, conditions or text")


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(int(sys.argv[2]))
    else:
        main(*map(int, sys.argv[1:]))
