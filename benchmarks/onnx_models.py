"""Is the export right? Tiny models of many architectures, through both of torch's exporters, against their ONNX files.

    python benchmarks/onnx_models.py [NAME …] [--seconds 60] [--keep DIR]

prints a table of models, exporters and verdicts. Weights are random throughout (no zeros, no ones, no two alike), as
those of trained models are. Text models run eager attention; those with a mask have one that leaves out two tokens.
Each file takes a process of its own.
"""

from __future__ import annotations

import argparse
import io
import logging
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from torch import nn

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
WORDS = {"vocab_size": 64, "max_position_embeddings": 32}
LANGUAGE = {**SMALL, **WORDS, "num_key_value_heads": 1}
EXPORTERS = ("torchscript", "dynamo")
Model = tuple[nn.Module, tuple[str, ...], tuple[torch.Tensor, ...], dict[str, Any]]


def of(config: str, **settings: Any) -> Any:
    return getattr(transformers, config)(**settings)


def text(config: Any, kind: str = "AutoModel", *, mask: bool = False, **options: Any) -> Model:
    ids = torch.arange(14).reshape(2, 7) * 7 % 50 + 3
    seen = torch.ones_like(ids)
    seen[0, -2:] = 0
    made = getattr(transformers, kind)
    module = made.from_config(config) if hasattr(made, "from_config") else made(config)
    module.set_attn_implementation("eager")
    return module, ("input_ids", "attention_mask")[: 1 + mask], (ids, seen)[: 1 + mask], options


def language(config: Any) -> Model:
    return text(config, "AutoModelForCausalLM", mask=True, use_cache=False)


def picture(config: Any, kind: str = "AutoModel") -> Model:
    return getattr(transformers, kind).from_config(config), ("pixel_values",), (torch.rand(2, 3, 32, 32),), {}


def heard(config: Any, *shape: int) -> Model:
    return transformers.AutoModel.from_config(config).encoder, ("input_features",), (torch.randn(*shape),), {}


LABELS = "AutoModelForImageClassification"
MODELS: dict[str, Callable[[], Model]] = {
    "bert": lambda: text(of("BertConfig", **SMALL, **WORDS)),
    "distilbert": lambda: text(of("DistilBertConfig", **WORDS, dim=16, n_layers=2, n_heads=2, hidden_dim=32)),
    "roberta": lambda: text(of("RobertaConfig", **SMALL, **WORDS)),
    "t5-encoder": lambda: text(
        of("T5Config", vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2), "T5EncoderModel"),
    "gpt2": lambda: language(of("GPT2Config", vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=2)),
    "opt": lambda: language(of(
        "OPTConfig", **WORDS, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, ffn_dim=32,
        word_embed_proj_dim=16)),
    "llama": lambda: language(of("LlamaConfig", **LANGUAGE)),
    "mistral": lambda: language(of("MistralConfig", **LANGUAGE, sliding_window=4, head_dim=8)),
    "qwen2": lambda: language(of("Qwen2Config", **LANGUAGE)),
    "gemma": lambda: language(of("GemmaConfig", **LANGUAGE, head_dim=8)),
    "vit": lambda: picture(of("ViTConfig", **SMALL, image_size=32, patch_size=8)),
    "clip-vision": lambda: (
        transformers.CLIPVisionModel(of("CLIPVisionConfig", **SMALL, image_size=32, patch_size=8)),
        ("pixel_values",), (torch.rand(2, 3, 32, 32),), {}),
    "resnet": lambda: picture(of(
        "ResNetConfig", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=5),
        LABELS),
    "mobilenet": lambda: picture(of("MobileNetV2Config", depth_multiplier=0.25, image_size=32, num_labels=5), LABELS),
    "convnext": lambda: picture(of("ConvNextConfig", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)),
    "swin": lambda: picture(of(
        "SwinConfig", image_size=32, patch_size=4, embed_dim=8, depths=[2, 1], num_heads=[2, 2], window_size=4)),
    "segformer": lambda: picture(of(
        "SegformerConfig", num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[8, 16],
        patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2])),
    "whisper-encoder": lambda: heard(of(
        "WhisperConfig", vocab_size=64, d_model=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=32,
        num_mel_bins=8, max_source_positions=12, decoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=32,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1), 2, 8, 24),
}


class First(nn.Module):
    """The first thing that a model returns, of these inputs."""

    def __init__(self, module: nn.Module, names: tuple[str, ...], options: dict[str, Any]) -> None:
        super().__init__()
        self.module, self.names, self.options = module, names, options

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.module(**dict(zip(self.names, inputs, strict=True)), **self.options)[0]


def build(name: str) -> tuple[nn.Module, tuple[str, ...], tuple[torch.Tensor, ...]]:
    """The model, its weights moved so that no two are alike, the names of its inputs, an example."""
    torch.manual_seed(0)
    module, names, inputs, options = MODELS[name]()
    deep = 0.05 if name == "mobilenet" else 0.2            # 50 layers: what is larger blows up on the way
    statistics = [(path, b) for path, b in module.named_buffers() if path.endswith(("running_mean", "running_var"))]
    with torch.no_grad():
        for path, held in [*module.named_parameters(), *statistics]:
            noise = torch.randn(held.shape) * deep
            held.copy_(noise.abs() + 0.5 if "running_var" in path else held + noise)
    return First(module.eval(), names, options).eval(), names, inputs


def export(name: str, exporter: str, path: str) -> None:
    """Export with sizes that vary: the batch, and the length of a text."""
    module, names, inputs = build(name)
    varying = {0: "B", 1: "T"} if inputs[0].dtype == torch.int64 else {0: "B"}
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        if exporter == "dynamo":
            shapes = (tuple({d: torch.export.Dim.DYNAMIC for d in varying} for _ in inputs),)
            torch.onnx.export(module, inputs, path, dynamo=True, dynamic_shapes=shapes, input_names=list(names),
                              external_data=False, verbose=False)
        else:
            torch.onnx.export(module, inputs, path, dynamo=False, dynamic_axes=dict.fromkeys(names, varying),
                              input_names=list(names), output_names=["out"], opset_version=17)


def row(name: str, exporter: str, seconds: float, folder: str) -> str:
    """One line of the table."""
    from samesame.capture.targets import load_target

    path = f"{folder}/{name}.{exporter}.onnx"
    if not Path(path).exists():
        try:
            export(name, exporter, path)
        except Exception as error:                         # an exporter's own failure is a result
            return f"| {name} | {exporter} | | not exported | {type(error).__name__} | | |"
    module, _, inputs = build(name)
    return f"| {name} | {exporter} | {compared(module, load_target(path), inputs, seconds, time.monotonic)} |"


def compared(module: Any, other: Any, inputs: Any, seconds: float, clock: Callable[[], float]) -> str:
    """What `check` says of two programs: operators, verdict, evidence, sizes that vary, seconds by the clock."""
    from samesame import check

    start = clock()
    verdict = check(module, other, inputs, timeout=seconds)
    took = clock() - start
    varying = "; ".join(said.split(" = ")[0] for said in verdict.sizes.varying) or "none"
    nodes = verdict.counts.get("right operators", 0)
    return f"{nodes} | {verdict.verdict} | {verdict.evidence} | {varying} | {took:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--keep", help="a folder for the files, which are not exported again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, exporter = given.one.split(":")
        print(row(name, exporter, given.seconds, given.keep), flush=True)
        return
    print("| model | exporter | operators | verdict | evidence | sizes that vary | seconds |")
    print("|---|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for name in given.names or MODELS:
            for exporter in EXPORTERS:
                command = [sys.executable, __file__, "--one", f"{name}:{exporter}", "--keep", given.keep or folder,
                           "--seconds", str(given.seconds)]
                found = subprocess.run(command, capture_output=True, text=True)
                told = found.stderr.strip().splitlines()[-1:] or [""]
                print(found.stdout.strip() or f"| {name} | {exporter} | | failed | {told[0][:120]} | | |", flush=True)


if __name__ == "__main__":
    main()
