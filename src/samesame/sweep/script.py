"""A difference as code one can paste: a script that shows it with the two libraries alone.

It builds the model of the probe's config with random weights, saves it, and prints the logits that Transformers and
vLLM's own engine give after one prompt and one token later. Nothing of samesame is in it, neither weights nor capture.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from samesame.sweep.outcome import Outcome
from samesame.sweep.probe import brief

TEMPLATE = '''\
"""{title}"""
import os, tempfile, torch
os.environ |= {{"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}}
from transformers import AutoConfig, AutoModelForCausalLM
from vllm import LLM, SamplingParams
config = AutoConfig.for_model(**{config})
torch.manual_seed(0)
model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="{attention}").eval()
with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
    for p in model.parameters():                        # biases and norms too: zeros and ones would hide them
        p.copy_(torch.randn_like(p) * p.shape[-1] ** -0.5 if p.dim() > 1 else p + 0.2 * torch.randn_like(p))
    tokens = torch.randint(3, config.vocab_size, ({tokens},)).tolist()
    model.save_pretrained(folder)
    llm = LLM(folder, enforce_eager=True, skip_tokenizer_init=True, dtype="float32", max_logprobs=-1,
              logprobs_mode="raw_logits")
    settings = SamplingParams(max_tokens=2, logprobs=-1, temperature=0, ignore_eos=True, detokenize=False)
    [out] = llm.generate([{{"prompt_token_ids": tokens}}], settings)[0].outputs
    prompt = model(torch.tensor([tokens]), use_cache=True)
    then = model(torch.tensor([out.token_ids[:1]]), past_key_values=prompt.past_key_values)
left = torch.stack([prompt.logits[0, -1], then.logits[0, -1]])         # after the prompt, and one token later
right = torch.tensor([[step[i].logprob for i in range(config.vocab_size)] for step in out.logprobs])
for when, a, b in zip(("after the prompt", "one token later"), left, right):
    print(when, "Transformers", a[:4], "vLLM", b[:4], "largest difference", (a - b).abs().max().item())
'''
WIDTH = 118
KEPT = "\xa0"                               # a space at which no line is broken


def script(outcome: Outcome, attention: str = "eager") -> str:
    """The script of a `different` outcome: at most 30 lines of at most 120 characters."""
    kind = outcome.config["model_type"]
    return TEMPLATE.format(
        title=f"{kind} with {_short(outcome)}: Transformers and vLLM differ.",
        config=written(outcome.config),
        attention=attention,
        tokens=outcome.tokens,
    )


def _short(outcome: Outcome) -> str:
    return textwrap.shorten(outcome.probe.spoken.replace('"', "'").replace("\\", ""), 80)


def written(config: Mapping[str, Any]) -> str:
    """The config as a Python dict, a few fields on a line, with what follows from the others left out."""
    names = ["model_type", *(name for name in config if name != "model_type" and not _implied(name))]
    text = ", ".join(f"{json.dumps(name)}: {config[name]!r}".replace("'", '"') for name in names)
    whole = text.replace('": ', f'":{KEPT}')                # a value begins on the line of its name
    lines = textwrap.wrap(whole, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "{\n" + "\n".join(lines).replace(KEPT, " ") + "}"


def _implied(name: str) -> bool:
    """Fields that say nothing of the logits of the script."""
    return name in ("use_cache", "initializer_range", "bos_token_id", "eos_token_id", "pad_token_id")


def file_name(outcome: Outcome) -> str:
    """A name for the script's file: `qwen3_attention_bias_true.py`."""
    field = outcome.probe.field.replace("rope_parameters.", "")
    text = f"{outcome.config['model_type']}_{field}_{brief(outcome.probe.value)}"
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:80] + ".py"


def write_scripts(outcomes: Iterable[Outcome], folder: Path, attention: str) -> dict[str, Path]:
    """A script for each difference, by the key of its probe; none where `attention` is empty, since a script runs the
    two libraries without options."""
    if not attention:
        return {}
    found: dict[str, Path] = {}
    for outcome in outcomes:
        if outcome.outcome == "different" and outcome.config:
            name, number = file_name(outcome), 2
            while folder / name in found.values():
                name, number = f"{file_name(outcome)[:-3]}_{number}.py", number + 1
            (folder / name).write_text(script(outcome, attention))
            found[outcome.probe.key] = folder / name
    return found
