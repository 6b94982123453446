"""Models of any architecture: which class is built, what it is given, and that it is compared in one call."""

import json

import pytest
import torch
from torch import nn

from samesame.capture.checkpoints.arguments import REAL, said
from samesame.capture.checkpoints.blocks import block
from samesame.capture.checkpoints.classes import built_for
from samesame.capture.checkpoints.folders import config_of, parse, randomise, small, tiny, transformers
from samesame.capture.checkpoints.transformers import ModelProgram, TransformersProgram, load_hf
from samesame.check import check
from samesame.evidence import Refused
from samesame.sweep.attempt import causal

VIT = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "patch_size": 4, "num_hidden_layers": 1,
       "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16, "image_size": 8}
SMALL = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "vocab_size": 16,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
TOWER = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def program(fields, folder):
    """The twin of these fields, at the sizes that they give."""
    sizes = {name: value for name, value in fields.items() if name not in ("model_type", "architectures")}
    return load_hf(parse(f"hf:{tiny(fields, folder, sizes)}"))


# -------------------------------------------------------------------------------------------------------- the class


@pytest.mark.parametrize("fields, name, why", [
    ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "BertForMaskedLM", "its config.json names"),
    ({"model_type": "bert"}, "BertLMHeadModel", "causal"),
    ({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, "LlamaForCausalLM", "causal"),
    ({"model_type": "llama", "architectures": ["Llama_ours"]}, "LlamaForCausalLM", "causal"),
    ({"model_type": "vit"}, "ViTModel", "names no class"),
    ({"model_type": "vit", "architectures": ["ViTOurs"]}, "ViTModel", "ViTOurs, which Transformers does not have"),
    ({"model_type": "vit", "architectures": ["BertModel"]}, "ViTModel", "names BertModel, which is none of vit"),
    ({"model_type": "vit", "architectures": ["pipeline"]}, "ViTModel", "names pipeline, which is none of vit"),
])
def test_the_class_is_the_one_that_the_config_names(fields, name, why, tmp_path):
    """A head that nobody named is never guessed: the bare model is built, and that is said. The twin knows no more."""
    (tmp_path / "config.json").write_text(json.dumps(fields))
    config = config_of(tmp_path, {})
    assert why in built_for(transformers(), config).why
    twin = load_hf(parse(f"hf:{tiny(fields, tmp_path / 'twin', {'num_hidden_layers': 1})}"))
    assert type(twin.model).__name__ == name
    assert isinstance(twin, TransformersProgram) == ("causal" in why)
    assert "causal" in why or why in twin.built


# ---------------------------------------------------------------------------------------------------- what it is given


KINDS = {
    "vision": (VIT, {"pixel_values": (2, 3, 8, 8)}, {"logits": (2, 2)}),
    "speech": (
        {"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "num_mel_bins": 4, **SMALL,
         "max_source_positions": 5},
        {"input_features": (2, 4, 10), "decoder_input_ids": (2, 12)},
        {"logits": (2, 12, 16), "encoder_last_hidden_state": (2, 5, 16)},
    ),
    "sound": (
        {"model_type": "wav2vec2", **TOWER, "conv_dim": [4, 4], "conv_stride": [5, 2], "conv_kernel": [10, 3],
         "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2},
        {"input_values": (2, 10 + 5 * 24)}, {"last_hidden_state": (2, 12, 16), "extract_features": (2, 12, 4)},
    ),
    "text to text": (
        {"model_type": "bart", "architectures": ["BartForConditionalGeneration"], **SMALL},
        {"input_ids": (2, 12), "decoder_input_ids": (2, 12)},
        {"logits": (2, 12, 16), "encoder_last_hidden_state": (2, 12, 16)},
    ),
    "series": (
        {"model_type": "patchtst", "context_length": 8, "patch_length": 2, "patch_stride": 2, "d_model": 16,
         "num_input_channels": 3, "num_hidden_layers": 1, "num_attention_heads": 2, "ffn_dim": 16},
        {"past_values": (2, 8, 3)},
        {"last_hidden_state": (2, 3, 4, 16), "loc": (2, 1, 3), "scale": (2, 1, 3), "patch_input": (2, 3, 4, 2)},
    ),
    "text and image": (
        {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"], "image_token_index": 15,
         "text_config": {"model_type": "llama", **TOWER, "num_key_value_heads": 2, "vocab_size": 16},
         "vision_config": {"model_type": "clip_vision_model", **TOWER, "image_size": 4, "patch_size": 2}},
        {"pixel_values": (2, 3, 4, 4), "input_ids": (2, 12)}, {"logits": (2, 12, 16), "image_hidden_states": (8, 16)},
    ),
    "text, and images of any size": (
        {"model_type": "qwen2_5_vl", "architectures": ["Qwen2_5_VLForConditionalGeneration"],
         "text_config": {**TOWER, "num_key_value_heads": 2, "vocab_size": 16, "layer_types": ["full_attention"],
                         "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]}},
         "vision_config": {"hidden_size": 16, "depth": 1, "num_heads": 2, "intermediate_size": 16,
                           "out_hidden_size": 16}},
        {"input_ids": (2, 12)}, {"logits": (2, 12, 16)},
    ),
    "sound, cut by the model": (
        {"model_type": "moonshine", "architectures": ["MoonshineForConditionalGeneration"], "hidden_size": 16,
         "intermediate_size": 16, "vocab_size": 16, "encoder_num_hidden_layers": 1, "decoder_num_hidden_layers": 1,
         **{f"{part}_num_{heads}": 2 for part in ("encoder", "decoder") for heads in
            ("attention_heads", "key_value_heads")}},
        {"input_values": (2, 4096), "decoder_input_ids": (2, 12)},
        {"logits": (2, 12, 16), "encoder_last_hidden_state": (2, 9, 16)},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_what_its_forward_takes(kind, tmp_path):
    fields, given, returned = KINDS[kind]
    model = program(fields, tmp_path)
    example = model.example
    assert {name: tuple(tensor.shape) for name, tensor in example.items()} == given
    with torch.no_grad():
        outputs = model(**example)
    tensors = {name: tuple(value.shape) for name, value in outputs.items() if isinstance(value, torch.Tensor)}
    assert type(model) is ModelProgram and tensors == returned
    assert "past_key_values" not in outputs, "one call keeps nothing for the next"


def test_images_have_their_tokens_in_the_text_and_no_other_is_one(tmp_path):
    model = program(KINDS["text and image"][0], tmp_path)
    assert (model.example["input_ids"] == 15).sum(1).tolist() == [4, 4]


def test_a_row_is_of_fields_that_the_config_or_a_nested_one_has():
    clip = transformers().CONFIG_MAPPING["clip"](vision_config={"image_size": 12, "num_channels": 5})
    bare = transformers().CONFIG_MAPPING["bert"]()
    rows = [said(clip, *row) for row in REAL["pixel_values"]]
    assert rows[:2] == [None, (5, 12, 12)] and said(bare, *REAL["pixel_values"][1]) is None


def test_what_cannot_be_made_is_asked_for(tmp_path):
    model = program({"model_type": "bert", "architectures": ["BertForMultipleChoice"], **TOWER}, tmp_path)
    said = "hf:.* is BertForMultipleChoice, for which no example inputs could be made .*; give them: --inputs TARGET"
    with pytest.raises(Refused, match=said):
        print(model.example)


# ------------------------------------------------------------------------------------------------------------- verdicts


def test_a_vision_model_is_the_same_by_two_attentions_and_another_by_another_epsilon(tmp_path):
    folder = program(VIT, tmp_path).checkpoint.path
    left, right, other = (load_hf(parse(f"hf:{folder}?{said}")) for said in
                          ("attn=eager", "attn=sdpa", "attn=sdpa&layer_norm_eps=0.1"))
    found = check(left, right, None)
    assert found.verdict == "same" and [root.name for root in found.roots] == ["logits"]
    assert found.notes.count("The model is ViTForImageClassification, the class that its config.json names.") == 1
    assert check(left, other, None, timeout=20).verdict == "different"


def test_a_block_is_taken_with_what_it_gets_in_one_call_and_a_sweep_says_that_it_is_of_language_models(tmp_path):
    model = program(VIT, tmp_path)
    block_of, given = block(model, "vit.layers.0.mlp")
    assert block_of is model.model.vit.layers[0].mlp and [tuple(x.shape) for x in given.values()] == [(2, 5, 16)]
    with pytest.raises(Refused, match="a sweep is of causal language models, and this is ViTForImageClassification"):
        causal(model)
    assert causal(block_of) is block_of


# ------------------------------------------------------------------------------------------------------------ the twins


@pytest.mark.parametrize("fields, found", [
    ({"model_type": "whisper", "encoder_attention_heads": 6, "decoder_attention_heads": 6},
     {"d_model": 128, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "decoder_layers": 2,
      "max_source_positions": 12}),
    ({"model_type": "swin"}, {"window_size": 2, "image_size": 64, "depths": [2, 2, 2, 2]}),
    ({"model_type": "segformer"}, {"hidden_sizes": [8, 16, 40, 64], "num_attention_heads": [1, 2, 5, 8]}),
    ({"model_type": "convnext"}, {"hidden_sizes": [8, 16, 32, 64], "num_stages": 4}),
    ({"model_type": "yolos"}, {"image_size": [32, 48], "num_detection_tokens": 4, "patch_size": 16}),
    ({"model_type": "vit"}, {"image_size": 32, "hidden_size": 128}),
    ({"model_type": "patchtst", "d_model": 24, "num_attention_heads": 3}, {"d_model": 128, "num_attention_heads": 4}),
    ({"model_type": "llava"}, {"image_token_index": 127}),
])
def test_sizes_of_encoders_and_towers_still_belong_together(fields, found):
    twin = small(fields)
    assert {name: twin[name] for name in found} == found


def test_both_towers_of_a_model_are_small_and_meet():
    twin = small({"model_type": "siglip"})
    assert twin["text_config"]["projection_size"] == twin["vision_config"]["hidden_size"] == 128
    assert twin["text_config"]["vocab_size"] == 128 and twin["vision_config"]["image_size"] == 32


def test_a_convolution_starts_with_unit_gain():
    """So that what stands behind many convolutions is no huge number, whose rounding says nothing."""
    layer = nn.Conv2d(64, 128, 3, bias=False)
    randomise(layer, 0)
    gain = layer(torch.randn(4, 64, 8, 8)).std().item()
    assert 0.8 < gain < 1.2
