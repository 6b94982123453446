"""Checkpoints: a folder with a config.json and weights, or a tiny twin of one that needs the config.json alone.

`hf:DIR?attn=eager` and `vllm:DIR?dtype=bfloat16` name a checkpoint for a library; what follows the question mark are
options, and every name that is no option of the library is a field of the config. A tiny twin keeps every flag of its
config and shrinks the sizes; every weight is random, biases and norm weights included, because a norm weight of one or
a bias of zero would hide that it was dropped. Nothing is ever fetched: a checkpoint is a folder on disk.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import torch
from torch import nn

from samesame.evidence import Refused

LIBRARIES = ("hf", "vllm")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
BATCH, TOKENS = 2, 12                       # requests, and tokens of each, of the example

# Options of every library, and of each by itself; all other names are fields of the config.
OPTIONS = {
    "hf": ("attn", "dtype", "experts"),
    "vllm": ("dtype", "custom_ops", "compiled", "block_size"),
}

# Sizes of a tiny twin by the names that configs have for them. Heads keep their grouping (see `shrunk`).
HEAD, HEADS, VOCABULARY, POSITIONS, WINDOW = 32, 4, 128, 64, 4
WIDTHS = ("intermediate_size", "ffn_dim", "n_inner", "moe_intermediate_size", "shared_expert_intermediate_size",
          "ffn_hidden_size")
SHRUNK: dict[tuple[str, ...], int] = {
    ("vocab_size",): VOCABULARY,
    ("max_position_embeddings", "n_positions", "n_ctx"): POSITIONS,
    ("num_hidden_layers", "n_layer", "n_layers"): 2,
    WIDTHS: 96,
    ("num_local_experts", "num_experts", "n_routed_experts"): 4,
    ("num_experts_per_tok",): 2,
    ("sliding_window",): WINDOW,
}
SPECIAL = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint as named on a command line: the library that loads it, where it lies, options, config fields."""

    library: str
    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    overrides: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    @property
    def dtype(self) -> torch.dtype:
        name = self.options.get("dtype", "float32")
        if name not in DTYPES:
            raise Refused(f"{self.text} asks for dtype {name}; give {', '.join(DTYPES)}")
        return DTYPES[name]

    @property
    def config(self) -> dict[str, Any]:
        """The config.json, without overrides."""
        return read_config(self.path)

    def in_folder(self, folder: Path) -> Checkpoint:
        return replace(self, path=folder)


def is_checkpoint(text: str) -> bool:
    """Whether a target names a checkpoint for a library."""
    return text.startswith(tuple(f"{library}:" for library in LIBRARIES))


def parse(text: str) -> Checkpoint:
    """The checkpoint that `hf:DIR?name=value&…` names. Values are JSON where they can be, else text; a dot in a name
    leads into a nested field. Raises Refused where there is no such folder, or an option is no `name=value`."""
    library, _, rest = text.partition(":")
    place, _, query = rest.partition("?")
    options: dict[str, Any] = {}
    overrides: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        if not name or not equals:
            raise Refused(f"{text} has the option {part!r}; write name=value, several joined by &")
        into = options if name in OPTIONS[library] else overrides
        *outer, last = name.split(".")
        for key in outer:
            into = into.setdefault(key, {})
        into[last] = _value(unquote(value))
    path = Path(place).expanduser()
    if not place or not path.exists():
        raise Refused(
            f"{text}: there is no folder {place or '(none given)'}; give one with a config.json (nothing is fetched)"
        )
    return Checkpoint(library, path, options, overrides, text)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"True": True, "False": False, "None": None}.get(text, text)


def read_config(path: Path) -> dict[str, Any]:
    """The config.json in a folder, or the JSON file itself. Raises Refused where there is none, or it is no config."""
    file = path if path.is_file() else path / "config.json"
    if not file.is_file():
        raise Refused(f"{path} has no config.json; give a checkpoint folder")
    try:
        found = json.loads(file.read_text())
    except ValueError as error:
        raise Refused(f"{file} is no JSON: {error}") from None
    if not isinstance(found, dict) or "model_type" not in found:
        raise Refused(f"{file} names no model_type; give the config.json of a Transformers checkpoint")
    return found


def merged(config: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The config with fields replaced, nested ones one by one."""
    found = dict(config)
    for name, value in overrides.items():
        inner = found.get(name)
        both = isinstance(value, Mapping) and isinstance(inner, Mapping)
        found[name] = merged(inner, value) if both else value          # type: ignore[arg-type]
    return found


@contextmanager
def offline() -> Iterator[None]:
    """Inside, nothing is looked up on a hub, and libraries speak up only for errors."""
    wanted = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def transformers() -> Any:
    """The package, quiet. Raises Refused where it is not installed."""
    try:
        with offline():
            found: Any = importlib.import_module("transformers")
    except ImportError as error:
        raise Refused(f"Transformers is not installed ({error}); pip install 'samesame[hf]'") from None
    found.utils.logging.set_verbosity_error()
    found.utils.logging.disable_progress_bar()
    return found


def config_of(path: Path, overrides: Mapping[str, Any], text: str = "") -> Any:
    """The Transformers config of a checkpoint with some fields replaced."""
    package = transformers()
    fields = merged(read_config(path), overrides)
    kind = fields.pop("model_type")
    label = text or str(path)
    if kind not in package.CONFIG_MAPPING:
        raise Refused(
            f"{label} has model_type {kind!r}, which Transformers {package.__version__} does not know; "
            "install a version that does"
        )
    try:
        return package.CONFIG_MAPPING[kind].from_dict(fields)
    except Exception as error:
        raise Refused(f"{label}: Transformers refuses the config: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """The first line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


# ---------------------------------------------------------------------------------------------------------------- tiny


def tiny(config: Any, folder: Path | str, overrides: Mapping[str, Any] | None = None, *, seed: int = 0) -> Path:
    """Write a tiny checkpoint with the architecture and the flags of `config` to `folder`, and return the folder.

    `config` is a checkpoint folder, a config.json, a dict with `model_type`, or a Transformers config object.
    `overrides` are config fields, given last: a size named there is not shrunk. Weights are float32, the same for the
    same config and seed. Raises Refused where Transformers does not know the model or refuses the config.
    """
    package = transformers()
    fields = shrunk(fields_of(config)) if overrides is None else merged(shrunk(fields_of(config)), overrides)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields))
    made = config_of(folder, {}, f"the tiny twin of {config if isinstance(config, str | Path) else 'the config'}")
    model: Any = build(package, made)
    randomise(model, seed)
    model.save_pretrained(folder)
    return folder


def build(package: Any, config: Any) -> nn.Module:
    """A causal language model of this config, with the weights that Transformers starts training from."""
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model: nn.Module = package.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    except Exception as error:
        raise Refused(f"Transformers cannot build a causal model of {config.model_type}: {one_line(error)}") from error
    return model.eval()


def fields_of(config: Any) -> dict[str, Any]:
    """The fields of a config, however it is given."""
    if isinstance(config, str | Path):
        return read_config(Path(config))
    fields = dict(config) if isinstance(config, Mapping) else config.to_dict()
    if "model_type" not in fields:
        raise Refused("the config names no model_type; give the config of a Transformers model")
    return fields


def shrunk(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The config with small sizes and every flag as it was.

    Heads stay grouped as they were where they were: two query heads share a key head, or all, or none. The head size is
    one that vLLM's CPU attention takes.
    """
    package = transformers()
    kind = fields.get("model_type")
    if kind not in package.CONFIG_MAPPING:
        raise Refused(f"model_type {kind!r} is not known to Transformers {package.__version__}")
    full = package.CONFIG_MAPPING[kind].from_dict({k: v for k, v in fields.items() if k != "model_type"})
    names = {**full.attribute_map, **{name: name for name in full.to_dict()}}
    found = {**full.to_dict(), **fields}
    for choices, size in SHRUNK.items():
        for name in choices:
            if isinstance(found.get(name), int) and not isinstance(found[name], bool):
                found[name] = size
    heads = names.get("num_attention_heads", "num_attention_heads")
    width = names.get("hidden_size", "hidden_size")
    old_heads, old_width = found.get(heads), found.get(width)
    found[heads], found[width] = HEADS, HEADS * HEAD
    if isinstance(groups := found.get("num_key_value_heads"), int) and isinstance(old_heads, int):
        found["num_key_value_heads"] = HEADS if groups == old_heads else 1 if groups == 1 else HEADS // 2
    if isinstance(found.get("head_dim"), int):
        found["head_dim"] = HEAD
    if found.get("word_embed_proj_dim") is not None:
        same = found["word_embed_proj_dim"] == old_width
        found["word_embed_proj_dim"] = found[width] if same else found[width] // 2
    layers = next(found[n] for n in SHRUNK_LAYERS if isinstance(found.get(n), int))
    for name, value in found.items():
        if isinstance(value, list) and name in PER_LAYER:
            found[name] = _few(value, layers)
    for name in ("rope_scaling", "rope_parameters"):
        found[name] = _short(found.get(name)) if found.get(name) else found.get(name)
    for name, token in SPECIAL.items():
        if found.get(name) is not None:
            found[name] = token
    found["dtype"] = "float32"
    return {name: value for name, value in found.items() if value is not None or name in fields}


SHRUNK_LAYERS = ("num_hidden_layers", "n_layer", "n_layers")
PER_LAYER = ("layer_types", "mlp_layer_types", "no_rope_layers")


def _few(pattern: list[Any], layers: int) -> list[Any]:
    """The first of each kind of layer, then the pattern from its start, so that two layers show both kinds."""
    kinds = list(dict.fromkeys(pattern))
    found = (kinds + pattern)[:layers] if len(kinds) <= layers else pattern[:layers]
    return found + [pattern[-1]] * (layers - len(found))


def _short(rope: Any) -> Any:
    """Rotary parameters whose original range is short, so that a few tokens go beyond it."""
    if not isinstance(rope, Mapping):
        return rope
    if any(isinstance(value, Mapping) for value in rope.values()):
        return {name: _short(value) for name, value in rope.items()}
    found = dict(rope)
    if "original_max_position_embeddings" in found:
        found["original_max_position_embeddings"] = TOKENS - 4
    return found


@torch.no_grad()
def randomise(model: nn.Module, seed: int) -> None:
    """Give every parameter random values around where its module starts: of unit gain for matrices, around one or
    zero for norm weights and biases."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() == 1:
            first = parameter.view(-1)[0].item()
            start = first if torch.equal(parameter, torch.full_like(parameter, first)) else 0.0
            parameter.copy_(start + 0.2 * noise)
        else:
            parameter.copy_(noise * parameter.shape[-1] ** -0.5)


def example(vocabulary: int, *, batch: int = BATCH, tokens: int = TOKENS, seed: int = 1) -> dict[str, torch.Tensor]:
    """Example inputs of a language model: `input_ids` [batch, tokens] int64, none of them a special token."""
    generator = torch.Generator().manual_seed(seed)
    return {"input_ids": torch.randint(min(3, vocabulary - 1), vocabulary, (batch, tokens), generator=generator)}
