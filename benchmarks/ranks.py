"""What capturing the ranks of a distributed program costs: Llama with Transformers' own tensor-parallel plan, forward
and backward, by number of ranks and of layers. Prints a table of seconds of one core; takes a
minute or two.

    python benchmarks/ranks.py
"""

from __future__ import annotations

import resource
import time
from itertools import pairwise

import torch
import transformers
from transformers.distributed.tensor_parallel import apply_tensor_parallelism

from samesame.capture.ranks.record import capture_ranks
from samesame.capture.ranks.world import lockstep
from samesame.operators.execute import execute

SIZES = dict(
    vocab_size=64, hidden_size=32, intermediate_size=48, num_attention_heads=8, num_key_value_heads=8,
    max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0, use_cache=False,
)
CASES = [(2, 2), (4, 2), (8, 2), (2, 8), (2, 16), (8, 8), (8, 16)]


def measured(ranks: int, layers: int) -> tuple[float, float, float, int, int]:
    """Seconds of one core to capture all ranks, to make the world graph, and to run it; nodes of a rank, and of the
    world."""

    def program(rank: int, world_size: int, mesh: object) -> torch.nn.Module:
        config = transformers.LlamaConfig(**SIZES, num_hidden_layers=layers)
        return apply_tensor_parallelism(transformers.LlamaForCausalLM(config).eval(), mesh)

    inputs = {"input_ids": torch.arange(10).reshape(2, 5) + 3}
    times = [time.process_time()]
    graphs = capture_ranks(program, inputs, ranks, mesh={"tp": ranks}, backward=True)
    times.append(time.process_time())
    world = lockstep(graphs).graph
    times.append(time.process_time())
    execute(world, world.tensors)
    times.append(time.process_time())
    capture, meet, run = (b - a for a, b in pairwise(times))
    return capture, meet, run, len(graphs[0].nodes), len(world.nodes)


def main() -> None:
    measured(1, 1)                                         # imports and caches
    print("ranks  layers  capture s  world s  execute s  nodes of a rank  nodes of the world  peak MB")
    for ranks, layers in CASES:
        capture, meet, run, own, all_ = measured(ranks, layers)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{ranks:5}  {layers:6}  {capture:9.1f}  {meet:7.2f}  {run:9.2f}  {own:15}  {all_:18}  {peak:7}")


if __name__ == "__main__":
    main()
