"""Small sizes for a config: every flag as it was, and what belongs together still together.

A config says one size in several places (a width that is four hidden ones, heads and their keys, one entry for each
layer in several lists), and its class refuses what does not fit. So the config is first read as its class reads it,
then only those fields are changed that the class declares or the config gives, and the class works out the rest anew.
Names differ between architectures and sizes do not: the tables have each name once, and aliases are followed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

TOKENS = 12                                 # of each request of an example
SHORT = TOKENS - 4                          # the original range of scaled rotary positions: examples go beyond it
# Heads of 32 are what vLLM's attention takes on a CPU. Heads keep their grouping.
HEAD, HEADS, VOCABULARY, POSITIONS, WINDOW, LAYERS, MOST_LAYERS = 32, 4, 128, 64, 4, 2, 4
WIDTH, INNER = HEADS * HEAD, 96

SIZES: dict[tuple[str, ...], int] = {
    ("vocab_size", "vocab_size_per_layer_input"): VOCABULARY,
    ("max_position_embeddings", "n_positions", "n_ctx"): POSITIONS,
    ("sliding_window",): WINDOW,
    ("hidden_size", "encoder_hidden_size", "projection_dim", "projection_size"): WIDTH,     # one is another's
    ("num_attention_heads", "swa_num_attention_heads", "encoder_attention_heads", "decoder_attention_heads",
     "encoder_num_attention_heads"): HEADS,
    ("max_source_positions",): TOKENS,
    ("max_target_positions",): POSITIONS,
    ("q_lora_rank",): 2 * HEAD,
    ("hidden_size_per_layer_input", "linear_key_head_dim", "linear_value_head_dim", "swa_head_dim"): HEAD,
    ("mamba_d_state", "state_size", "ssm_state_size", "laurel_rank", "adapter_rank", "mamba_d_head"): 16,
    ("chunk_size", "mamba_chunk_size"): 8,
    ("block_multiple_of", "mamba_head_dim"): HEAD,
}
# At most so much of what is there: experts of a token, groups, dense layers before the experts.
AT_MOST: dict[tuple[str, ...], int] = {
    ("num_experts_per_tok", "top_k_experts", "moe_top_k", "zero_expert_num"): 2,
    ("n_groups", "mamba_n_groups", "mamba_ngroups", "n_group", "linear_num_key_heads"): 2,
    ("n_mamba_heads", "linear_num_value_heads"): 4,
    ("first_k_dense_replace", "num_dense_layers"): 1,
    ("decoder_layers", "encoder_layers", "num_decoder_layers", "encoder_num_hidden_layers"): LAYERS,
    ("num_detection_tokens", "num_queries", "num_conv_pos_embedding_groups"): 4,
    ("image_text_hidden_size", "num_conv_pos_embeddings", "decoder_hidden_size"): 16,
}
WIDTHS = ("intermediate_size", "ffn_dim", "n_inner", "moe_intermediate_size", "shared_expert_intermediate_size",
          "ffn_hidden_size", "shared_intermediate_size", "intermediate_size_mlp", "expert_ffn_hidden_size",
          "moe_shared_expert_intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff")
KEPT_MULTIPLES = (1, 2, 4)                  # of the hidden size, which architectures take for granted
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
GROUPED = ("num_key_value_heads", "num_kv_heads", "kv_n_heads", "swa_num_key_value_heads",
           "encoder_num_key_value_heads")
COUNTS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")   # of layers
STATE_HEADS = (("mamba_n_heads", "mamba_d_head"), ("mamba_num_heads", "mamba_head_dim"), ("num_heads", "head_dim"))
TOKEN_IDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
# Lists that name layers by their numbers; every other list with an entry for each layer is one of kinds.
NUMBERED = ("moe_layers", "full_attn_idxs", "hybrid_layer_ids", "mlp_only_layers", "ple_layer_ids")
NOT_NESTED = ("_name_or_path", "output_attentions", "transformers_version")

# What a model cuts into patches: how many it keeps of each of its sides, at most; a series, as many patches.
IMAGE_PATCHES, SERIES_PATCHES = (2, 3), 4
STAGED_IMAGE, STAGED_WIDTH, STAGED_WINDOW = 64, 64, 2      # of models whose stages have widths of their own
TOKEN_NAMES = ("_token_id", "_token_index")

ROPE_SIZES = {"original_max_position_embeddings": SHORT, "max_position_embeddings": POSITIONS}

# What checkpoints of a kind say beside the fields of Transformers' class, and vLLM reads: Transformers' model does it
# always, or the class has it in other words. A twin says it as well, so that both libraries are told the same.
CARRIED: dict[str, dict[str, Callable[[Any], Any]]] = {
    "afmoe": {
        "score_func": lambda config: "sigmoid",
        "route_norm": lambda config: True,
        "n_group": lambda config: 1,
        "topk_group": lambda config: 1,
    },
    "deepseek_v2": {"n_group": lambda config: 1, "topk_group": lambda config: 1},
    "deepseek_v3": {"scoring_func": lambda config: "sigmoid", "topk_method": lambda config: "noaux_tc"},
    "glm4_moe": {"head_dim": lambda config: HEAD},
    "glm4_moe_lite": {
        "first_k_dense_replace": lambda config: config.mlp_layer_types.count("dense"),
        "topk_method": lambda config: "noaux_tc",
    },
    "hy_v3": {
        "first_k_dense_replace": lambda config: config.mlp_layer_types.count("dense"),
        "expert_hidden_dim": lambda config: config.moe_intermediate_size,
        "route_norm": lambda config: True,
        "qk_norm": lambda config: True,
    },
    "lfm2": {"block_dim": lambda config: config.hidden_size, "conv_dim": lambda config: config.hidden_size},
    "lfm2_moe": {"layer_types": lambda config: ["conv", "full_attention"]},
    "longcat_flash": {
        "mla_scale_q_lora": lambda config: True,
        "mla_scale_kv_lora": lambda config: True,
        "zero_expert_type": lambda config: "identity",
    },
    "mimo_v2_flash": {
        "hybrid_layer_pattern": lambda config: [int(kind == "sliding_attention") for kind in config.layer_types],
        "moe_layer_freq": lambda config: [int(kind == "sparse") for kind in config.mlp_layer_types],
        "layernorm_epsilon": lambda config: config.rms_norm_eps,
        "sliding_window_size": lambda config: config.sliding_window,
        "swa_head_dim": lambda config: config.head_dim,
        "swa_v_head_dim": lambda config: config.v_head_dim,
        "swa_num_attention_heads": lambda config: config.num_attention_heads,
        "swa_num_key_value_heads": lambda config: config.num_key_value_heads,
        "rope_theta": lambda config: config.rope_parameters["full_attention"]["rope_theta"],
        "swa_rope_theta": lambda config: config.rope_parameters["sliding_attention"]["rope_theta"],
        "partial_rotary_factor": lambda config: config.rope_parameters["full_attention"]["partial_rotary_factor"],
        "add_swa_attention_sink_bias": lambda config: True,
    },
    "minimax_m2": {
        "rotary_dim": lambda config: int(config.head_dim * config.rope_parameters.get("partial_rotary_factor", 1)),
        "scoring_func": lambda config: "sigmoid",
        "use_routing_bias": lambda config: True,
    },
}


def shrunk(kind: Any, fields: Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All fields of a small config of the class `kind` that has the flags of `fields`; `overrides` are taken as they
    are."""
    given, fixed = (
        {kind.attribute_map.get(name, name): value for name, value in said.items() if name != "model_type"}
        for said in (fields, overrides or {})
    )
    changes = Shrinking(kind.from_dict(dict(given)), given, fixed).changes()
    small = kind.from_dict(merged({**given, **changes}, fixed))
    for name, follows in CARRIED.get(kind.model_type, {}).items():
        if name not in fixed and getattr(small, name, None) is None:
            setattr(small, name, follows(small))
    return written(small)


def merged(config: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The config with fields replaced, nested ones one by one."""
    found = dict(config)
    for name, value in overrides.items():
        inner = found.get(name)
        both = isinstance(value, Mapping) and isinstance(inner, Mapping)
        found[name] = merged(inner, value) if both else value          # type: ignore[arg-type]
    return found


def written(config: Any) -> dict[str, Any]:
    """A config as its config.json has it."""
    found: dict[str, Any] = json.loads(config.to_json_string(use_diff=False), object_hook=number)
    for name in config.sub_configs:
        if isinstance(inner := found.get(name), dict):
            found[name] = {field: value for field, value in inner.items() if field not in NOT_NESTED}
    return found


def number(found: dict[str, Any]) -> Any:
    """An infinity as Transformers writes it to JSON, as a number; other objects as they are."""
    return float(found["__float__"]) if found.keys() == {"__float__"} else found


class Shrinking:
    """The changes that make one config small. `full` is the config as its class reads it, `given` what was said of it,
    and `fixed` what it will say whatever comes out here. A config within another one looks there for what it lacks."""

    def __init__(
        self, full: Any, given: Mapping[str, Any], fixed: Mapping[str, Any], outer: Shrinking | None = None
    ) -> None:
        self.full, self.fixed, self.outer = full, fixed, outer
        aliases = {name for name, real in type(full).attribute_map.items() if name != real}
        self.fields = {*type(full).__dataclass_fields__, *given} - aliases
        self.put: dict[str, Any] = {}
        if hasattr(full, "allow_global_per_layer_attribute_access"):
            full.allow_global_per_layer_attribute_access = True      # what it says beside the layers that differ

    def real(self, name: str) -> str:
        return str(self.full.attribute_map.get(name, name))

    def before(self, name: str) -> Any:
        """What the config says, or the one around it."""
        found = getattr(self.full, self.real(name), None)
        return self.outer.before(name) if found is None and self.outer is not None else found

    def now(self, name: str) -> Any:
        """What it will say."""
        found = {**self.put, **self.fixed}.get(self.real(name))
        if found is None and self.outer is not None:
            found = self.outer.now(name)
        return self.before(name) if found is None else found

    def set(self, name: str, value: Any) -> None:
        """Change a field that the class has or the config gives."""
        if self.real(name) in self.fields:
            self.put[self.real(name)] = value

    def size(self, name: str) -> int:
        """A positive number, or zero where the config has none."""
        found = getattr(self.full, self.real(name), None)
        return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0

    def head(self) -> int:
        """The width of an attention head, where all have one."""
        heads = self.before("num_attention_heads")
        shared = (self.before("hidden_size") or 0) // heads if isinstance(heads, int) and heads else 0
        return self.size("head_dim") or shared

    def changes(self) -> dict[str, Any]:
        for names, value in SIZES.items():
            for name in filter(self.size, names):
                self.set(name, value)
        for names, most in AT_MOST.items():
            for name in filter(self.size, names):
                self.set(name, min(self.size(name), most))
        for part in (self.layers, self.stages, self.heads, self.states, self.widths, self.patches, self.experts,
                     self.positions, self.tokens, self.nested):
            part()
        for name, token in TOKEN_IDS.items():
            if getattr(self.full, name, None) is not None:
                self.set(name, token)
        self.set("dtype", "float32")
        return self.put

    def layers(self) -> None:
        """Two layers, or as many as there are kinds; each list with an entry for each layer has those of the layers
        that are kept: the first of each kind, then from the start."""
        if isinstance(getattr(self.full, "depths", None), list | tuple):
            return
        count = next((name for name in COUNTS if self.real(name) in self.fields and self.size(name)), "")
        lists = {name: value for name in sorted(self.fields - {*NUMBERED})
                 if isinstance(value := getattr(self.full, name, None), list)}
        if self.size("num_layers_per_stack"):              # stacks that are run several times over
            self.put |= {"num_layers_per_stack": None, self.real(count): 1}
            return
        old = self.size(count) or max(map(len, lists.values()), default=0)
        if not old:
            return
        lists = {name: value for name, value in lists.items() if len(value) == old}
        kinds = list(zip(*lists.values(), strict=True)) or [()] * old
        first = [kinds.index(kind) for kind in dict.fromkeys(kinds)]
        shown = self.shown(old)
        wanted = self.fixed.get(self.real(count)) or max(LAYERS, min(max(len(first), len(shown)), MOST_LAYERS))
        kept = (first + list(range(old)) + [old - 1] * wanted)[:wanted]
        self.set(count, wanted)
        for name, value in lists.items():
            self.set(name, [value[layer] for layer in kept])
        for name in NUMBERED:
            if isinstance(numbers := getattr(self.full, name, None), list):
                self.set(name, [at for at, layer in enumerate(kept) if layer in numbers])
        if each := self.full.to_dict().get("per_layer_config"):
            own = {int(layer): fields for layer, fields in each.items()}
            scale = Fraction(HEAD, self.size("head_dim") or HEAD)
            self.put["per_layer_config"] = {
                at: {name: int(value * scale) if name == "head_dim" else value for name, value in own[layer].items()}
                for at, layer in enumerate(kept) if layer in own
            }
        if shown:
            names = self.full.stage_names[:wanted + 1]
            self.put |= {"stage_names": names, "out_features": names[-len(shown):],
                         "out_indices": list(range(len(names)))[-len(shown):]}
        if self.size("moe_layer_end_index"):
            self.set("moe_layer_end_index", wanted - 1)
        if self.size("num_kv_shared_layers"):
            self.set("num_kv_shared_layers", wanted // 2)

    def shown(self, layers: int) -> list[str]:
        """The layers of a backbone that others read from, where each is named and the config says which: a small one
        shows as many of its last."""
        names = getattr(self.full, "stage_names", None) or []
        return (self.full.out_features or []) if len(names) == layers + 1 and "out_features" in self.fields else []

    def stages(self) -> None:
        """All stages, with one or two layers each; their widths in the same proportion, divisible as they were."""
        depths = getattr(self.full, "depths", None)
        if not isinstance(depths, list | tuple):
            return
        self.set("depths", [min(depth, LAYERS) for depth in depths])
        heads = getattr(self.full, self.real("num_attention_heads"), None)
        widths = getattr(self.full, "hidden_sizes", None) or []
        shared = heads if isinstance(heads, list | tuple) else [1] * len(widths)
        times = range(1, max(widths, default=0) // STAGED_WIDTH + 1)
        fits = [n for n in times if all(w % (n * count) == 0 for w, count in zip(widths, shared, strict=True))]
        by = max(fits, default=1)
        if self.size("window_size"):
            self.set("window_size", min(self.size("window_size"), STAGED_WINDOW))
        if by > 1:
            self.set("hidden_sizes", [width // by for width in widths])
            if self.size("embedding_size"):
                self.set("embedding_size", max(self.size("embedding_size") // by, 1))

    def heads(self) -> None:
        """Two query heads share a key head where some did, or all, or none."""
        old, new = self.before("num_attention_heads"), self.now("num_attention_heads")
        if isinstance(old, list | tuple):                  # of each stage
            return
        for name in GROUPED:
            groups = self.size(name)
            if groups or (name in self.fields and self.before("num_attention_heads") and not groups):
                self.set(name, 1 if groups == 1 else new // 2 if 0 < groups != old else new)
        if isinstance(each := getattr(self.full, "num_attention_heads_per_layer", None), list) and each:
            self.set("num_attention_heads_per_layer", [new] * len(self.now("num_attention_heads_per_layer")))
        if self.size("qk_rope_head_dim"):                  # latent attention: its kernel takes few sizes, and these
            return
        width = self.head()
        if self.size("head_dim"):
            self.set("head_dim", HEAD)
        if self.size("v_head_dim"):
            self.set("v_head_dim", HEAD if self.size("v_head_dim") == width else HEAD // 2)
        if self.size("rotary_dim"):
            self.set("rotary_dim", HEAD * self.size("rotary_dim") // width)

    def states(self) -> None:
        """Heads of a state-space layer together are as wide as its inner width says."""
        inner = (self.size("mamba_expand") or self.size("expand") or 2) * (self.now("hidden_size") or 0)
        for heads, width in STATE_HEADS:
            if self.size(heads) and self.size(width):
                count = 2 * HEADS if self.size("mamba_d_ssm") else inner // self.now(width)
                self.set(heads, count)
                if self.size("mamba_d_ssm"):
                    self.set("mamba_d_ssm", count * self.now(width))

    def widths(self) -> None:
        old, new = self.before("hidden_size"), self.now("hidden_size")
        for name in WIDTHS:
            if isinstance(each := self.now(name), list):
                self.set(name, [INNER] * len(each))
            elif size := self.size(name):
                times = size // old if old else 0
                self.set(name, times * new if times in KEPT_MULTIPLES and size % old == 0 else INNER)
        for name in ("word_embed_proj_dim", "embedding_size"):
            if new and (size := self.size(name)):
                self.set(name, new if size == old else new // 2)

    def patches(self) -> None:
        """A few patches of an image, a spectrogram or a series, where there are more."""
        patch = self.size("patch_size")
        if (image := getattr(self.full, "image_size", None)) is not None:
            staged = hasattr(self.full, "depths") or hasattr(self.full, "hidden_sizes") or not patch
            most = [STAGED_IMAGE] * 2 if staged else [count * patch for count in IMAGE_PATCHES]
            if isinstance(image, list | tuple):
                self.set("image_size", [min(pair) for pair in zip(image, most, strict=True)])
            elif isinstance(image, int):
                self.set("image_size", min(image, most[0]))
        if stride := self.size("time_stride"):
            self.set("max_length", min(self.size("max_length"), patch + 2 * stride))
            self.set("num_mel_bins", min(self.size("num_mel_bins"), patch + self.size("frequency_stride")))
        if patch := self.size("patch_length"):
            self.set("context_length", min(self.size("context_length"), SERIES_PATCHES * patch))

    def tokens(self) -> None:
        """Tokens that stand for images and the like are the last ones, where they would be none of the vocabulary."""
        last = VOCABULARY
        for name in sorted(self.fields):
            if name.endswith(TOKEN_NAMES) and name not in TOKEN_IDS and self.size(name) >= VOCABULARY:
                last -= 1
                self.set(name, last)

    def experts(self) -> None:
        """A few experts; where they stand in groups, of which a token chooses one, enough for two in each."""
        grouped = self.size("n_group") > 1
        count = max((self.size(name) for name in EXPERTS), default=0)
        for name in filter(self.size, EXPERTS):
            self.set(name, min(count, 8 if grouped else 4))
        if count and self.before("num_experts_per_tok") is None:
            self.set("num_experts_per_tok", 2)
        if grouped:
            self.set("topk_group", 1)

    def positions(self) -> None:
        """Rotary parameters whose original range is short, so that a few tokens go beyond it."""
        share = Fraction(HEAD, self.head() or HEAD)
        for name in ("rope_scaling", "rope_parameters"):
            if isinstance(rope := getattr(self.full, name, None), Mapping):
                self.set(name, short(rope, share))
        if self.size("original_max_position_embeddings"):
            self.set("original_max_position_embeddings", SHORT)

    def nested(self) -> None:
        for name in self.full.sub_configs:
            inner = getattr(self.full, name, None)
            if inner is not None:
                plain = {field: value for field, value in inner.to_dict().items() if field not in NOT_NESTED}
                self.set(name, {**plain, **Shrinking(inner, plain, {}, self).changes()})


def short(rope: Mapping[str, Any], share: Fraction) -> dict[str, Any]:
    """Rotary parameters of a short original range, and of heads of which only this share is left: one factor for each
    of their angles, and as many angles in each section."""
    if any(isinstance(value, Mapping) for value in rope.values()):
        return {name: short(value, share) if isinstance(value, Mapping) else value for name, value in rope.items()}
    found = {**rope, **{name: size for name, size in ROPE_SIZES.items() if name in rope}}
    for name in ("short_factor", "long_factor"):
        if isinstance(each := rope.get(name), list):
            found[name] = [each[int(n / share)] for n in range(int(len(each) * share))]
    if isinstance(each := rope.get("mrope_section"), list):
        found["mrope_section"] = [int(size * share) for size in each]
    return found
