"""Every operator that the tiny Transformers models run has a meaning, which agrees with what torch computed there."""

from __future__ import annotations

import pytest
import torch
from meaning_samples import Recorder
from test_meanings import check, comparable, shown

from models import MODELS
from samesame.operators import meaning_of

# What reads a number out of a tensor: a program that does so on data is refused when it is captured.
READS_DATA = {"aten._local_scalar_dense.default", "aten.item.default", "aten.is_nonzero.default"}


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_operator_of_a_model_means_what_torch_does(name: str, attention: str) -> None:
    model, inputs = MODELS[name](attention=attention)
    seen: set[str] = set()
    for mode in (torch.no_grad, torch.inference_mode):
        with mode(), Recorder() as recorder:
            model(**inputs)
        for call in recorder.calls:
            signature = call.operator + shown(call)
            writes = call.operator.split(".")[1].endswith("_")             # graphs hold the pure form of these
            if call.operator in READS_DATA or writes or signature in seen or not comparable(call):
                continue
            seen.add(signature)
            assert meaning_of(call.operator) is not None, f"{call.operator} has no meaning"
            check(call)
    assert len(seen) > 30
