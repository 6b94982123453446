"""What `samesame refine` costs: Entangle's captured graphs with its published seconds beside ours, and Llama with
Transformers' own tensor-parallel plan, forward and backward, by number of ranks and of layers; and what
`samesame refine hf:DIR --tp N --train` says of tiny models of four families.

    python benchmarks/refine.py                 # cases, growth by ranks and by layers: a few minutes
    python benchmarks/refine.py --models        # only the four families
    python benchmarks/refine.py --large         # and 8 ranks of 16 layers

Prints tables. Wall seconds say what a user waits on this machine, processor seconds what it takes when the machine is
busy with other things; each row runs in a process of its own, its peak memory in it, imports not counted.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check import machine

CASES = Path(__file__).parent.parent.parent / "shared" / "data" / "entangle"
PUBLISHED = {"gpt": 13.6, "qwen2": 6.8, "aws_llama": 10.0}      # seconds on a 16-core EPYC 7302P, by its authors
GROWTH = [(2, 1), (4, 1), (8, 1), (2, 2), (2, 4), (2, 8), (8, 2)]
LARGE = [(8, 16)]
SIZES = dict(
    vocab_size=64, hidden_size=32, intermediate_size=48, num_attention_heads=8, num_key_value_heads=8,
    max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0, use_cache=False,
)


def of_case(path: str) -> Any:
    from samesame.entangle.verb import refine_case

    return lambda: refine_case(path)


def of_llama(ranks: int, layers: int) -> Any:
    import torch
    import transformers
    from transformers.distributed.tensor_parallel import apply_tensor_parallelism

    from samesame.refine import refine

    config = transformers.LlamaConfig(**SIZES, num_hidden_layers=layers)

    def sequential() -> torch.nn.Module:
        model = transformers.LlamaForCausalLM(config).eval()
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(torch.randn(weight.shape) * 0.3 + (1.0 if weight.dim() == 1 else 0.0))
        return model

    def distributed(rank: int, world_size: int, mesh: Any) -> torch.nn.Module:
        return apply_tensor_parallelism(sequential(), mesh)

    inputs = {"input_ids": torch.arange(10).reshape(2, 5) + 3}
    sequential()
    return lambda: refine(sequential, distributed, inputs, world_size=ranks, mesh={"tp": ranks}, backward=True)


FAMILIES = {
    "Llama": ("Llama", {}),
    "Qwen3": ("Qwen3", {}),
    "Mixtral": ("Mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "Qwen3-MoE": ("Qwen3Moe", {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}),
}


def of_family(family: str, ranks: int) -> Any:
    """The command's own way, with a checkpoint of random weights on disk."""
    import torch
    import transformers

    from samesame.refine import of_transformers, refine

    name, more = FAMILIES[family]
    config = getattr(transformers, f"{name}Config")(
        **SIZES, **more, num_hidden_layers=1, head_dim=4, tie_word_embeddings=False
    )
    torch.manual_seed(0)
    folder = tempfile.mkdtemp()
    getattr(transformers, f"{name}ForCausalLM")(config).save_pretrained(folder)
    job = of_transformers(f"hf:{folder}", ranks, 0)
    return lambda: refine(**job, world_size=ranks, backward=True)


def measured(make: Any, arguments: tuple[Any, ...], row: Any) -> None:
    run = make(*arguments)
    wall, own = time.perf_counter(), time.process_time()
    verdict = run()
    wall, own = time.perf_counter() - wall, time.process_time() - own
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    counts = verdict.counts
    found = (verdict.verdict, verdict.evidence, *(counts[name] for name in ("relations", "proofs", "ranks' operators")))
    row.send(" | ".join(map(str, (*found, f"{wall:.1f}", f"{own:.1f}", f"{peak:.1f}"))))


def in_a_process(make: Any, *arguments: Any) -> str:
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=measured, args=(make, arguments, theirs))
    process.start()
    theirs.close()
    try:
        return str(mine.recv())
    except EOFError:
        return "it failed | | | | | | | "
    finally:
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--models", action="store_true")
    options = parser.parse_args()
    print(f"{machine()}\n")
    head = "verdict | evidence | relations | proofs | ranks' operators | wall s | processor s | peak GiB"
    print(f"| model, 1 layer, forward and backward | ranks | {head} |\n|{'---|' * 10}")
    for family in FAMILIES:
        for ranks in (2, 4, 8):
            print(f"| {family} | {ranks} | {in_a_process(of_family, family, ranks)} |", flush=True)
    if options.models:
        return
    print()
    if CASES.is_dir():
        print(f"| case (tp2, 1 layer) | {head} | Entangle s (16 cores) |\n|{'---|' * 10}")
        for name, seconds in PUBLISHED.items():
            print(f"| {name} | {in_a_process(of_case, str(CASES / name / 'relation.json'))} | {seconds} |", flush=True)
    print(f"\n| Llama, forward and backward: ranks | layers | {head} |\n|{'---|' * 10}")
    for ranks, layers in GROWTH + (LARGE if options.large else []):
        print(f"| {ranks} | {layers} | {in_a_process(of_llama, ranks, layers)} |", flush=True)


if __name__ == "__main__":
    main()
