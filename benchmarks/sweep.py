"""What a sweep over whole architectures takes and finds: Transformers against vLLM, one config field changed at a time.
Prints a table of probes by outcome with the seconds of the clock, then each difference. Takes 15 minutes on two cores.

    python benchmarks/sweep.py [--jobs N] [--scripts DIR] [--record DIR] [MODEL_TYPE…]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from samesame.sweep.outcome import Sweep
from samesame.sweep.script import write_scripts
from samesame.sweep.verb import sweep

KINDS = ("llama", "qwen3", "gemma2")
HEADS = {"num_attention_heads": 32, "num_key_value_heads": 8}
# Fields that a checkpoint of the architecture sets, where the class's defaults would hide others.
GRANITE = {"embedding_multiplier": 12.0, "logits_scaling": 8.0, "residual_multiplier": 0.22,
           "attention_multiplier": 0.3}
FIELDS = {"granite": HEADS | GRANITE, "mixtral": HEADS | {"head_dim": 128}, "gpt2": {}, "opt": {}}
COLUMNS = ("different", "same", "same, moving nothing", "refused", "unsupported", "undecided", "not reached")


def swept(kind: str, jobs: int, record: Path | None, scripts: Path | None) -> Sweep:
    with TemporaryDirectory() as folder:
        place = record or Path(folder)
        config = place / f"{kind}.json"
        config.write_text(json.dumps({"model_type": kind, **FIELDS.get(kind, HEADS)}))
        resume = None if record is None else record / f"{kind}.jsonl"
        found = sweep(f"hf:{config}", f"vllm:{config}", jobs=jobs, resume=resume, store="-")
    if scripts is not None:
        write_scripts(found.outcomes, scripts, found.attention)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="MODEL_TYPE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--scripts", type=Path, help="write a script for each difference here")
    parser.add_argument("--record", type=Path, help="keep what is done here, and go on from it")
    given = parser.parse_args()
    for folder in (given.scripts, given.record):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    print(f"| model | probes | {' | '.join(COLUMNS)} | seconds |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    found = []
    for kind in given.kinds:
        found.append(swept(kind, given.jobs, given.record, given.scripts))
        counts = found[-1].counts
        numbers = " | ".join(str(counts[name]) for name in COLUMNS)
        print(f"| {kind} | {len(found[-1].plan.probes)} | {numbers} | {found[-1].seconds:.0f} |", flush=True)
    for one in found:
        for outcome in one.outcomes:
            if outcome.outcome == "different":
                error = "not numbers" if outcome.max_error is None else f"{outcome.max_error:.3g}"
                ignored = {"left": "Transformers ignores it", "right": "vLLM ignores it"}.get(outcome.ignored_by, "")
                print(f"\n{one.kind}: {outcome.probe.spoken} ({outcome.probe.companions}): {error} {ignored}")
                for name in ("left", "right"):
                    place = getattr(outcome, name)
                    print(f"  {name:5} {f'{place.line}  {place.code}' if place else ''}")


if __name__ == "__main__":
    main()
