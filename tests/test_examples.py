"""What the examples say of themselves is true."""

from importlib import import_module

import pytest
import torch
from examples.fused_llama import FusedLlama, rotary_table
from examples.training import ByHand, ByTorch, Coupled, inputs
from transformers import AutoModelForCausalLM, LlamaConfig

from models import build, randomise
from samesame import check


@torch.inference_mode()
def worst_difference(model, input_ids):
    return (model(input_ids).logits - FusedLlama.from_transformers(model)(input_ids)).abs().max().item()


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_fused_llama_equals_transformers(attention):
    model, inputs = build("llama", attention, layers=3)
    assert worst_difference(model, inputs["input_ids"]) <= 1e-5
    # In float64 too: what is left is Transformers' own rounding to float32 in norms and softmax.
    assert worst_difference(model.double(), inputs["input_ids"]) <= 5e-6


def test_fused_llama_carries_biases_and_reads_the_head_size_from_the_config():
    config = LlamaConfig(
        vocab_size=31,
        hidden_size=20,
        intermediate_size=17,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        attention_bias=True,
        mlp_bias=True,
        rope_parameters={"rope_type": "default", "rope_theta": 50.0},
        rms_norm_eps=0.1,
        max_position_embeddings=16,
        tie_word_embeddings=True,
        head_dim=6,
    )
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    randomise(model)
    assert worst_difference(model, torch.randint(0, 31, (2, 7))) <= 1e-5


def test_rotary_table_holds_exactly_the_numbers_transformers_computes():
    model, _ = build("llama")
    config = model.config
    positions, half = config.max_position_embeddings, config.head_dim // 2
    cos, sin = model.model.rotary_emb(torch.zeros(1), torch.arange(positions).unsqueeze(0))
    table = rotary_table(positions, config.head_dim, config.rope_parameters["rope_theta"])
    assert torch.equal(torch.cat((cos[0, :, :half], sin[0, :, :half]), dim=-1), table)
    assert torch.equal(torch.cat((cos[0, :, half:], sin[0, :, half:]), dim=-1), table)


def test_fused_llama_names_what_it_does_not_implement():
    model, _ = build("llama")
    model.config.hidden_act = "gelu"
    with pytest.raises(ValueError, match="not gelu"):
        FusedLlama(model.config)


@pytest.mark.parametrize("name, same", [("rms_norm", True), ("gelu", False), ("grouped_heads", True)])
def test_example_pairs_are_what_they_say(name, same):
    pair = import_module(f"examples.pairs.{name}")
    torch.manual_seed(0)
    arguments = [argument.double() for argument in pair.inputs()]
    difference = (pair.left(*arguments) - pair.right(*arguments)).abs().max().item()
    assert difference < 1e-12 if same else 1e-6 < difference < 1e-3


def test_a_training_step_by_hand_is_the_one_of_torch():
    assert check(ByTorch(), ByHand(), inputs).verdict == "same"
    assert check(ByTorch(), Coupled(), inputs).verdict == "different"
