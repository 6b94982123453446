"""Which true claims are proved: for all sizes, at these sizes, or not; by theme, with the time it takes.

    python benchmarks/claims.py            # a few minutes

The claims of tests/formula/all_claims.py are given to the prover twice, over size symbols and in numbers. The pairs of
programs in tests/pairs go through the whole of `check`, which captures, runs and proves them.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "formula")]

Row = tuple[bool, bool, float]      # proved for all sizes, proved at these sizes, seconds


def formulas() -> dict[str, dict[str, Row]]:
    from all_claims import ALL

    from samesame.formula.equal import Proved

    found: dict[str, dict[str, Row]] = defaultdict(dict)
    for claim in ALL:
        started = time.perf_counter()
        general, _ = claim.proofs(True)
        seconds = time.perf_counter() - started
        here, _ = claim.proofs(False)
        found[claim.theme][claim.name] = isinstance(general, Proved), isinstance(here, Proved), seconds
    return found


def pairs() -> dict[str, Row]:
    from pairs.corpus import PAIRS
    from samesame import check
    from samesame.evidence import Rung

    check(PAIRS[0].left, PAIRS[0].right, PAIRS[0].inputs)      # the first run pays for lazy imports
    found = {}
    for pair in PAIRS:
        started = time.perf_counter()
        verdict = check(pair.left, pair.right, pair.inputs)
        rung = verdict.evidence if verdict.verdict == "same" else Rung.UNDECIDED
        found[pair.name] = rung >= Rung.PROVED, rung >= Rung.PROVED_HERE, time.perf_counter() - started
    return found


def main() -> None:
    from check import machine

    themes = {**formulas(), "pairs of programs, by `check`": pairs()}
    print(f"{machine()}\n")
    print("| theme | claims | for all sizes | at these sizes | not | median s | worst s |")
    print("|---|---|---|---|---|---|---|")
    for theme, rows in themes.items():
        line(theme, list(rows.values()))
    line("**all**", [row for rows in themes.values() for row in rows.values()])
    for what, place in (("for all sizes", 0), ("at these sizes", 1)):
        left = [name for rows in themes.values() for name, row in rows.items() if not row[place]]
        print(f"\nNot proved {what}: {'; '.join(left) or 'none'}.")


def line(theme: str, rows: list[Row]) -> None:
    general, here, not_ = sum(r[0] for r in rows), sum(r[1] for r in rows), sum(not (r[0] or r[1]) for r in rows)
    seconds = [r[2] for r in rows]
    shares = f"{general} ({general / len(rows):.1%}) | {here} ({here / len(rows):.1%}) | {not_}"
    print(f"| {theme} | {len(rows)} | {shares} | {statistics.median(seconds):.3f} | {max(seconds):.2f} |")


if __name__ == "__main__":
    main()
