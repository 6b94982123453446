"""Checkpoints: a folder with a config.json and weights, or a tiny twin of one that needs the config.json alone.

`hf:DIR?attn=eager` and `vllm:DIR?dtype=bfloat16` name a checkpoint for a library; what follows the question mark are
options, and every name that is no option of the library is a field of the config. A tiny twin keeps every flag of its
config and shrinks the sizes; every weight is random, biases and norm weights included, because a norm weight of one or
a bias of zero would hide that it was dropped. Nothing is ever fetched: a checkpoint is a folder on disk.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd

from samesame.capture.checkpoints.classes import Built, built_for
from samesame.capture.checkpoints.shrinking import TOKENS, merged, number, shrunk
from samesame.evidence import Refused
from samesame.supervised import surrounded

LIBRARIES = ("hf", "vllm")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
BATCH = 2                                   # requests of the example

# Options of every library, and of each by itself; all other names are fields of the config.
OPTIONS = {
    "hf": ("attn", "dtype", "experts"),
    "vllm": ("dtype", "custom_ops", "compiled", "block_size"),
}


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
        found = json.loads(file.read_text(), object_hook=number)
    except ValueError as error:
        raise Refused(f"{file} is no JSON: {error}") from None
    if not isinstance(found, dict) or "model_type" not in found:
        raise Refused(f"{file} names no model_type; give the config.json of a Transformers checkpoint")
    return found


@contextmanager
def offline() -> Iterator[None]:
    """Inside, nothing is looked up on a hub, and libraries speak up only for errors."""
    with surrounded({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}):
        yield


def transformers() -> Any:
    """The package, quiet. Raises Refused where it is not installed."""
    try:
        with offline():
            found: Any = importlib.import_module("transformers")
    except ImportError as error:
        raise Refused(f"hf: needs Transformers ({error}): pip install 'samesame[hf]'") from None
    found.utils.logging.set_verbosity_error()
    found.utils.logging.disable_progress_bar()
    return found


def config_of(path: Path, overrides: Mapping[str, Any], text: str = "") -> Any:
    """The Transformers config of a checkpoint with some fields replaced."""
    package = transformers()
    fields = read_config(path)
    kind = fields.pop("model_type")
    label = text or str(path)
    if kind not in package.CONFIG_MAPPING:
        raise Refused(
            f"{label} has model_type {kind!r}, which Transformers {package.__version__} does not know; "
            "install a version that does"
        )
    try:
        return package.CONFIG_MAPPING[kind].from_dict({**fields, **in_full(path, overrides)})
    except Exception as error:
        raise Refused(f"{label}: Transformers refuses the config: {one_line(error)}") from error


def in_full(path: Path, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that replace others, each with all that it has: a nested one keeps what is not replaced, be that said in
    the checkpoint's config or only by its class."""
    if not any(isinstance(value, Mapping) for value in overrides.values()):
        return dict(overrides)
    whole = config_of(path, {}).to_dict()
    nested = {name: whole.get(name) for name, value in overrides.items() if isinstance(value, Mapping)}
    return merged({name: value for name, value in nested.items() if isinstance(value, Mapping)}, overrides)


def one_line(error: BaseException) -> str:
    """What an error says: its first line, and what follows a colon at its end."""
    said: list[str] = []
    for line in filter(None, map(str.strip, str(error).splitlines())):
        said.append(line)
        if not line.endswith(":"):
            break
    return " ".join(said) or type(error).__name__


# ---------------------------------------------------------------------------------------------------------------- tiny


def tiny(config: Any, folder: Path | str, overrides: Mapping[str, Any] | None = None, *, seed: int = 0) -> Path:
    """Write a tiny checkpoint with the architecture and the flags of `config` to `folder`, and return the folder.

    `config` is a checkpoint folder, a config.json, a dict with `model_type`, or a Transformers config object.
    `overrides` are config fields, given last: a size named there is not shrunk. Weights are float32, the same for the
    same config and seed. Raises Refused where Transformers does not know the model or refuses the config.
    """
    package = transformers()
    fields = small(fields_of(config), overrides)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields))
    made = config_of(folder, {}, f"the tiny twin of {config if isinstance(config, str | Path) else 'the config'}")
    built = built_for(package, made)
    model: Any = build(built, made)
    randomise(model, seed)
    model.save_pretrained(folder)
    if not built.bare:
        fields["architectures"] = [type(model).__name__]
    (folder / "config.json").write_text(json.dumps(fields))       # all fields, for classes differ in defaults
    return folder


def build(built: Built, config: Any) -> nn.Module:
    """The model of this config, with the weights that Transformers starts training from."""
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model: nn.Module = built.from_config(config, torch.float32)
    except Exception as error:
        raise Refused(f"Transformers cannot build a model of {config.model_type}: {one_line(error)}") from error
    return model.eval()


def fields_of(config: Any) -> dict[str, Any]:
    """The fields of a config, however it is given."""
    if isinstance(config, str | Path):
        return read_config(Path(config))
    fields = dict(config) if isinstance(config, Mapping) else config.to_dict()
    if "model_type" not in fields:
        raise Refused("the config names no model_type; give the config of a Transformers model")
    return fields


def small(fields: Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The fields of a small config with every flag as it was; `overrides` are given last."""
    package, kind = transformers(), fields.get("model_type")
    if kind not in package.CONFIG_MAPPING:
        raise Refused(f"model_type {kind!r} is not known to Transformers {package.__version__}")
    try:
        return shrunk(package.CONFIG_MAPPING[kind], fields, overrides)
    except Exception as error:
        raise Refused(f"Transformers refuses the config of {kind}, made small: {one_line(error)}") from error


@torch.no_grad()
def randomise(model: nn.Module, seed: int) -> None:
    """Give every weight random values around where its module starts: of unit gain for matrices, around one or zero
    for norm weights and biases. Buffers that a checkpoint stores are weights, too: a router's bias of zeros would hide
    that it was dropped."""
    generator = torch.Generator().manual_seed(seed)
    kernels = {id(part.weight): part.weight[0].numel() for part in model.modules() if isinstance(part, _ConvNd)}
    for weight in (*model.parameters(), *stored_buffers(model)):
        noise = torch.randn(weight.shape, generator=generator)
        if not weight.numel():
            continue
        if weight.dim() <= 1:
            first = weight.view(-1)[0].item()
            start = first if torch.equal(weight, torch.full_like(weight, first)) else 0.0
            weight.copy_(start + 0.2 * noise)
        else:
            weight.copy_(noise * kernels.get(id(weight), weight.shape[-1]) ** -0.5)


def stored_buffers(model: nn.Module) -> list[torch.Tensor]:
    """Buffers of real numbers that a checkpoint stores."""
    stored = model.state_dict()
    return [buffer for name, buffer in model.named_buffers()
            if name in stored and buffer.is_floating_point() and buffer.numel()]


def example(vocabulary: int, *, batch: int = BATCH, tokens: int = TOKENS, seed: int = 1) -> dict[str, torch.Tensor]:
    """Example inputs of a language model: `input_ids` [batch, tokens] int64, none of them a special token."""
    generator = torch.Generator().manual_seed(seed)
    return {"input_ids": torch.randint(min(3, vocabulary - 1), vocabulary, (batch, tokens), generator=generator)}
