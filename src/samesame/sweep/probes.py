"""Probes: which fields of a config get which other values.

A config class says itself which fields it has, of which type, and with which default. From that follows what to try:
a flag is flipped, an activation is replaced by the others, a scale is scaled, a window is moved, each kind of rotary
scaling is switched on. The tables below hold the values by the name of a field, else by its type. Some fields do
nothing unless others are set; those are a probe's companions. Fields that say nothing of what is computed, and sizes,
are left out, each with the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from itertools import product
from typing import Any, Literal, get_args, get_origin

from samesame.capture.checkpoints.folders import small, transformers
from samesame.capture.checkpoints.shrinking import COUNTS, HEAD, HEADS, POSITIONS, SHORT, WINDOW, merged
from samesame.evidence import Refused
from samesame.sweep.probe import Plan, Probe

FACTOR = POSITIONS / SHORT                  # by which the range of a tiny twin is then longer

ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "quick_gelu", "relu", "relu2", "silu", "tanh",
               "sigmoid", "mish")

# Values by the name of a field: the first pattern that fits.
VALUES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("hidden_act*", ACTIVATIONS),
    ("activation_function", ACTIVATIONS),
    ("*_activation", ACTIVATIONS),
    ("*_eps", (0.1, 1e-3)),
    ("*_epsilon", (0.1, 1e-3)),
    ("*softcapping", (None, 2.0)),
    ("query_pre_attn_scalar", (7, 100)),
    ("num_key_value_heads", (1, HEADS // 2, HEADS)),
    ("head_dim", (2 * HEAD,)),
    ("sliding_window", (None, 1, 3, WINDOW, 2 * WINDOW)),
    ("max_window_layers", (0, 1, 2)),
    ("num_experts_per_tok", (1, 3)),
    ("initializer_range", (0.3,)),
    ("*dropout*", (0.3,)),
    ("*_pdrop", (0.3,)),
    ("*aux_loss*", (0.3,)),
)

# Fields that do nothing unless others are set, and these with their values. Only fields that the config has are set.
WINDOWED = {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 1}
COMPANIONS: dict[str, dict[str, Any]] = {
    "use_sliding_window": {"sliding_window": WINDOW, "max_window_layers": 1, "layer_types": None},
    "sliding_window": {"use_sliding_window": True, "max_window_layers": 1},
    "max_window_layers": {"use_sliding_window": True, "sliding_window": WINDOW, "layer_types": None},
    "layer_types": WINDOWED,
}
DERIVED = ("layer_types",)                  # made from the companions anew, where the config has use_sliding_window

# Kinds of rotary scaling with what each needs; half of a head's dimensions are angles.
ANGLES = HEAD // 2
ROPES: dict[str, dict[str, Any]] = {
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": FACTOR, "original_max_position_embeddings": SHORT},
    "longrope": {
        "factor": FACTOR,
        "original_max_position_embeddings": SHORT,
        "short_factor": [1, 2] * (ANGLES // 2),
        "long_factor": [3, 5] * (ANGLES // 2),
    },
    "llama3": {
        "factor": FACTOR,
        "low_freq_factor": 0.25,
        "high_freq_factor": 1.1,
        "original_max_position_embeddings": SHORT,
    },
}
# One setting of a kind of rotary scaling changed: the kind, the setting, its value, what goes with it.
ROPE_SETTINGS: tuple[tuple[str, str, Any, dict[str, Any]], ...] = (
    ("default", "rope_theta", 100.0, {}),
    ("default", "rope_theta", 1e6, {}),
    ("default", "partial_rotary_factor", 0.5, {}),
    ("linear", "partial_rotary_factor", 0.5, {}),
    ("yarn", "partial_rotary_factor", 0.5, {}),
    ("yarn", "attention_factor", 1.5, {}),
    ("yarn", "mscale", 0.5, {"mscale_all_dim": 1.0}),
    ("yarn", "beta_slow", 0.1, {}),
    ("yarn", "beta_fast", 0.2, {"beta_slow": 0.05}),
    ("yarn", "truncate", False, {"beta_slow": 0.1}),
    ("longrope", "attention_factor", 1.5, {}),
)
# The dynamic kind begins where positions end; examples must go beyond that.
ROPE_COMPANIONS: dict[str, dict[str, Any]] = {"dynamic": {"max_position_embeddings": SHORT}}

SIZE = "a size: a tiny twin has its own"
GENERAL = "a field of every config, which says nothing of the logits"
TOKEN = "a token's number"
UNKNOWN = "no values are known for a field of this type"
SIZES = ("vocab_size", "hidden_size", "num_attention_heads", "n_embd", "n_head", "intermediate_size",
         "max_position_embeddings", "n_positions", "n_ctx", "ffn_dim", "n_inner", "*_intermediate_size",
         "word_embed_proj_dim", "num_local_experts", "num_experts", "n_routed_experts", "ffn_hidden_size",
         *COUNTS)


def probes_of(config: Mapping[str, Any], only: Iterable[str] = ()) -> Plan:
    """The probes of a config, which has a `model_type` that Transformers knows.

    `only` names fields (`rope_parameters` stands for all below it); all are tried where none is named. Raises Refused
    where Transformers does not know the model, and where a field named does not exist.
    """
    package = transformers()
    fields = small(config)
    kind = package.CONFIG_MAPPING[fields["model_type"]]
    try:
        own = kind.from_dict({name: value for name, value in fields.items() if name != "model_type"}).to_dict()
    except Exception as error:
        raise Refused(f"Transformers refuses the config of {fields['model_type']}: {error}") from error
    declared = {f.name: f.type for f in dataclasses.fields(kind)}
    general = {f.name for f in dataclasses.fields(package.PreTrainedConfig)}
    extra = {name: type(value) for name, value in config.items() if name not in declared and name in own}
    found: list[Probe] = []
    left_out: list[tuple[str, str]] = []
    for name, type_ in {**declared, **extra}.items():
        if name == "model_type":
            continue
        if reason := reason_to_leave_out(name, general - {"tie_word_embeddings"}):
            left_out.append((name, reason))
        elif made := list(probes_of_field(name, type_, own)):
            found += made
        elif name not in _ROPE:
            left_out.append((name, UNKNOWN))
    return _chosen(Plan(tuple(found), tuple(left_out)), tuple(only))


def _chosen(plan: Plan, only: Sequence[str]) -> Plan:
    for name in only:
        if not any(_below(known, name) for known in plan.names):
            raise Refused(f"there is no field {name} to probe; there are {', '.join(sorted(plan.names))}")
    if not only:
        return plan
    probes = tuple(probe for probe in plan.probes if any(_below(probe.field, name) for name in only))
    return Plan(probes, plan.left_out)


def _below(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.")


def reason_to_leave_out(name: str, general: Iterable[str]) -> str:
    """Why there is no probe of this field; nothing where there may be one."""
    if name in general:
        return GENERAL
    if name.endswith("token_id"):
        return TOKEN
    return SIZE if any(fnmatch(name, pattern) for pattern in SIZES) else ""


_ROPE = ("rope_parameters", "rope_scaling", "rope_theta")


def probes_of_field(name: str, type_: Any, own: Mapping[str, Any]) -> Iterator[Probe]:
    """The probes of one field, given its declared type and the values that all fields have in the tiny twin."""
    if name == "rope_parameters":
        yield from rope_probes(own)
        return
    companions = {
        other: value
        for other, value in COMPANIONS.get(name, {}).items()
        if other in own and (other not in DERIVED or "use_sliding_window" in own)
    }
    if name == "sliding_window" and "use_sliding_window" in own:
        companions["layer_types"] = None
    if name == "layer_types" and own.get("sliding_window") is not None:
        companions.pop("sliding_window", None)
    for value in values_of(name, type_, own):
        fields = {**companions, name: value}
        if value != own.get(name) or type(value) is not type(own.get(name)) or any(
            own.get(other) != wanted for other, wanted in companions.items()
        ):
            yield Probe(name, value, fields)


def values_of(name: str, type_: Any, own: Mapping[str, Any]) -> Iterator[Any]:
    """The values to try for a field: by its name, else by its type."""
    if name == "layer_types":
        yield from layer_patterns(own)
        return
    for pattern, values in VALUES:
        if fnmatch(name, pattern):
            yield from values
            return
    parts = parts_of(type_)
    value = own.get(name)
    if get_origin(type_) is Literal or any(get_origin(part) is Literal for part in parts):
        yield from (value for part in (type_, *parts) if get_origin(part) is Literal for value in get_args(part))
    elif bool in parts or isinstance(value, bool):
        yield from (flag for flag in (True, False) if flag != value)
    elif float in parts or isinstance(value, float):
        yield from (0.3, 1.7)
    elif int in parts or isinstance(value, int):
        yield from (number for number in (1, 2, 3) if number != value)


def parts_of(type_: Any) -> tuple[Any, ...]:
    """The types of a union; a type that is no union is its only part."""
    if isinstance(type_, str):
        known = {"bool": bool, "int": int, "float": float, "str": str}
        return tuple(known[part] for word in type_.split("|") if (part := word.strip()) in known)
    return get_args(type_) or (type_,)


def layer_patterns(own: Mapping[str, Any]) -> Iterator[list[str]]:
    """Every way in which the layers of a tiny twin can be of full attention, of sliding, or of a kind they have now."""
    current = own.get("layer_types")
    if not isinstance(current, list) or not current:
        return
    kinds = dict.fromkeys([*current, "full_attention", *(["sliding_attention"] if "sliding_window" in own else [])])
    for pattern in product(kinds, repeat=len(current)):
        if list(pattern) != current:
            yield list(pattern)


# ----------------------------------------------------------------------------------------------------- rotary positions


def rope_probes(own: Mapping[str, Any]) -> Iterator[Probe]:
    """Probes of rotary positions: each kind of scaling, and each setting of a kind; for each kind of layer, if they
    have their own."""
    base = own.get("rope_parameters")
    if not isinstance(base, Mapping):
        return
    nested = {name: value for name, value in base.items() if isinstance(value, Mapping)}
    for layers, current in nested.items() or [("", base)]:
        prefix = f"rope_parameters.{layers}." if layers else "rope_parameters."
        kept = {name: current[name] for name in ("rope_theta", "partial_rotary_factor") if name in current}
        for kind, settings in ROPES.items():
            if kind != current.get("rope_type"):
                yield _rope(prefix, layers, "rope_type", kind, kept | settings | {"rope_type": kind})
        for kind, name, value, others in ROPE_SETTINGS:
            settings = kept | ROPES.get(kind, {}) | others | {"rope_type": kind, name: value}
            if settings != current:
                yield _rope(prefix, layers, name, value, _fitting(settings))


def _rope(prefix: str, layers: str, name: str, value: Any, settings: dict[str, Any]) -> Probe:
    inner = {layers: settings} if layers else settings
    fields = merged({"rope_parameters": inner}, ROPE_COMPANIONS.get(settings["rope_type"], {}))
    return Probe(f"{prefix}{name}", value, fields)


def _fitting(settings: dict[str, Any]) -> dict[str, Any]:
    """Lists of factors have one for each angle that turns."""
    turning = int(ANGLES * settings.get("partial_rotary_factor", 1.0))
    return {name: value[:turning] if isinstance(value, list) else value for name, value in settings.items()}
