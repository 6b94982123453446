"""What more processes and more machines save: a sweep of six configs and a suite of 100 pairs, with one job, with two,
and on a Ray cluster of two nodes with a processor each, which are started on this machine.

The ways are run one after another, several rounds of them, each in a process of its own; the table has medians of
seconds on the clock, of seconds of all processors (of every process that comes of it, Ray's own included), and of how
many times as fast as one job the same round was. A suite is asked cold, with an empty store, and once more.

    python benchmarks/machines.py sweep | suite [--rounds N] [--pairs N] [--kinds N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check import machine

from suite import written

HEADS = {"num_attention_heads": 32, "num_key_value_heads": 8}
KINDS = {"llama": HEADS, "qwen3": HEADS, "gemma2": HEADS, "mistral": HEADS, "granite": HEADS, "qwen2": HEADS}
FIELDS = ("rms_norm_eps", "rope_parameters.rope_theta", "num_key_value_heads", "tie_word_embeddings", "use_cache",
          "attention_dropout")
WAYS = ("1 job", "2 jobs", "Ray, 2 nodes")
MARK = "SAMESAME_BENCHMARK"
TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("sweep", "suite"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--kinds", type=int, default=len(KINDS))
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.what, given.one, given)))
        return
    print(machine(), f"load {os.getloadavg()[0]:.1f}", flush=True)
    rounds: list[dict[str, dict[str, Any]]] = []
    for number in range(given.rounds):
        rounds.append({})
        for way in WAYS:
            rounds[-1][way] = measured([*sys.argv, "--one", way], f"{os.getpid()}-{number}-{way}")
            print(f"round {number + 1}, {way}: {rounds[-1][way]}, load {os.getloadavg()[0]:.1f}", flush=True)
    phases = [key for key in rounds[0][WAYS[0]]["clock"]]
    print(f"\n| {given.what} | way | clock s | processors s | times as fast as one job |\n|---|---|---|---|---|")
    for phase in phases:
        for way in WAYS:
            clock = [found[way]["clock"][phase] for found in rounds]
            ratio = [found[WAYS[0]]["clock"][phase] / found[way]["clock"][phase] for found in rounds]
            processors = f"{median(found[way]['processors'] for found in rounds):.0f}" if phase == phases[0] else ""
            print(f"| {phase} | {way} | {median(clock):.1f} | {processors} | {median(ratio):.2f} |")


@dataclass
class Seen:
    """A process as it was last seen: who began it, its own seconds, and those of its children that have ended."""

    parent: int
    own: float
    ended: float


def measured(command: list[str], mark: str) -> dict[str, Any]:
    """What one way says of itself, and the seconds of processors of all that came of it."""
    seen: dict[int, Seen] = {}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.5):
            for folder in Path("/proc").iterdir():
                if folder.name.isdigit() and marked(folder, mark) and (found := used(folder)):
                    seen[int(folder.name)] = found

    looking = threading.Thread(target=look)
    looking.start()
    ran = subprocess.run([sys.executable, *command], env={**os.environ, MARK: mark}, stdout=subprocess.PIPE, text=True)
    over.set()
    looking.join()
    return {**json.loads(ran.stdout.splitlines()[-1]), "processors": round(total(seen), 1)}


def total(seen: dict[int, Seen]) -> float:
    """Of every process its own, and what its children used that were never seen."""
    known = Counter[int]()
    for found in seen.values():
        known[found.parent] += found.own + found.ended          # more than the ended ones, where some live on
    return sum(found.own + max(0.0, found.ended - known[pid]) for pid, found in seen.items())


def marked(folder: Path, mark: str) -> bool:
    try:
        return f"{MARK}={mark}\0".encode() in (folder / "environ").read_bytes()
    except OSError:
        return False


def used(folder: Path) -> Seen | None:
    try:
        fields = [*map(int, (folder / "stat").read_text().rpartition(")")[2].split()[1:])]
    except OSError:
        return None
    return Seen(fields[0], sum(fields[10:12]) / TICK, sum(fields[12:14]) / TICK)


@contextmanager
def cluster(way: str) -> Iterator[dict[str, Any]]:
    """How a verb is told of a way."""
    if not way.startswith("Ray"):
        yield {"jobs": int(way.partition(" ")[0])}
        return
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    try:
        yield {"jobs": 2, "ray": nodes.address}
    finally:
        nodes.shutdown()


def one(what: str, way: str, given: argparse.Namespace) -> dict[str, Any]:
    with TemporaryDirectory() as folder, cluster(way) as told:
        return sweeps(Path(folder), told, given.kinds) if what == "sweep" else suites(Path(folder), told, given.pairs)


def sweeps(folder: Path, told: dict[str, Any], kinds: int) -> dict[str, Any]:
    from samesame.sweep.verb import plan_of, sweep

    began, probes, counts = time.monotonic(), 0, []
    for kind, fields in list(KINDS.items())[:kinds]:
        config = folder / f"{kind}.json"
        config.write_text(json.dumps({"model_type": kind, **fields}))
        sides = f"hf:{config}", f"vllm:{config}"
        known = plan_of(*sides).names
        found = sweep(*sides, only=[name for name in FIELDS if name in known], **told)
        probes += len(found.outcomes)
        counts.append({name: number for name, number in found.counts.items() if number})
    return {"clock": {f"{probes} probes of {kinds} configs": time.monotonic() - began}, "counts": counts}


def suites(folder: Path, told: dict[str, Any], pairs: int) -> dict[str, Any]:
    from samesame.store import Store
    from samesame.suite.verb import suite
    from samesame.versions import versions

    written(folder, pairs)
    time.sleep(1)
    prover, semantics = versions()
    clock, counts = {}, []
    for phase in ("cold", "warm"):
        began = time.monotonic()
        with Store.open(folder / "rules.db", prover=prover, semantics=semantics) as store:
            found = suite(folder / "suite.toml", store=store, **told)
        clock[phase] = time.monotonic() - began
        counts.append({**found.counts, "unchanged": sum(row.unchanged for row in found.rows)})
    return {"clock": clock, "counts": counts}


if __name__ == "__main__":
    main()
