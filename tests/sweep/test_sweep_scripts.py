"""Scripts of a difference: short, valid, of the two libraries alone, with the config of the probe."""

import ast
from pathlib import Path

import pytest

from samesame.capture.checkpoints.folders import fields_of, tiny, transformers
from samesame.capture.checkpoints.shrinking import merged
from samesame.sweep.attempt import config_for_script
from samesame.sweep.outcome import Outcome
from samesame.sweep.probes import probes_of
from samesame.sweep.script import file_name, script, write_scripts
from samesame.sweep.verb import attention_for_scripts, sides_of

KINDS = ["llama", "qwen3", "gemma2", "gemma3_text", "mixtral", "granite", "cohere", "opt"]
ARBITRARY = {"transformers_version", "architectures", "dtype", "use_cache", "initializer_range", "id2label", "label2id",
             "bos_token_id", "eos_token_id", "pad_token_id", "_name_or_path"}


HEAD = {"mixtral": {"head_dim": 32}}         # without one Transformers has no angles for yarn


def found(kind, probe, folder):
    fields = tiny({"model_type": kind, **HEAD.get(kind, {})}, folder, probe.fields)
    return Outcome(probe, "different", config=config_for_script(fields), tokens=12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_is_short_and_builds_the_config_of_its_probe(kind, tmp_path):
    probes = [p for p in probes_of({"model_type": kind}).probes if p.value in ("longrope", "yarn") or p.value is True]
    for number, probe in enumerate([p for p in probes if "bidirectional" not in p.field][:4]):
        outcome = found(kind, probe, tmp_path / str(number))
        text = script(outcome)
        assert len(text.splitlines()) <= 30 and max(map(len, text.splitlines())) <= 120
        tree = ast.parse(text)
        imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert imported == {"os", "tempfile", "torch", "transformers", "vllm"}
        [config] = [node.value for node in tree.body
                    if isinstance(node, ast.Assign) and node.targets[0].id == "config"]
        made = transformers().AutoConfig.for_model(**ast.literal_eval(config.keywords[0].value)).to_dict()
        whole = fields_of(tmp_path / str(number))
        assert {k: v for k, v in made.items() if k not in ARBITRARY} == {
            k: v for k, v in merged(made, whole).items() if k not in ARBITRARY}


def test_scripts_of_one_sweep_have_names_of_their_own(tmp_path):
    probes = [p for p in probes_of({"model_type": "llama"}).probes if p.field.endswith("attention_factor")]
    outcomes = [Outcome(probe, "different", config={"model_type": "llama"}, tokens=12) for probe in probes]
    assert file_name(outcomes[0]) == file_name(outcomes[1]) == "llama_attention_factor_1_5.py"
    written = write_scripts(outcomes, tmp_path, "eager")
    assert len(set(written.values())) == len(probes) == 2 and all(path.exists() for path in written.values())


@pytest.mark.parametrize("left, right, attention", [
    ("hf:{}", "vllm:{}", "eager"), ("vllm:{}", "hf:{}?attn=sdpa", "sdpa"), ("hf:{}?mlp_bias=true", "vllm:{}", ""),
    ("hf:{}?mlp_bias=true", "vllm:{}?mlp_bias=true", "eager"), ("hf:{}?dtype=bfloat16", "vllm:{}", ""),
    ("hf:{}", "vllm:{}?custom_ops=none", ""), ("hf:{}", "hf:{}?attn=sdpa", ""),
])
def test_there_are_scripts_where_they_show_what_was_compared(left, right, attention, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert attention_for_scripts(sides_of(left.format(tmp_path), right.format(tmp_path))) == attention
    assert write_scripts([Outcome(None, "different")], tmp_path, "") == {}


FINDINGS = sorted((Path(__file__).parents[2] / "docs" / "findings").glob("*.py"))


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_the_scripts_of_the_docs_are_short_and_named_there(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 30 and "samesame" not in text and ast.parse(text)
    pages = (path.parents[1] / name for name in ("sweep.md", "fuzz.md"))
    assert any(f"(findings/{path.name})" in page.read_text() for page in pages)
