"""Every distributed job computes what its sequential program does, by values; with a fault planted, it does not."""

from __future__ import annotations

import pytest

from rankwise import load, names, unrelated

FAULTS = [(name, fault) for name in names() for fault in load(name).faults]


@pytest.mark.parametrize("name", names())
def test_ranks_in_lockstep_compute_what_the_sequential_program_does(name):
    assert unrelated(load(name)) == []


@pytest.mark.parametrize("name, fault", FAULTS)
def test_a_planted_fault_shows(name, fault):
    assert unrelated(load(name), fault=fault)


@pytest.mark.models
@pytest.mark.parametrize("model", ["llama", "qwen3", "mixtral", "qwen3_moe"])
def test_transformers_own_plans(model):
    assert unrelated(load("hf_tensor_parallel"), name=model) == []
