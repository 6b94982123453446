"""Pairs of vLLM that differ, or compare nothing, and vLLM with itself in two configurations."""

import json

import pytest
import torch
from typer.testing import CliRunner

from samesame import check
from samesame.capture import capture
from samesame.capture.checkpoints.folders import Checkpoint, tiny
from samesame.capture.checkpoints.transformers import load_hf
from samesame.capture.checkpoints.vllm import load_vllm
from samesame.capture.ranks.record import capture_ranks
from samesame.cli import app
from samesame.evidence import Refused, Rung
from vllm_models import needs_vllm, pair

pytestmark = [pytest.mark.models, needs_vllm]


SCALINGS = [("cohere", "logit_scale", 0.3), ("gemma2", "final_logit_softcapping", 2.0)]


@pytest.mark.parametrize("name, field, value", SCALINGS)
def test_a_change_of_the_last_scaling_alone_is_found(name, field, value, tmp_path):
    left, right = pair(tmp_path, name)
    changed = Checkpoint("vllm", tmp_path, overrides={field: value}, text="changed")
    verdict = check(left, load_vllm(changed), None, timeout=60)
    assert verdict.verdict == "different"
    assert verdict.effect.max_error > 1e-4 and verdict.effect.max_log_prob_change > 1e-5
    assert verdict.effect.argmax_total == 22
    assert right is not None


@pytest.mark.parametrize("name", ["olmo2", "gpt_neox", "phi"])
def test_a_model_that_vllm_runs_by_transformers_is_no_evidence(name, tmp_path):
    place = tiny({"model_type": name}, tmp_path)
    with pytest.raises(Refused, match=r"^vllm:it: vLLM has no model of its own for .*Transformers back end"):
        load_vllm(Checkpoint("vllm", place, text="vllm:it"))


@pytest.mark.parametrize("kind, architecture, reason", [
    ("mamba", "MambaForCausalLM", "selective scan"),
    ("deepseek_v32", "DeepseekV32ForCausalLM", "sparse attention"),
    ("laguna", "LagunaForCausalLM", "sigmoid scores"),
])
def test_what_a_cpu_cannot_run_is_said_before_anything_is_loaded(kind, architecture, reason, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind, "architectures": [architecture]}))
    with pytest.raises(Refused, match=f"^vllm:it: vLLM does not run {architecture} on a CPU: .*{reason}"):
        load_vllm(Checkpoint("vllm", tmp_path, text="vllm:it"))


def test_a_layer_with_a_state_is_no_attention_over_a_cache(tmp_path):
    """Without its state it would compute something else, and be called different."""
    place = tiny({"model_type": "lfm2", "layer_types": ["conv", "full_attention"], "num_hidden_layers": 2}, tmp_path)
    with pytest.raises(Refused, match="keeps a state between tokens"):
        load_vllm(Checkpoint("vllm", place, text="vllm:it"))


@pytest.mark.long
def test_latent_attention_is_compared_where_its_rotary_kernel_is_off(tmp_path):
    place = tiny({"model_type": "deepseek_v3"}, tmp_path)
    with pytest.raises(Refused, match=r"turns one head of each token .* add custom_ops=\["):
        load_vllm(Checkpoint("vllm", place, text="vllm:it"))
    left = load_hf(Checkpoint("hf", place, {"attn": "eager"}, text="hf"))
    plain = {"custom_ops": ["none"]}
    assert check(left, load_vllm(Checkpoint("vllm", place, plain, text="plain")), None, timeout=100).verdict == "same"
    other = Checkpoint("vllm", place, plain, overrides={"rms_norm_eps": 1e-2}, text="other")
    assert check(left, load_vllm(other), None, timeout=100).verdict == "different"


@pytest.mark.long
def test_a_bias_of_a_router_that_is_not_read_makes_a_difference(tmp_path):
    """vLLM's router for a CPU leaves out the bias of experts that stand in no groups."""
    place = tiny({"model_type": "ernie4_5_moe"}, tmp_path)
    sides = (load_hf(Checkpoint("hf", place, text="hf")), load_vllm(Checkpoint("vllm", place, text="vllm")))
    verdict = check(*sides, None, timeout=100)
    assert verdict.verdict == "different" and "moe_statics" in verdict.diagnosis[0].description


@pytest.mark.long
def test_vllm_is_the_same_with_its_own_operators_off_and_on(tmp_path):
    place = tiny({"model_type": "llama"}, tmp_path, {"num_key_value_heads": 2})
    plain, custom = (
        load_vllm(Checkpoint("vllm", place, options={"custom_ops": ops}, text=f"vllm {ops}"))
        for ops in (["none"], ["all"])
    )
    verdict = check(plain, custom, None, timeout=60)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


@pytest.mark.long
def test_the_process_can_be_a_rank_of_others_afterwards(tmp_path):
    """vLLM builds its models in a world of one; that world must not outlive the loading, whatever comes next."""
    for name in ("llama", "mixtral"):
        pair(tmp_path / name, name)
        assert not torch.distributed.is_initialized()
        ranks = capture_ranks(lambda rank, size: torch.nn.Identity(), lambda rank, size: (torch.ones(2),), 2)
        assert len(ranks) == 2


@pytest.mark.long
def test_three_ways_on_the_command_line(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(
        {"model_type": "gemma2", "attn_logit_softcapping": 2.0, "architectures": ["Gemma2ForCausalLM"]}
    ))
    targets = [f"hf:{tmp_path}?attn=eager", f"hf:{tmp_path}?attn=sdpa", f"vllm:{tmp_path}"]
    result = CliRunner().invoke(app, ["check", *targets, "--tiny", "--quiet", "--store", "-", "--timeout", "100"])
    assert result.exit_code == 1, result.stderr
    assert result.stdout.splitlines()[-1].startswith(f"{targets[1]} stands alone")


@pytest.mark.parametrize("fields, overrides, message", [
    (dict(head_dim=24), {}, "24"),
    ({}, dict(hidden_act="no_such_act"), "no_such_act"),
])
def test_what_vllm_refuses_is_said_in_one_sentence(fields, overrides, message, tmp_path):
    """Such as a head size that its attention does not take on a CPU."""
    place = tiny({"model_type": "llama"}, tmp_path, fields)
    with pytest.raises(Refused) as caught:
        program = load_vllm(Checkpoint("vllm", place, overrides=overrides, text="vllm:here"))
        capture(program, program.example)
    assert message in str(caught.value) and "\n" not in str(caught.value)
