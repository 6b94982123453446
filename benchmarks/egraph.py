"""How fast the e-graph is, beside egglog on the same graphs, rules and rounds.

    python benchmarks/egraph.py [--layers 8 32 128 384 1280] [--repeat 3]

The graph holds transformer layers twice: as a model is published, and as a serving engine writes it (query, key and
value fused, gate and up projection fused, activations and normalisation spelled out). The rules join the two in a few
rounds. In the first table the layers stand on one another, so that the equality of one layer's ends makes the next
layer equal, all the way up; in the second each has an input of its own.

Times are processor seconds, which other work on the machine changes less than it does the clock's; medians over the
repetitions, of the rounds alone: making the graph is not counted for either side. egglog runs in a process of its own
with 8 GiB of memory; `-` where that is not enough. An explanation has every step that the last layer's equality needs.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from egglog_text import load, run

from explanations import replay
from samesame.egraph import Budget, EGraph, Evidence, rules

HEAD, HIDDEN = 64, 172
MEMORY = 8 << 30

RULES = rules(
"""
    slice-of-first      slice(concat(x, y; d, n, m); d, a, b, s)  = slice(x; d, a, b, n)           if b <= n
    slice-of-second     slice(concat(x, y; d, n, m); d, a, b, s)  = slice(y; d, a - n, b - n, m)   if n <= a
    slice-of-slice      slice(slice(x; d, a, b, s); d, e, f, t)   = slice(x; d, a + e, a + f, s)
    slice-of-all        slice(x; d, 0, s, s)                      = x
    concat-of-slices    concat(slice(x; d, a, b, s), slice(x; d, b, e, s); d, n, m)  = slice(x; d, a, e, s)
    linear-of-concat    linear(x, concat(v, w; 0, n, m))          = concat(linear(x, v), linear(x, w); 1, n, m)
    linear-of-scaled    linear(scale(x; c), w)                    = scale(linear(x, w); c)
    linear-scaled       linear(x, scale(w; c))                    = scale(linear(x, w); c)
    matmul-of-concat    matmul(concat(x, y; 0, n, m), w)          = concat(matmul(x, w), matmul(y, w); 0, n, m)
    matmul-concat       matmul(x, concat(v, w; 1, n, m))          = concat(matmul(x, v), matmul(x, w); 1, n, m)
    matmul-scaled       matmul(scale(x; c), y)                    = scale(matmul(x, y); c)
    matmul-transposed   transpose(matmul(x, y); 0, 1)             = matmul(transpose(y; 0, 1), transpose(x; 0, 1))
    transpose-twice     transpose(transpose(x; a, b); a, b)       = x
    transpose-either    transpose(x; a, b)                        = transpose(x; b, a)
    add-either          add(x, y)                                 = add(y, x)
    mul-either          mul(x, y)                                 = mul(y, x)
    add-of-concat       add(concat(x, y; d, n, m), concat(u, v; d, n, m))  = concat(add(x, u), add(y, v); d, n, m)
    mul-of-concat       mul(concat(x, y; d, n, m), concat(u, v; d, n, m))  = concat(mul(x, u), mul(y, v); d, n, m)
    silu-of-concat      silu(concat(x, y; d, n, m))               = concat(silu(x), silu(y); d, n, m)
    silu                silu(x)                                   = mul(x, sigmoid(x))
    rsqrt               rsqrt(x)                                  = reciprocal(sqrt(x))
    square              square(x)                                 = mul(x, x)
    mean                mean(x; n)                                = divide(sum(x); n)
    neg                 neg(x)                                    = scale(x; -1)
    neg-neg             neg(neg(x))                               = x
    sub                 sub(x, y)                                 = add(x, neg(y))
    div                 div(x, y)                                 = mul(x, reciprocal(y))
    scale-scale         scale(scale(x; a); b)                     = scale(x; a * b)
    scale-add           scale(add(x, y); c)                       = add(scale(x; c), scale(y; c))
    scale-one           scale(x; 1)                               = x
""")


def stacks(layers: int, stacked: bool) -> tuple[EGraph, int, int]:
    """Both forms of all layers in one e-graph, and the outputs of the last. `stacked`: a layer takes what the one below
    gives."""
    g = EGraph()

    def apply(operator: str, *arguments: int, attributes: tuple[int, ...] = ()) -> int:
        return g.add(operator, attributes, arguments)

    numbers: dict[str, int] = {}

    def weight(name: str) -> int:
        """One operator for all, with a number: an engine with a table for each operator has thousands otherwise."""
        return apply("weight", attributes=(numbers.setdefault(name, len(numbers)),))

    def fused(name: str, parts: list[int], sizes: list[int]) -> int:
        whole, total = parts[0], sizes[0]
        for part, size in zip(parts[1:], sizes[1:], strict=True):
            whole, total = apply("concat", whole, part, attributes=(0, total, size)), total + size
        given = weight(name)
        g.union(given, whole, Evidence(name))
        return given

    def linear(x: int, name: str) -> int:
        return apply("linear", x, weight(name))

    def cut(x: int, size: int, parts: int) -> list[int]:
        return [apply("slice", x, attributes=(1, n * size, (n + 1) * size, parts * size)) for n in range(parts)]

    def published(x: int, i: int) -> int:
        scale = apply("rsqrt", apply("mean", apply("square", x), attributes=(HEAD,)))
        h = apply("mul", apply("mul", x, scale), weight(f"norm.{i}"))
        q, k, v = (linear(h, f"{name}.{i}") for name in "qkv")
        scores = apply("scale", apply("matmul", q, apply("transpose", k, attributes=(0, 1))), attributes=(8,))
        x = apply("add", x, linear(apply("matmul", apply("softmax", scores), v), f"o.{i}"))
        gate, up = (linear(x, f"{name}.{i}") for name in ("gate", "up"))
        return apply("add", x, linear(apply("mul", apply("silu", gate), up), f"down.{i}"))

    def serving(x: int, i: int) -> int:
        mean = apply("divide", apply("sum", apply("mul", x, x)), attributes=(HEAD,))
        h = apply("mul", weight(f"norm.{i}"), apply("mul", apply("reciprocal", apply("sqrt", mean)), x))
        qkv = apply("linear", h, fused(f"qkv.{i}", [weight(f"{name}.{i}") for name in "qkv"], [HEAD] * 3))
        q, k, v = cut(qkv, HEAD, 3)
        scores = apply("matmul", apply("scale", q, attributes=(8,)), apply("transpose", k, attributes=(1, 0)))
        x = apply("add", linear(apply("matmul", apply("softmax", scores), v), f"o.{i}"), x)
        names = [weight(f"{name}.{i}") for name in ("gate", "up")]
        gate, up = cut(apply("linear", x, fused(f"gate_up.{i}", names, [HIDDEN] * 2)), HIDDEN, 2)
        return apply("add", linear(apply("mul", up, apply("mul", apply("sigmoid", gate), gate)), f"down.{i}"), x)

    left = right = weight("x")
    for i in range(layers):
        if not stacked:
            left = right = weight(f"x.{i}")
        left, right = published(left, i), serving(right, i)
    g.rebuild()
    return g, left, right


def seconds(act: Callable[[], object]) -> float:
    """Processor seconds, those of all threads."""
    gc.collect()
    start = time.process_time()
    act()
    return time.process_time() - start


def ours(layers: int, stacked: bool, rounds: int) -> tuple[float, float, float, int, int]:
    """Seconds to saturate, to explain the outputs' equality and to replay that; nodes at the end; steps."""
    graph, left, right = stacks(layers, stacked)
    saturated = seconds(lambda: graph.saturate(RULES, Budget(iterations=rounds, seconds=600)))
    assert graph.equal(left, right), "the rules do not join the two forms"
    explained = seconds(lambda: graph.explain(left, right))
    explanation = graph.explain(left, right)
    replayed = seconds(lambda: replay(explanation, explanation.terms, RULES, graph.evidence))
    return saturated, explained, replayed, graph.node_count, len(explanation.steps)


def theirs(layers: int, stacked: bool, rounds: int) -> float | None:
    """Seconds that egglog takes for the same; None if memory runs out."""
    with ProcessPoolExecutor(1, get_context("spawn"), limit_memory) as pool:
        try:
            return pool.submit(egglog_rounds, layers, stacked, rounds).result()
        except BrokenProcessPool:
            return None


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def egglog_rounds(layers: int, stacked: bool, rounds: int) -> float:
    graph, left, right = stacks(layers, stacked)
    engine = load(graph, RULES)
    taken = seconds(lambda: run(engine, f"(run {rounds})"))
    run(engine, f"(check (= (At {left}) (At {right})))")
    return taken


def measure(layers: int, stacked: bool, rounds: int, repeat: int) -> str:
    """One line of the table."""
    mine, other = [], []
    for _ in range(repeat):
        mine.append(ours(layers, stacked, rounds))
        other.append(theirs(layers, stacked, rounds))
    saturated, explained, replayed, nodes, steps = map(statistics.median, zip(*mine, strict=True))
    beside = "        - |     -"
    if None not in other:
        median = statistics.median(t for t in other if t is not None)
        beside = f"{median:7.3f} s | {saturated / median:5.2f}"
    times = f"{explained:5.3f} s | {replayed:5.3f} s"
    return f"| {layers:6} | {nodes:7,.0f} | {saturated:6.3f} s | {beside} | {steps:6,.0f} | {times} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, nargs="+", default=[8, 32, 128, 384, 1280])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    machine = platform.processor() or platform.machine()
    print(f"{machine}, {os.cpu_count()} cores, {platform.system()} {platform.release()}")
    print(f"Python {platform.python_version()}, egglog {version('egglog')}")
    print(f"{len(RULES)} rules, {options.rounds} rounds, processor seconds, medians of {options.repeat}")
    for stacked in (True, False):
        print(f"\n{'Layers on one another' if stacked else 'Layers apart'}\n")
        print("| layers | e-nodes |     ours |    egglog | ours / egglog |  steps | explain |  replay |")
        print("|-------:|--------:|---------:|----------:|--------------:|-------:|--------:|--------:|")
        for layers in options.layers:
            print(measure(layers, stacked, options.rounds, options.repeat), flush=True)


if __name__ == "__main__":
    main()
