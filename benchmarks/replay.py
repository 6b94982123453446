"""What `replay` costs beside the proving that it checks.

    python benchmarks/replay.py [PART OF A NAME]

Both are of one process and one run: what `check(..., certify=True)` spends on proofs, those at the sizes of the example
and those over size symbols, and `replay` on the certificate, its solver process included. Seconds are the processor's,
of all threads and child processes, so that other work on the machine does not count; replay's wall-clock seconds stand
beside them. Medians of RUNS runs; the certificate is written and read as JSON, outside the time. "By solver" are the
proofs that a fresh solver process settles from their formulas alone.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "examples")]
RUNS = 3
PAIRS = ("rope on flat tokens", "attention with a boolean mask", "group norm by reshape", "key blocks merged online",
         "experts by one-hot and gathered")
Programs = Callable[[], tuple[Any, Any, Any]]


def programs() -> Iterator[tuple[str, Programs]]:
    """Pairs of programs by name."""
    from pairs.corpus import PAIRS as corpus
    from samesame.capture import load_inputs, load_target

    for file in sorted((ROOT / "examples" / "pairs").glob("*.py")):
        yield f"examples/pairs/{file.name}", lambda file=file: (      # type: ignore[misc]
            load_target(f"{file}:left"), load_target(f"{file}:right"), load_inputs(f"{file}:inputs"))
    for pair in corpus:
        if pair.name in PAIRS:
            yield pair.name, lambda pair=pair: (pair.left, pair.right, pair.inputs)    # type: ignore[misc]
    for layers in (2, 8, 16):
        yield f"FusedLlama, {layers} layers", lambda layers=layers: fused(layers)      # type: ignore[misc]
    yield "llama, eager and sdpa", eager_and_sdpa


def fused(layers: int) -> tuple[Any, Any, Any]:
    from fused_llama import FusedLlama

    from models import build

    model, inputs = build("llama", "eager", layers=layers)
    return model, FusedLlama.from_transformers(model), inputs


def eager_and_sdpa() -> tuple[Any, Any, Any]:
    from models import build

    model, inputs = build("llama", "eager")
    return model, build("llama", "sdpa")[0], inputs


def processor() -> float:
    """Processor seconds of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def row(name: str, sides: tuple[Any, Any, Any]) -> tuple[float, float]:
    from samesame import check
    from samesame.certificate.replay import replay
    from samesame.relate import prove

    prove.time = SimpleNamespace(monotonic=time.process_time, thread_time=time.thread_time)  # type: ignore[attr-defined]
    proving, replaying, waiting = [], [], []
    for _ in range(RUNS):
        verdict = check(*sides, certify=True)
        if verdict.certificate is None:
            print(f"| {name} | {verdict.verdict} | | | | | | | | |")
            return 0.0, 0.0
        text = json.dumps(verdict.certificate)
        form = json.loads(text)
        started, spent = time.perf_counter(), processor()
        replay(form)
        replaying.append(processor() - spent)
        waiting.append(time.perf_counter() - started)
        proving.append(verdict.timing["proofs"])
    whole, part, wall = map(statistics.median, (proving, replaying, waiting))
    settled = sum(bool(proof["settled"]) for proof in form["proofs"].values())
    print(f"| {name} | {verdict.evidence} | {len(form['steps'])} | {len(form['proofs'])} | {settled} "
          f"| {len(text) / 1e6:.2f} | {whole:.2f} | {part:.2f} | {part / whole:.2f} | {wall:.2f} |", flush=True)
    return whole, part


if __name__ == "__main__":
    import torch

    torch.manual_seed(0)
    print("| programs | evidence | steps | proofs | by solver | MB | proving s | replay s | ratio | replay wall s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    times = [row(name, make()) for name, make in programs() if not sys.argv[1:] or sys.argv[1] in name]
    print(f"\nAll together: {sum(part for _, part in times) / sum(whole for whole, _ in times):.2f}")
