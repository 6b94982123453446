"""What `check` costs: every pair of the corpus, the demo's model, and growth with the number of layers.

    python benchmarks/check.py            # all tables, a few minutes
    python benchmarks/check.py pairs      # one of: pairs, demo, layers

Times are wall-clock seconds inside one process after imports. Medians of RUNS runs where a row is short; ratios are
between rows of one run. Memory is the peak of a process of its own, above the peak of one that only builds the
models.
"""

from __future__ import annotations

import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "examples")]
RUNS = 3


def machine() -> str:
    from importlib import metadata

    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "transformers", "z3-solver"))
    model = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.machine()
    )
    return f"{model}, Python {platform.python_version()}, {versions}"


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def pairs() -> None:
    """One row a group: pairs, how many proved, seconds; then the twins."""
    from pairs.corpus import GROUPS, PAIRS
    from samesame import check

    check(PAIRS[0].left, PAIRS[0].right, PAIRS[0].inputs)  # the first run pays for lazy imports
    seconds: dict[str, float] = {}
    verdicts: dict[str, str] = {}
    for pair in PAIRS:
        times = []
        for _ in range(RUNS):
            started = time.perf_counter()
            verdicts[pair.name] = check(pair.left, pair.right, pair.inputs).verdict
            times.append(time.perf_counter() - started)
        seconds[pair.name] = statistics.median(times)
    print("| group | pairs | same | undecided | different | median s | worst s | twins | told apart |")
    print("|---|---|---|---|---|---|---|---|---|")
    apart = total = 0
    for number, title in GROUPS.items():
        group = [pair for pair in PAIRS if pair.number == number]
        twins = [check(pair.left, twin.right, pair.inputs).verdict for pair in group for twin in pair.twins]
        apart, total = apart + twins.count("different"), total + len(twins)
        counts = [[verdicts[pair.name] for pair in group].count(v) for v in ("same", "undecided", "different")]
        times = [seconds[pair.name] for pair in group]
        print(
            f"| {number} {title} | {len(group)} | {counts[0]} | {counts[1]} | {counts[2]} "
            f"| {statistics.median(times):.2f} | {max(times):.2f} | {len(twins)} | {twins.count('different')} |"
        )
    every = list(seconds.values())
    same = list(verdicts.values()).count("same")
    print(
        f"\n{same} of {len(PAIRS)} pairs same, {apart} of {total} twins different; "
        f"median {statistics.median(every):.2f} s, worst {max(every):.2f} s ({max(seconds, key=seconds.__getitem__)})"
    )


def demo() -> None:
    """The demo's model and the planted error: whole seconds and the part spent on proofs."""
    import torch
    from demo import tiny_llama
    from fused_llama import FusedLlama

    from samesame import check

    torch.manual_seed(0)
    model = tiny_llama()
    inputs = {"input_ids": torch.randint(0, model.config.vocab_size, (2, 9))}
    fused, wrong = FusedLlama.from_transformers(model), FusedLlama.from_transformers(model)
    wrong.layers[1].eps = 1e-5
    print("| run | verdict | seconds | capture | execute | prove | diagnose | numeric |")
    print("|---|---|---|---|---|---|---|---|")
    for title, right in (("right", fused), ("planted error", wrong)):
        started = time.perf_counter()
        verdict = check(model, right, inputs)
        spent = time.perf_counter() - started
        stages = " | ".join(
            f"{verdict.timing.get(s, 0):.2f}" for s in ("capture", "execute", "prove", "diagnose", "numeric")
        )
        print(f"| {title} | {verdict.verdict} | {spent:.2f} | {stages} |")


LAYERS = (2, 8, 32)


def layers() -> None:
    """Growth with depth: each row in a process of its own, so that memory is its own."""
    print("| layers | verdict | seconds | prove | proofs | by rule | relations | MB above the models |")
    print("|---|---|---|---|---|---|---|---|")
    seconds = {}
    for count in LAYERS:
        bare = _child("models", count)
        row = _child("check", count)
        seconds[count] = float(row[1])
        print(
            f"| {count} | {' | '.join(row[:6])} | {(int(row[6]) - int(bare[0])) // 1024} |"
        )
    print(f"\n32 layers take {seconds[32] / seconds[8]:.1f} × the time of 8")


def _child(what: str, count: int) -> list[str]:
    out = subprocess.run([sys.executable, __file__, f"_{what}", str(count)], check=True, capture_output=True, text=True)
    return out.stdout.strip().splitlines()[-1].split("\t")


def _layered(what: str, count: int) -> None:
    import torch
    from fused_llama import FusedLlama

    from models import build

    model, inputs = build("llama", "eager", layers=count)
    fused = FusedLlama.from_transformers(model)
    if what == "_models":
        with torch.no_grad():
            model(**inputs), fused(**inputs)
        print(_peak())
        return
    from samesame import check

    started = time.perf_counter()
    verdict = check(model, fused, inputs)
    spent = time.perf_counter() - started
    counts = verdict.counts
    print(
        verdict.verdict,
        f"{spent:.2f}",
        f"{verdict.timing['prove']:.2f}",
        counts["proofs"],
        counts["by rule"],
        counts["relations"],
        _peak(),
        sep="\t",
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


TABLES = {"pairs": pairs, "demo": demo, "layers": layers}

if __name__ == "__main__":
    chosen = sys.argv[1:]
    if chosen and chosen[0].startswith("_"):
        _layered(chosen[0], int(chosen[1]))
    else:
        print(machine() + "\n")
        for name in chosen or TABLES:
            print(f"## {name}\n")
            TABLES[name]()
            print()
