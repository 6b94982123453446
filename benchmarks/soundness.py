"""How many false claims are proved: there must be none, out of ten thousand and more.

    python benchmarks/soundness.py                  # about an hour on two cores
    python benchmarks/soundness.py --claims 1000 --jobs 1

Goes through everything in tests/soundness: every true claim with one change, by one seed after the other, until there
are enough; every law that does not hold, in every place; every wrong twin of the pairs of programs through the whole of
`check`, with values and by proof alone. Prints how it goes on stderr and the tables on stdout; `make soundness` keeps
them in benchmarks/soundness.md. Exit code 1 if anything false was accepted, with the claim.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
sys.path[:0] = [str(ROOT), str(TESTS), *(str(TESTS / name) for name in ("formula", "operators", "soundness"))]

PARTS = 32                  # of each list: one task
SEEDS = 100                 # at most
INTRODUCTION = """# False claims

`make soundness` makes this file. A claim is *false* when its sides differ in float64 at two sizes at least, on two
draws of the inputs each; *false at some sizes* when they differ at fewer. Each is given to the proof as a whole and by
cases, over size symbols and in numbers (loops to the proof by induction), one second each. Twins are wrong programs
that somebody has written; they go through the whole of `check`, once with values, and once with all outputs said to
agree, so that only the proofs stand between them and the answer `same`.
"""


@dataclass
class Found:
    """What one task came to: counts by family, by change and by kind; what was accepted; seconds spent proving."""

    kind: str
    families: Counter[tuple[str, str]] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    accepted: list[str] = field(default_factory=list)
    slowest: float = 0.0
    seconds: float = 0.0

    def add(self, other: Found) -> None:
        self.families += other.families
        self.changes += other.changes
        self.accepted += other.accepted
        self.slowest = max(self.slowest, other.slowest)
        self.seconds += other.seconds

    @property
    def false(self) -> int:
        return sum(n for (_, what), n in self.families.items() if what == "false")

    @property
    def somewhere(self) -> int:
        return sum(n for (_, what), n in self.families.items() if what == "false at some sizes")


Task = tuple[str, int, int]


def tasks(kind: str, seeds: int = 1) -> Iterator[Task]:
    return ((kind, seed, part) for seed in range(seeds) for part in range(PARTS))


def done(task: Task) -> Found:
    kind, seed, part = task
    started = time.monotonic()
    found = twins(part) if kind == "twins" else claims(kind, seed, part)
    found.seconds = time.monotonic() - started
    return found


def claims(kind: str, seed: int, part: int) -> Found:
    from every_claim import changes, laws, made

    found = Found(kind)
    for claim in made(laws() if kind == "laws" else changes(), seed, part, PARTS):
        what = "false" if claim.everywhere else "false at some sizes"
        found.families[claim.family, what] += 1
        found.changes[claim.change, what] += 1
        started = time.monotonic()
        proofs = claim.accepted()
        found.slowest = max(found.slowest, time.monotonic() - started)
        found.accepted += [f"{claim}\n    {proof}" for proof in proofs]
    return found


def twins(part: int) -> Found:
    from by_proof import TWINS, own_store, verdicts

    from pairs.corpus import GROUPS

    found = Found("twins")
    with tempfile.TemporaryDirectory() as folder, own_store(folder) as store:
        for pair, twin in TWINS[part::PARTS]:
            started = time.monotonic()
            honest, alone = verdicts(pair, twin, store)
            found.slowest = max(found.slowest, time.monotonic() - started)
            found.families[f"pairs: {GROUPS[pair.number]}", "false"] += 1
            found.changes[f"a twin: {honest} with values, {alone} by proof alone", "false"] += 1
            if "same" in (honest, alone):
                found.accepted.append(f"{pair.name}, {twin.name}: {honest} with values, {alone} by proof alone")
    return found


def prepare() -> None:
    """Each process has one thread; a warning of torch's about an old spelling in a sample says nothing here."""
    import warnings

    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=int, default=10_000, help="stop when so many are false")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    started = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)      # to be stopped is to say how far it came
    kinds = {kind: Found(kind) for kind in ("changes", "laws", "twins")}
    try:
        go_through(kinds, options.claims, options.jobs)
    except KeyboardInterrupt:
        print("stopped; the tables are of what was done", file=sys.stderr)
    print(tables(kinds, time.monotonic() - started, options.jobs))
    return 1 if any(kind.accepted for kind in kinds.values()) else 0


def go_through(kinds: dict[str, Found], wanted: int, jobs: int) -> None:
    """Fill in what is found: formulas until so many are false, then every twin."""
    started = time.monotonic()
    with get_context("spawn").Pool(jobs, prepare) as pool:
        for number, found in enumerate(pool.imap(done, chain(tasks("laws"), tasks("changes", SEEDS))), 1):
            kinds[found.kind].add(found)
            total = kinds["laws"].false + kinds["changes"].false
            tell(found, number, total, wanted, time.monotonic() - started)
            if total >= wanted:
                pool.terminate()
                break
    started = time.monotonic()
    with get_context("spawn").Pool(jobs, prepare) as pool:
        for number, found in enumerate(pool.imap(done, tasks("twins")), 1):
            kinds["twins"].add(found)
            tell(found, number, number, PARTS, time.monotonic() - started)


def tell(found: Found, number: int, total: int, wanted: int, spent: float) -> None:
    """What was accepted, at once; now and then how far it is."""
    for accepted in found.accepted:
        print(f"ACCEPTED {accepted}", file=sys.stderr, flush=True)
    if number % (PARTS // 4) == 0:
        left = spent / max(total, 1) * max(wanted - total, 0)
        what = "parts of the twins" if found.kind == "twins" else "false claims"
        print(f"{total} of {wanted} {what}, {spent:.0f} s, about {left:.0f} s to go", file=sys.stderr, flush=True)


def tables(kinds: dict[str, Found], seconds: float, jobs: int) -> str:
    from check import machine

    accepted = [text for kind in kinds.values() for text in kind.accepted]
    false, somewhere = (sum(getattr(kind, name) for kind in kinds.values()) for name in ("false", "somewhere"))
    titles = {"changes": "true claims with one change", "laws": "laws that do not hold", "twins": "twins, by `check`"}
    lines = [
        INTRODUCTION,
        f"{machine()}; {jobs} processes, {seconds:.0f} s.\n",
        f"**Accepted: {len(accepted)}** of {false:,} that are false and {somewhere:,} that are false at some sizes.\n",
        "| what | false | false at some sizes | accepted | seconds of one core | slowest, s |",
        "|---|---|---|---|---|---|",
    ]
    for name, title in titles.items():
        kind = kinds[name]
        counts = f"{kind.false:,} | {kind.somewhere:,} | {len(kind.accepted)}"
        lines.append(f"| {title} | {counts} | {kind.seconds:.0f} | {kind.slowest:.1f} |")
    for heading, counters in (("family", [k.families for k in kinds.values()]),
                              ("what was changed", [k.changes for k in kinds.values()])):
        lines += ["", f"| {heading} | false | false at some sizes |", "|---|---|---|"]
        whole = sum(counters, Counter[tuple[str, str]]())
        lines += [f"| {name} | {whole[name, 'false']:,} | {whole[name, 'false at some sizes']:,} |"
                  for name in sorted({name for name, _ in whole})]
    if accepted:
        lines += ["", "## Accepted", "", *(f"    {text}\n" for text in accepted)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
