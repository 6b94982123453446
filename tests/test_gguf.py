"""A GGUF file is the checkpoint's weights up to what llama.cpp does to them and rounding; planted faults are named."""

import json
import xml.etree.ElementTree as ET

import numpy
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from report import pictured
from report.pages import sound, text_only
from samesame.cli import app
from samesame.evidence import Refused

gguf = pytest.importorskip("gguf", reason="the extra gguf is not installed")

from samesame.cli.gguf import compare_weights  # noqa: E402
from samesame.gguf.formats import Compared, compared  # noqa: E402
from samesame.gguf.names import Source  # noqa: E402
from samesame.gguf.page import weights_html  # noqa: E402
from samesame.gguf.verb import Answer, Tensor, compare  # noqa: E402
from samesame.gguf.words import sentence  # noqa: E402

Q = gguf.GGMLQuantizationType
LLAMA = {"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
GEMMA = LLAMA | {"model_type": "gemma", "tie_word_embeddings": True}
PARTS = {
    "self_attn.q_proj": ("attn_q", (64, 64)), "self_attn.k_proj": ("attn_k", (32, 64)),
    "self_attn.v_proj": ("attn_v", (32, 64)), "self_attn.o_proj": ("attn_output", (64, 64)),
    "mlp.gate_proj": ("ffn_gate", (96, 64)), "mlp.up_proj": ("ffn_up", (96, 64)),
    "mlp.down_proj": ("ffn_down", (64, 96)),
    "input_layernorm": ("attn_norm", (64,)), "post_attention_layernorm": ("ffn_norm", (64,)),
}


def llama(folder, config=LLAMA):
    """A checkpoint in a folder, and what a right GGUF file of it holds."""
    dice = torch.Generator().manual_seed(0)
    names = {"model.embed_tokens": ("token_embd", (50, 64)), "model.norm": ("output_norm", (64,)),
             **({} if config.get("tie_word_embeddings") else {"lm_head": ("output", (50, 64))})}
    for layer in range(2):
        names |= {f"model.layers.{layer}.{name}": (f"blk.{layer}.{short}", shape)
                  for name, (short, shape) in PARTS.items()}
    tensors = {f"{name}.weight": torch.randn(shape, generator=dice) for name, (_, shape) in names.items()}
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    right = {f"{short}.weight": tensors[f"{name}.weight"].numpy() for name, (short, _) in names.items()}
    for layer in range(2):
        for short, heads in (("attn_q", 4), ("attn_k", 2)):
            if config["model_type"] == "llama":
                name = f"blk.{layer}.{short}.weight"
                right[name] = turned(right[name], heads)
    if config["model_type"] == "gemma":
        right |= {name: weight + 1 for name, weight in right.items() if name.endswith("norm.weight")}
    return right


def turned(weight, heads):
    rows = weight.reshape(heads, 2, -1, weight.shape[1])
    return numpy.ascontiguousarray(rows.swapaxes(1, 2).reshape(weight.shape))


def write(path, tensors, architecture="llama", kind=Q.F32):
    writer = gguf.GGUFWriter(path, architecture)
    for name, weight in tensors.items():
        which = kind if weight.ndim > 1 else Q.F32
        writer.add_tensor(name, gguf.quants.quantize(weight, which), raw_dtype=which)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return f"gguf:{path}"


@pytest.mark.parametrize("kind, how", [("F32", "equal"), ("F16", "rounded"), ("BF16", "rounded"), ("Q8_0", "quantised"),
                                       ("Q4_0", "quantised"), ("Q4_1", "quantised"), ("Q5_0", "quantised"),
                                       ("Q5_1", "quantised")])
def test_each_format_of_the_right_weights(tmp_path, kind, how):
    file = write(tmp_path / "m.gguf", llama(tmp_path), kind=Q[kind])
    answer = compare(f"hf:{tmp_path}", file)
    assert (answer.verdict, answer.exit_code) == ("same", 0)
    assert {t.found.how for t in answer.tensors if "norm" not in t.name} == {how}
    assert sum(t.source.change is not None for t in answer.tensors) == 4


def unpermuted(tensors, raw):
    return {"blk.1.attn_q.weight": raw["model.layers.1.self_attn.q_proj.weight"].numpy()}


def swapped(tensors, raw):
    one, other = "blk.0.ffn_up.weight", "blk.1.ffn_up.weight"
    return {one: tensors[other], other: tensors[one]}


def scaled(tensors, raw):
    return {"blk.0.attn_v.weight": tensors["blk.0.attn_v.weight"] * numpy.float32(1.05)}


def one_number(tensors, raw):
    changed = tensors["blk.0.ffn_down.weight"].copy()
    changed[3, 5] = -changed[3, 5] + 1
    return {"blk.0.ffn_down.weight": changed}


def permuted_values(tensors, raw):
    return {"blk.0.attn_v.weight": turned(tensors["blk.0.attn_v.weight"], 2)}


@pytest.mark.parametrize("kind", ["F32", "Q8_0", "Q4_0"])
@pytest.mark.parametrize("fault, named, instead", [
    (unpermuted, {"blk.1.attn_q.weight"}, "self_attn.q_proj.weight as it is"),
    (swapped, {"blk.0.ffn_up.weight", "blk.1.ffn_up.weight"}, "holds model.layers."),
    (scaled, {"blk.0.attn_v.weight"}, "times what it should be"),
    (one_number, {"blk.0.ffn_down.weight"}, ""),
    (permuted_values, {"blk.0.attn_v.weight"}, "permuted as rows of 2 heads, which was not due"),
])
def test_planted_faults_are_named(tmp_path, kind, fault, named, instead):
    right = llama(tmp_path)
    right |= fault(right, load_file(tmp_path / "model.safetensors"))
    answer = compare(f"hf:{tmp_path}", write(tmp_path / "m.gguf", right, kind=Q[kind]))
    wrong = [tensor for tensor in answer.tensors if tensor.found.how == "wrong"]
    assert answer.verdict == "different" and {tensor.name for tensor in wrong} == named
    assert all(instead in tensor.instead for tensor in wrong)


def test_norms_of_gemma_have_one_added(tmp_path):
    right = llama(tmp_path, GEMMA)
    assert compare(f"hf:{tmp_path}", write(tmp_path / "m.gguf", right, "gemma")).verdict == "same"
    name = "model.layers.1.input_layernorm.weight"
    right["blk.1.attn_norm.weight"] = load_file(tmp_path / "model.safetensors")[name].numpy()
    answer = compare(f"hf:{tmp_path}", write(tmp_path / "n.gguf", right, "gemma"))
    (told,) = (tensor.instead for tensor in answer.tensors if tensor.instead)
    assert told.startswith(f"holds {name} as it is: with 1 added")


def test_what_is_missing_and_what_has_no_partner(tmp_path):
    right = llama(tmp_path)
    gone = right.pop("blk.1.attn_k.weight")
    answer = compare(f"hf:{tmp_path}", write(tmp_path / "m.gguf", right))
    assert [t.name for t in answer.tensors if t.found.how == "missing"] == ["blk.1.attn_k.weight"]
    more = write(tmp_path / "n.gguf", right | {"blk.1.attn_k.weight": gone, "blk.0.attn_q.bias": gone[0]})
    assert compare(f"hf:{tmp_path}", more).verdict == "undecided"


@pytest.mark.parametrize("kind", ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"])
def test_codes_of_large_blocks_are_the_nearest_or_wrong(kind):
    dice = numpy.random.default_rng(0)
    _, size = gguf.GGML_QUANT_SIZES[Q[kind]]
    blocks = dice.integers(0, 256, (2, size), dtype=numpy.uint8)
    for place in {"Q2_K": (80, 82), "Q3_K": (108,), "Q6_K": (208,)}.get(kind, (0, 2)):
        blocks[:, place : place + 2] = numpy.array([0.01], numpy.float16).view(numpy.uint8)
    numbers = gguf.quants.dequantize(blocks, Q[kind])
    assert compared(numbers, blocks, kind).how == "quantised"
    other = numbers.copy()
    other[1, 77] += 9.0
    found = compared(other, blocks, kind)
    assert (found.how, found.off, found.place) == ("wrong", 1, (1, 77))
    assert compared(numbers[::-1].copy(), blocks, kind).how == "wrong"


def test_what_cannot_be_compared(tmp_path):
    file = write(tmp_path / "m.gguf", llama(tmp_path), "qwen3")
    with pytest.raises(Refused, match=r"is a qwen3 and .* a llama: weights of two architectures"):
        compare(f"hf:{tmp_path}", file)
    (tmp_path / "bad.gguf").write_bytes(b"nothing at all")
    with pytest.raises(Refused, match=r"bad\.gguf is no GGUF file: it does not begin"):
        compare(f"hf:{tmp_path}", f"gguf:{tmp_path}/bad.gguf")
    with pytest.raises(Refused, match=r"give hf:DIR, not model\.py:left"):
        compare("model.py:left", file)


def write_part(folder, number, tensors, *, count=2, total=None):
    writer = gguf.GGUFWriter(folder / f"m-{number + 1:05}-of-{count:05}.gguf", "llama")
    if number:
        writer.kv_data[0].clear()                          # only the first part has what is said of all
    writer.add_uint16("split.no", number)
    writer.add_uint16("split.count", count)
    if total is not None:
        writer.add_int32("split.tensors.count", total)
    for name, weight in tensors.items():
        writer.add_tensor(name, weight, raw_dtype=Q.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def in_two(tensors):
    names = list(tensors)
    return [{name: tensors[name] for name in some} for some in (names[:7], names[7:])]


@pytest.mark.parametrize("given", [1, 2])
def test_any_part_of_a_file_stands_for_all(tmp_path, given):
    for number, tensors in enumerate(in_two(llama(tmp_path))):
        write_part(tmp_path, number, tensors, total=21)
    answer = compare(f"hf:{tmp_path}", f"gguf:{tmp_path}/m-0000{given}-of-00002.gguf")
    assert answer.verdict == "same" and len(answer.tensors) == 21


def test_parts_that_are_not_all_there(tmp_path):
    first, second = in_two(llama(tmp_path))
    write_part(tmp_path, 0, first, total=21)
    file = f"gguf:{tmp_path}/m-00001-of-00002.gguf"
    with pytest.raises(Refused, match=r"m-00002-of-00002\.gguf is missing, one of the 2 parts of m-00001-of-00002"):
        compare(f"hf:{tmp_path}", file)
    second.pop("output_norm.weight", None) or second.popitem()
    write_part(tmp_path, 1, second, total=21)
    with pytest.raises(Refused, match=r"hold 20 tensors of 21 \(split\.tensors\.count\)"):
        compare(f"hf:{tmp_path}", file)
    (tmp_path / "m-00002-of-00002.gguf").write_bytes((tmp_path / "m-00001-of-00002.gguf").read_bytes())
    with pytest.raises(Refused, match=r"m-00002-of-00002\.gguf is not part 2 of 2: its split\.no is 0"):
        compare(f"hf:{tmp_path}", file)
    (tmp_path / "m-00001-of-00002.gguf").rename(tmp_path / "n.gguf")
    with pytest.raises(Refused, match=r"n\.gguf is one of 2 parts \(split\.count\), which its name does not say"):
        compare(f"hf:{tmp_path}", f"gguf:{tmp_path}/n.gguf")


@pytest.mark.parametrize("kept, count", [(20, None), (300, None), (-100, None), (None, 2**62)])
def test_a_damaged_file_is_one_sentence(tmp_path, kept, count):
    write(tmp_path / "m.gguf", llama(tmp_path))
    whole = bytearray((tmp_path / "m.gguf").read_bytes())
    if count is not None:
        whole[8:16] = count.to_bytes(8, "little")
    (tmp_path / "cut.gguf").write_bytes(whole[:kept])
    with pytest.raises(Refused, match=r"cut\.gguf is a damaged GGUF file, or one that was cut off .* it again$"):
        compare(f"hf:{tmp_path}", f"gguf:{tmp_path}/cut.gguf")


@pytest.mark.parametrize("fields, said", [
    ({"num_attention_heads": None}, "config.json has no num_attention_heads"),
    ({"num_attention_heads": 7}, r"says 7 for num_attention_heads, and a weight of \[64, 64\] has no even number"),
    ({"num_attention_heads": "4"}, "says '4' for num_attention_heads; a whole number is asked for"),
    ({"num_key_value_heads": 0}, "says 0 for num_key_value_heads"),
    ({"num_hidden_layers": "two"}, "says 'two' for num_hidden_layers; a whole number"),
    ({"num_hidden_layers": 1}, r"no name for model\.layers\.1.* says 1 for its layers"),
    ({"text_config": 3}, "says 3 for text_config"),
])
def test_a_config_that_is_not_these_weights_s(tmp_path, fields, said):
    file = write(tmp_path / "m.gguf", llama(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps(LLAMA | fields))
    with pytest.raises(Refused, match=said):
        compare(f"hf:{tmp_path}", file)


def test_a_shard_that_the_index_names_is_asked_for(tmp_path):
    file = write(tmp_path / "m.gguf", llama(tmp_path))
    (tmp_path / "model.safetensors").rename(tmp_path / "model-00001-of-00002.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    shards = {name: f"model-0000{n}-of-00002.safetensors" for n, name in ((1, "a"), (2, "b"))}
    index.write_text(json.dumps({"weight_map": shards}))
    with pytest.raises(Refused, match=r"model-00002-of-00002\.safetensors is missing, which .*index\.json names"):
        compare(f"hf:{tmp_path}", file)
    index.write_text("[1]")
    with pytest.raises(Refused, match=r"index\.json does not say which file holds each tensor"):
        compare(f"hf:{tmp_path}", file)


@pytest.mark.parametrize("kind", ["F32", "Q8_0"])
def test_nan_is_said_to_be_nan(tmp_path, kind):
    right = llama(tmp_path)
    file = write(tmp_path / "m.gguf", right, kind=Q[kind])
    tensors = load_file(tmp_path / "model.safetensors")
    for name, place in (("model.norm.weight", (3,)), ("lm_head.weight", (1, 2))):
        tensors[name][place] = numpy.nan
    save_file(tensors, tmp_path / "model.safetensors")
    told = [sentence(tensor) for tensor in compare(f"hf:{tmp_path}", file).tensors if tensor.found.how == "wrong"]
    assert told[0].endswith("is not lm_head.weight, which holds NaN in the checkpoint: 1 element off at [1, 2]")
    assert told[1].endswith("is not model.norm.weight, which holds NaN in the checkpoint: 1 element off at [3]")
    right["output_norm.weight"][3] = numpy.nan
    answer = compare(f"hf:{tmp_path}", write(tmp_path / "n.gguf", right))
    assert [tensor.name for tensor in answer.tensors if tensor.found.how == "wrong"] == ["output.weight"]


def test_on_the_command_line(tmp_path, capsys):
    file = write(tmp_path / "m.gguf", llama(tmp_path), kind=Q.Q8_0)
    assert compare_weights(f"hf:{tmp_path}", file, json=str(tmp_path / "out.json"), verbose=True) == 0
    assert capsys.readouterr().out.startswith("same   the checkpoint's weights (16 quantised, 5 equal)")
    assert json.loads((tmp_path / "out.json").read_text())["verdict"] == "same"


def test_other_tools_and_a_page_name_each_wrong_tensor(tmp_path):
    right = llama(tmp_path)
    right |= scaled(right, {}) | {"<script>.weight": right["blk.0.attn_v.weight"]}
    file = write(tmp_path / "m.gguf", {name: part for name, part in right.items() if name != "blk.1.attn_k.weight"})
    names = {name: str(tmp_path / name) for name in ("json", "html", "junit", "sarif")}
    result = CliRunner().invoke(app, ["check", f"hf:{tmp_path}", file, "--format", "github", *(
        word for name, path in names.items() for word in (f"--{name}", path))])
    assert result.exit_code == 1, result.output
    assert result.output.startswith("❌ **different** 2 of 22 tensors are not the checkpoint's")
    told = json.loads((tmp_path / "sarif").read_text())["runs"][0]["results"]
    assert [r["ruleId"] for r in told] == ["weights-differ", "weights-missing", "undecided"]
    assert all("m.gguf" in r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in told)
    (case,) = ET.parse(names["junit"]).iter("testcase")
    assert case.find("failure").get("type") == "weights-differ"
    page = sound((tmp_path / "html").read_text())
    rows = [given["data-search"] for tag, given in page.elements if tag == "tr" and "data-search" in given]
    assert len(rows) == 22 and [row.split()[-1] for row in rows[:3]] == ["wrong", "missing", "unknown"]
    assert "blk.0.attn_v.weight (F32) is 1.05 times what it should be" in page.said
    assert "<script>.weight (F32) has no partner in the checkpoint" in page.said


def test_text_of_a_file_stays_text():
    evil, quotes, hidden, long, template = pictured.NASTY
    tensor = Tensor(evil, quotes, Source((hidden, template)), Compared("wrong", 1.0, (0,), 1), long)
    text_only(weights_html(Answer(evil, template, [tensor], [hidden])))


def test_what_is_of_programs_is_refused(tmp_path):
    refused = CliRunner().invoke(app, ["check", f"hf:{tmp_path}", "gguf:m.gguf", "--certificate", str(tmp_path / "c")])
    assert refused.exit_code == 2 and "leave out other programs, --inputs and --certificate" in refused.output
