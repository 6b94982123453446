"""Probes come from the config class: each field is tried or left out with a reason, each probe changes something."""

import dataclasses
from typing import Literal

import pytest

from samesame.capture.checkpoints.folders import TOKENS, config_of, fields_of, small, tiny, transformers
from samesame.evidence import Refused
from samesame.sweep.attempt import example_of
from samesame.sweep.probe import flat
from samesame.sweep.probes import UNKNOWN, probes_of, values_of

KINDS = ["llama", "qwen3", "gemma2", "gemma3_text", "mixtral", "gpt2", "granite", "cohere", "opt", "deepseek_v3"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_the_class_is_tried_or_left_out_with_a_reason(kind):
    plan = probes_of({"model_type": kind})
    tried = {probe.field.partition(".")[0] for probe in plan.probes}
    left_out = dict(plan.left_out)
    names = {field.name for field in dataclasses.fields(transformers().CONFIG_MAPPING[kind])}
    assert names - tried == names & left_out.keys()
    assert not tried & left_out.keys() and all(left_out.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_probe_is_one_of_its_kind_and_changes_its_field(kind):
    shrunk = small({"model_type": kind})
    base = dict(flat({**fields_of(transformers().CONFIG_MAPPING[kind]()), **shrunk}))
    probes = probes_of({"model_type": kind}).probes
    assert len({probe.key for probe in probes}) == len(probes) > 10
    for probe in probes:
        assert dict(flat(probe.fields))[probe.field] == probe.value
        assert any(base.get(name) != value for name, value in flat(probe.fields)), probe.key


def values_tried(kind, field, **config):
    return [probe.value for probe in probes_of({"model_type": kind, **config}).probes if probe.field == field]


@pytest.mark.parametrize("kind, field, values", [
    ("llama", "attention_bias", [True]),
    ("gemma2", "tie_word_embeddings", [False]),
    ("gemma2", "use_bidirectional_attention", [True, False]),
    ("gemma2", "final_logit_softcapping", [None, 2.0]),
    ("granite", "logits_scaling", [0.3, 1.7]),
    ("llama", "rms_norm_eps", [0.1, 1e-3]),
    ("llama", "rope_parameters.rope_type", ["linear", "dynamic", "yarn", "longrope", "llama3"]),
    ("gemma2", "layer_types", [["sliding_attention"] * 2, ["full_attention", "sliding_attention"],
                               ["full_attention"] * 2]),
    ("mixtral", "sliding_window", [1, 3, 4, 8]),
])
def test_values_of_fields(kind, field, values):
    assert values_tried(kind, field) == values


def test_a_field_that_needs_another_has_it_set():
    [probe] = [p for p in probes_of({"model_type": "qwen3"}).probes if p.field == "sliding_window" and p.value == 3]
    assert probe.fields["use_sliding_window"] is True and probe.without.fields.keys() == probe.fields.keys() - {
        "sliding_window"}


def test_layers_with_positions_of_their_own_are_tried_one_kind_at_a_time():
    fields = {probe.field for probe in probes_of({"model_type": "gemma3_text"}).probes}
    assert {"rope_parameters.full_attention.rope_theta", "rope_parameters.sliding_attention.rope_theta"} <= fields


@pytest.mark.parametrize("type_, value, values", [
    (Literal["a", "b"], "a", ["a", "b"]), (bool | None, None, [True, False]), (float, 1.0, [0.3, 1.7]),
    (int | None, 1, [2, 3]), (dict, {}, []), ("bool | None", None, [True, False]), ("int | None", None, [1, 2, 3]),
])
def test_values_follow_from_the_type_where_the_name_says_nothing(type_, value, values):
    assert list(values_of("something", type_, {"something": value})) == values


def test_a_field_of_the_config_that_its_class_does_not_declare_is_tried_too():
    assert values_tried("llama", "scale_of_mine", scale_of_mine=0.5) == [0.3, 1.7]


def test_only_some_fields_and_those_below_them():
    probes = probes_of({"model_type": "llama"}, ["rope_parameters", "mlp_bias"]).probes
    assert {probe.field.partition(".")[0] for probe in probes} == {"rope_parameters", "mlp_bias"}
    with pytest.raises(Refused, match=r"^there is no field hiden_act to probe; there are .*hidden_act"):
        probes_of({"model_type": "llama"}, ["hiden_act"])


def test_a_field_of_a_type_without_values_says_so():
    assert ("experts_per_something", UNKNOWN) in probes_of(
        {"model_type": "llama", "experts_per_something": {"a": [1]}}).left_out


@pytest.mark.parametrize("fields, tokens", [
    ({"sliding_window": 4}, TOKENS), ({"sliding_window": 31}, 35),
    ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 20}}, 24),
])
def test_examples_go_beyond_every_window_and_the_original_range(fields, tokens, tmp_path):
    place = tiny({"model_type": "mistral"}, tmp_path, fields)
    assert example_of(place)["input_ids"].shape[1] == tokens
    assert config_of(place, {}).vocab_size == 128
