"""What learnt rules save: one family of models after another with a store that fills as it goes.

    python benchmarks/rules.py [--models qwen2 gemma2 …]

Every row is one `check` in this process: with an empty store, again with the same models, then with other numbers of
layers and, for the Llamas, other sizes. The two figures that matter are the seconds spent proving and the number of
new proofs. No two sizes of the Llamas are equal by chance, as a batch of 2 and 2 key heads are: a rule learnt there
would take them for one size.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "examples")]

Example = tuple[Any, Any, Any]      # left, right, inputs


def llama(layers: int, **sizes: int) -> Any:
    import torch
    import transformers

    from models import TOKENS, randomise

    shape = dict(hidden_size=30, intermediate_size=44, num_attention_heads=6, num_key_value_heads=2, head_dim=10)

    def made(attention: str) -> Any:
        torch.manual_seed(0)
        config = transformers.LlamaConfig(    # a new one each time: a model writes its way of attention into it
            **TOKENS, **(shape | sizes), num_hidden_layers=layers, max_position_embeddings=64,
            tie_word_embeddings=False, use_cache=False,
        )
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention).float().eval()
        randomise(model, 0)
        return model

    return made


def tokens(batch: int, length: int) -> dict[str, Any]:
    import torch

    return {"input_ids": torch.randint(3, 53, (batch, length), generator=torch.Generator().manual_seed(1))}


def attention(layers: int, inputs: tuple[int, int], **sizes: int) -> Example:
    made = llama(layers, **sizes)
    return made("eager"), made("sdpa"), tokens(*inputs)


def fused(layers: int, inputs: tuple[int, int], **sizes: int) -> Example:
    from fused_llama import FusedLlama

    model = llama(layers, **sizes)("eager")
    return model, FusedLlama.from_transformers(model), tokens(*inputs)


def implementations(name: str, layers: int) -> Example:
    """A model of tests/models.py, eager and sdpa."""
    from models import build

    (eager, inputs), (sdpa, _) = (build(name, attention=way, layers=layers) for way in ("eager", "sdpa"))
    return eager, sdpa, inputs


LARGER = dict(hidden_size=56, intermediate_size=62, num_attention_heads=8, num_key_value_heads=4, head_dim=12)
LLAMAS: dict[str, Callable[..., Example]] = {"eager and sdpa": attention, "Transformers and fused": fused}
MODELS = ["qwen2", "gemma2", "gpt2", "opt", "bert", "vit"]


def runs_of(family: str) -> dict[str, Example]:
    """Titles and programs, in the order in which they are checked."""
    if family not in LLAMAS:
        layers = {"2 layers, empty store": 2, "the same again": 2, "4 layers": 4}
        return {title: implementations(family, number) for title, number in layers.items()}
    make = LLAMAS[family]
    return {
        "2 layers, empty store": make(2, (4, 9)),
        "the same again": make(2, (4, 9)),
        "6 layers": make(6, (4, 9)),
        "4 layers, other sizes": make(4, (3, 11), **LARGER),
    }


def main() -> None:
    from check import machine

    from samesame import check
    from samesame.store import Store
    from samesame.versions import versions

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=MODELS, help="models of tests/models.py")
    options = parser.parse_args()
    print(f"{machine()}\n")
    print("| programs | run | verdict | new proofs | tried in vain | by rule | proving, s | whole, s | first / this |")
    print("|---|---|---|---|---|---|---|---|---|")
    prover, semantics = versions()
    check(*attention(1, (2, 5)))      # the first run pays for lazy imports
    for family in [*LLAMAS, *options.models]:
        with tempfile.TemporaryDirectory() as folder:
            first = 0.0
            for title, (left, right, inputs) in runs_of(family).items():
                with Store.open(Path(folder, "rules.db"), prover=prover, semantics=semantics) as store:
                    verdict = check(left, right, inputs, store=store)
                proving = verdict.timing["proofs"]
                first = first or proving
                proofs, tried = verdict.counts["proofs"], verdict.counts["attempts"]
                counts = f"{proofs} | {max(0, tried - proofs)} | {verdict.counts['by rule']}"
                spent = f"{proving:.2f} | {sum(verdict.timing.get(s, 0) for s in STAGES):.2f}"
                answer = f"{verdict.verdict}, {verdict.evidence}"
                ratio = f"{first / max(proving, 1e-9):.1f}"
                print(f"| {family} | {title} | {answer} | {counts} | {spent} | {ratio} |", flush=True)


STAGES = ("capture", "execute", "prove", "diagnose", "numeric")

if __name__ == "__main__":
    main()
