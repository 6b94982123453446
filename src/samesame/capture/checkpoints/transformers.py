"""Transformers models as programs. Of a causal language model: `input_ids` in, logits out, for a prompt and then one
more token from the cache. Of any other: what its forward takes in, all that it returns out, of one call.

The prompt is all tokens but the last. The last is decoded in a second step with the cache that the first one filled,
as a server does, so that the two roots, `prefill_logits` and `decode_logits`, are what a server computes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from samesame.capture.checkpoints.arguments import arguments
from samesame.capture.checkpoints.classes import built_for
from samesame.capture.checkpoints.folders import Checkpoint, config_of, example, offline, one_line, transformers
from samesame.evidence import Refused

SHOWN = 3                                   # weights of another shape that are named


class ModelProgram(nn.Module):
    """A model of Transformers over the arguments of its forward: what one call without a cache returns. `built` says
    which class was built, and why."""

    def __init__(self, model: Any, checkpoint: Checkpoint | None = None, built: str = "") -> None:
        super().__init__()
        self.model: Any = model
        self.checkpoint = checkpoint
        self.built = built
        self.training = model.training

    @property
    def example(self) -> dict[str, torch.Tensor]:
        return arguments(self.model, self.checkpoint.text if self.checkpoint else "the model")

    def forward(self, *args: Any, **inputs: Any) -> Any:
        return self.once(*args, **inputs)

    def once(self, *args: Any, **inputs: Any) -> Any:
        """One call, without a cache where the model has one."""
        if "use_cache" in inspect.signature(self.model.forward).parameters:
            inputs = {"use_cache": False, **inputs}
        return self.model(*args, **inputs)


class TransformersProgram(ModelProgram):
    """A causal language model of Transformers over `input_ids` [B, T]: `prefill_logits` [B, T − 1, V] and
    `decode_logits` [B, 1, V]; with a T of one, of the prompt alone. One without such a cache: `logits` [B, T, V]."""

    @property
    def example(self) -> dict[str, torch.Tensor]:
        return example(self.model.config.get_text_config().vocab_size)

    def forward(self, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        if input_ids.shape[1] < 2:
            return {"prefill_logits": self.model(input_ids=input_ids, use_cache=False).logits}
        prompt = self.model(input_ids=input_ids[:, :-1], use_cache=True)
        if getattr(prompt, "past_key_values", None) is None:
            return {"logits": self.once(input_ids=input_ids).logits}
        last = self.model(input_ids=input_ids[:, -1:], past_key_values=prompt.past_key_values, use_cache=True)
        return {"prefill_logits": prompt.logits, "decode_logits": last.logits}


def load_hf(checkpoint: Checkpoint) -> ModelProgram:
    """The program of `hf:DIR?attn=…&dtype=…&experts=…&field=value`.

    `attn` is a name that Transformers has for an attention, or eager; its own choice unless given. `experts` is its way
    to run experts; batched_mm unless given, in which no shape depends on the routing. Raises Refused in one sentence
    where Transformers refuses the model, or where weights are of other shapes than the config makes them.
    """
    package = transformers()
    config = config_of(checkpoint.path, checkpoint.overrides, checkpoint.text)
    if checkpoint.path.is_file():
        raise Refused(f"{checkpoint.text} is a config without weights; give a folder with both, or add --tiny")
    settings: dict[str, Any] = {}
    if "attn" in checkpoint.options:
        settings["attn_implementation"] = checkpoint.options["attn"]
    if any(getattr(config, name, None) for name in ("num_local_experts", "num_experts", "n_routed_experts")):
        settings["experts_implementation"] = checkpoint.options.get("experts", "batched_mm")
    built = built_for(package, config)
    try:
        with offline():
            model, told = built.maker.from_pretrained(
                checkpoint.path, config=config, dtype=checkpoint.dtype, local_files_only=True,
                ignore_mismatched_sizes=True, output_loading_info=True, **settings
            )
    except Exception as error:
        raise Refused(f"{checkpoint.text} cannot be loaded by Transformers: {one_line(error)}") from error
    demand_shapes(checkpoint, told["mismatched_keys"])
    if built.causal:
        return TransformersProgram(model.eval(), checkpoint)
    return ModelProgram(without_cache(model.eval()), checkpoint, built.note(model))


def without_cache(model: Any) -> Any:
    """The model, told that one call is all: what it would keep for the next is no output."""
    for config in (model.config, *(getattr(model.config, name, None) for name in model.config.sub_configs)):
        if hasattr(config, "use_cache"):
            config.use_cache = False
    return model


def demand_shapes(checkpoint: Checkpoint, others: Iterable[tuple[str, Any, Any]]) -> None:
    """Raises Refused where weights have other shapes than the model's: each name, the stored shape, and the model's.
    Transformers itself, left to refuse them, names none."""
    told = [f"{name} is {list(stored)} in the file and {list(wanted)} by the config"
            for name, stored, wanted in sorted(others)]
    if told:
        more = f", and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        raise Refused(f"the weights of {checkpoint.text} do not fit its config: {'; '.join(told[:SHOWN])}{more}; give "
                      "the config that belongs to them")
