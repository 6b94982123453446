"""Names: which tensors of a checkpoint a GGUF tensor is made of, and what llama.cpp does to them on the way.

The names are gguf's own table. What is done is little: rows of q and k are put into llama.cpp's order for rotary
positions (Llama, Mistral), Gemma's norms are stored with the 1 that they are added to, GPT-2's matrices are transposed,
experts are stacked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from samesame.evidence import Refused

# llama.cpp's names of architectures, by Transformers' model types.
ARCHITECTURES = {
    "llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen2_moe": "qwen2moe",
    "qwen3_moe": "qwen3moe", "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3", "gemma3_text": "gemma3",
    "gpt2": "gpt2",
}
LEFT_OUT = re.compile(r"rotary_emb\.inv_freq$|\.attn\.(masked_)?bias$")          # what llama.cpp makes for itself
EXPERT = re.compile(r"\.experts\.(\d+)\.")
MADE = ("rope_freqs.weight",)                              # computed from the config


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to a tensor on its way into the file, in words."""

    words: str
    make: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Source:
    """The tensors of the checkpoint that one in the file is made of (several are stacked), and the change."""

    names: tuple[str, ...]
    change: Change | None = None


def rotary(heads: int) -> Change:
    """Rows of a head from halves that turn together to neighbours that do."""

    def permuted(weight: Any) -> Any:
        rows = weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
        return rows.swapaxes(1, 2).reshape(weight.shape)

    return Change(f"permuted: rows of {heads} heads in the order of llama.cpp's rotary positions", permuted)


def one_more(weight: Any) -> Any:
    return weight + 1                                      # in its own dtype, as llama.cpp's converter does


PLUS_ONE = Change("with 1 added, as Gemma's norms are stored", one_more)
TRANSPOSED = Change("transposed", lambda weight: weight.T)


def change_of(architecture: str, name: str, config: Mapping[str, Any], shape: tuple[int, ...]) -> Change | None:
    """What llama.cpp does to the tensor of this name in the file, where a checkpoint's tensor has this shape."""
    if architecture == "llama" and ".attn_q." in name:
        return rotary(heads_of(config, "num_attention_heads", shape))
    if architecture == "llama" and ".attn_k." in name:
        own = config.get("num_key_value_heads") is not None
        return rotary(heads_of(config, "num_key_value_heads" if own else "num_attention_heads", shape))
    if architecture in ("gemma", "gemma2", "gemma3") and name.endswith("norm.weight"):
        return PLUS_ONE
    if architecture == "gpt2" and len(shape) == 2 and name.startswith("blk."):
        return TRANSPOSED
    return None


def heads_of(config: Mapping[str, Any], field: str, shape: tuple[int, ...]) -> int:
    """The heads that a field of the config says, which have an even number of rows each: halves of them turn
    together."""
    heads = whole(config, field)
    if heads == 0 or shape[0] % (2 * heads):
        raise Refused(f"config.json says {heads} for {field}, and a weight of {list(shape)} has no even number of rows "
                      "for each head; give the config that belongs to these weights")
    return heads


def whole(config: Mapping[str, Any], field: str) -> int:
    """A number of the config, which llama.cpp's order of tensors hangs on."""
    found = config.get(field)
    if found is None:
        raise Refused(f"config.json has no {field}; give the config that belongs to these weights")
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise Refused(f"config.json says {found!r} for {field}; a whole number is asked for")
    return found


def sources(architecture: str, shapes: Mapping[str, tuple[int, ...]], config: Mapping[str, Any]) -> dict[str, Source]:
    """For each tensor that the file should have, what it is made of; `shapes` are those of the checkpoint's tensors.
    Raises Refused where gguf has no name for one."""
    import gguf

    which = next((key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture), None)
    if which is None:
        raise Refused(f"gguf knows no architecture {architecture}")
    layers = whole(config, "n_layer" if "n_layer" in config else "num_hidden_layers")
    table = gguf.get_tensor_name_map(which, layers)
    parts: dict[str, dict[int, str]] = {}
    for name in shapes:
        if LEFT_OUT.search(name):
            continue
        expert = EXPERT.search(name)
        stem = EXPERT.sub(".experts.", name)
        known = table.get_name(stem, try_suffixes=(".weight", ".bias"))
        if known is None and name == "lm_head.weight" and config.get("tie_word_embeddings", True):
            continue                                       # the embedding once more
        if known is None:
            raise Refused(f"gguf has no name for {name} of a {architecture} whose config.json says {layers} for its "
                          "layers; give the config that belongs to these weights")
        parts.setdefault(known, {})[int(expert[1]) if expert else 0] = name
    return {name: Source(tuple(found[k] for k in sorted(found)),
                         change_of(architecture, name, config, shapes[found[min(found)]]))
            for name, found in parts.items()}


def fields_of(config: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The fields of a checkpoint's language model."""
    nested = config.get("text_config", config)
    if not isinstance(nested, Mapping):
        raise Refused(f"{text}: config.json says {nested!r} for text_config; its fields are asked for")
    return {**nested, "model_type": config["model_type"]}


def architecture_of(config: Mapping[str, Any], text: str) -> str:
    """llama.cpp's name for a checkpoint's architecture."""
    found = ARCHITECTURES.get(str(config.get("model_type")))
    if found is None:
        raise Refused(f"{text} is a {config.get('model_type')}; which of its weights GGUF changes is known for "
                      f"{', '.join(sorted(ARCHITECTURES))}")
    return found


def others(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """The checkpoint's tensors that go by the same name in other layers."""
    patterns = {re.sub(r"\d+", "#", name) for name in names}
    return [name for name in known if re.sub(r"\d+", "#", name) in patterns and name not in set(names)]
