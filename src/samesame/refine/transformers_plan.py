"""hf:DIR --tp N: a Transformers model against itself under the tensor-parallel plan that it comes with."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from samesame.capture.checkpoints.folders import example, parse
from samesame.capture.checkpoints.transformers import load_hf
from samesame.evidence import Refused


def of_transformers(target: str, ranks: int, seed: int) -> dict[str, Any]:
    """The job of `hf:DIR?option=…` over so many ranks, as arguments of `refine`. Raises Refused where the model has no
    plan, or Transformers none to apply."""
    try:
        from transformers.distributed import tensor_parallel

        apply: Any = tensor_parallel.apply_tensor_parallelism
    except (ImportError, AttributeError):
        raise Refused(
            "this version of Transformers applies no tensor-parallel plan to a model that is loaded; "
            "install transformers>=5.16"
        ) from None
    checkpoint = parse(target)

    def sequential() -> nn.Module:
        return load_hf(checkpoint).model                                                   # type: ignore[no-any-return]

    model: Any = sequential()
    if not getattr(model, "tp_plan", None):
        raise Refused(f"{target} has no tensor-parallel plan in Transformers; write a job file for it")
    config: Any = model.config

    def distributed(rank: int, world_size: int, mesh: Any) -> nn.Module:
        return apply(sequential(), mesh, dict(model.tp_plan))                              # type: ignore[no-any-return]

    def inputs() -> dict[str, torch.Tensor]:
        return example(config.get_text_config().vocab_size, seed=seed + 1)

    return {"sequential": sequential, "distributed": distributed, "inputs": inputs, "mesh": {"tp": ranks}}
