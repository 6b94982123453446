"""What kernels of vLLM compute, tested: attention over its paged cache, and fused experts, against their definitions.

Both stay opaque: compiled code that reads memory which no graph shows. A definition (operators/definitions.py) stands
for each in a graph, and here the kernel that the model itself calls is run beside it on random values under the
constraints that a scheduler keeps: several requests in a batch, positions increasing, slots distinct, blocks in any
order, lengths on both sides of the window and of a block, prompts as well as single tokens after a filled cache. The
account of that test goes into the graph, and every proof that needs the definition rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.operators.definitions import fused_experts, paged_attention

SCALES = (0.02, 1.0, 6.0)                   # of queries and keys: scores from near zero to far beyond any cap
SEEDS = (0, 1)
QUERIES = 3                                 # tokens of a long request that ask; a short one asks with all
SHORT = 40
LEFT_OVER = 50.0                            # magnitude of what stands in slots that are no request's
# Rounding: so many units of the dtype, and as many for each unit of the largest score, whose rounding is the weights'.
UNITS = 16.0

Request = tuple[int, int]                   # tokens in the cache already, and new ones


@dataclass(frozen=True, slots=True)
class Account:
    """What an attention layer is set to, and how its kernel was tested against the definition with these settings."""

    scale: float
    cap: float
    window: int
    sinks: torch.Tensor | None
    slopes: torch.Tensor | None
    text: str


_accounts: dict[tuple[Any, ...], str] = {}


def account(layer: Any, config: Any, place: str) -> Account:
    """The settings of an attention layer of vLLM, its kernel tested with them once per process.

    Raises Refused where the layer has what the definition lacks, or where the kernel computes something else.
    """
    impl = layer.impl
    settings = Account(
        float(impl.scale),
        float(impl.logits_soft_cap or 0),
        int(impl.sliding_window),
        impl.sinks,
        impl.alibi_slopes,
        "",
    )
    if getattr(impl.attn_type, "value", impl.attn_type) != "decoder":
        raise Refused(f"{place} is {impl.attn_type} attention; only attention of decoders over a cache is supported")
    if impl.kv_cache_dtype != "auto":
        raise Refused(f"{place} keeps its cache in {impl.kv_cache_dtype}; only the model's own dtype is supported")
    spec = layer.get_kv_cache_spec(config)
    if not getattr(metadata(layer, config, [(0, 1)], torch.zeros(1, 1, dtype=torch.int32), torch.zeros(1).long()),
                   "causal", True):
        raise Refused(f"{place} looks at later tokens of a prompt, too; only causal attention is supported")
    code = tuple(vars(impl).get(name, getattr(type(impl), name)) for name in ("forward", "do_kv_cache_update"))
    shape = (impl.num_heads, impl.num_kv_heads, impl.head_size, spec.block_size, spec.dtype)
    given = tuple(x if x is None else tuple(x.tolist()) for x in (settings.sinks, settings.slopes))
    key = (code, shape, settings.scale, settings.cap, settings.window, given)
    if key not in _accounts:
        _accounts[key] = _tested(layer, config, settings, place)
    return replace(settings, text=_accounts[key])


def requests(window: int, block: int) -> list[Request]:
    """Requests with lengths on both sides of the window and of a block, long ones with most of it in the cache."""
    edges = {1, 2, block - 1, block, block + 1}
    if window > 0:
        edges |= {window - 1, window, window + 1, 2 * window + 1}
    lengths = sorted(length for length in edges if length > 0)
    found = [(length - asked, asked) for length in lengths for asked in [min(length, QUERIES)]]
    return [*found, (0, min(lengths[-1], SHORT))]


_experts: dict[tuple[Any, ...], str] = {}


def experts_account(
    w13: torch.Tensor,                                     # [E, 2·I, D]
    w2: torch.Tensor,                                      # [E, D, I]
    bias: torch.Tensor | None,
    activation: str,
    isa: str,
    chosen: int,
    place: str,
) -> str:
    """How the kernel for fused experts of these sizes was tested; once per process. Raises Refused where it computes
    something else than its definition."""
    key = (tuple(w13.shape), tuple(w2.shape), bias is not None, activation, isa, chosen, w13.dtype)
    if key not in _experts:
        worst = max(_experts_off(key, scale, seed, place) for scale in SCALES for seed in SEEDS)
        count, width, inner = w13.shape[0], w2.shape[1], w2.shape[2]
        _experts[key] = (
            f"_C.cpu_fused_moe ({isa}, {str(w13.dtype)[6:]}, {activation}, {count} experts of {width} × {inner}, "
            f"{chosen} of them for a token) tested against Σ_k weight_k · down_k(act(gate_k x) · up_k x): "
            f"{len(SCALES) * len(SEEDS) * len(TOKENS)} draws of normal values, tokens at scales "
            f"{', '.join(map(str, SCALES))}; {', '.join(map(str, TOKENS))} tokens, experts of a token distinct, some "
            f"experts without a token, weights that sum to one; worst difference {worst:.2f} of what rounding allows "
            f"({EXPERT_UNITS:.0f} units of the dtype, of the largest magnitude)"
        )
    return _experts[key]


TOKENS = (1, 3, 40)
EXPERT_UNITS = 128.0                        # two sums over hundreds of products, one within the other


def _experts_off(key: tuple[Any, ...], scale: float, seed: int, place: str) -> float:
    """The worst difference of kernel and definition as a share of what rounding allows."""
    from vllm import _custom_ops

    shape13, shape2, biased, activation, isa, chosen, dtype = key
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int, spread: float = 1.0) -> torch.Tensor:
        return (torch.randn(*shape, generator=generator) * spread).to(dtype)

    w13, w2 = normal(*shape13, spread=shape13[2] ** -0.5), normal(*shape2, spread=shape2[2] ** -0.5)
    biases = (normal(*shape13[:2]), normal(*shape2[:2])) if biased else (None, None)
    packed = [_custom_ops.cpu_prepack_moe_weight(weight, isa) for weight in (w13, w2)]
    worst = 0.0
    for tokens in TOKENS:
        x = normal(tokens, shape13[2], spread=scale)
        scores, experts = torch.rand(tokens, shape13[0], generator=generator).topk(chosen)
        weights, experts = scores.softmax(-1), experts.to(torch.int32)
        got = torch.full_like(x, float("nan"))
        torch.ops._C.cpu_fused_moe(got, x, *packed, *biases, weights, experts, False, activation, isa)
        b13, b2 = (None if bias is None else bias.double() for bias in biases)
        wanted = fused_experts(
            x.double(), w13.double(), w2.double(), b13, b2, weights.double(), experts, False, activation, ""
        )
        off = ((got.double() - wanted).abs().max() / wanted.abs().max()).item()
        allowed = EXPERT_UNITS * torch.finfo(dtype).eps
        if not off <= allowed:
            raise Refused(
                f"{place}: vLLM's kernel for fused experts does not compute Σ_k weight_k · expert_k(x): they differ by "
                f"{off:.1e} of the largest magnitude, where rounding allows {allowed:.1e} ({tokens} tokens of scale "
                f"{scale}, seed {seed})"
            )
        worst = max(worst, off / allowed)
    return worst


def _tested(layer: Any, config: Any, settings: Account, place: str) -> str:
    """Run the kernel and the definition side by side; what was done, in words. Raises Refused where they differ."""
    spec = layer.get_kv_cache_spec(config)
    kept, worst = layer.kv_cache, 0.0
    batch = requests(settings.window, spec.block_size)
    try:
        for seed in SEEDS:
            for scale in SCALES:
                generator = torch.Generator().manual_seed(seed)
                off, allowed = _compare(layer, config, settings, batch, scale, generator)
                worst = max(worst, off / allowed)
                if not off <= allowed:
                    raise Refused(
                        f"{place}: vLLM's attention kernel does not compute softmax({_spoken(settings)}) · v: they "
                        f"differ by {off:.1e} of the largest magnitude, where rounding allows {allowed:.1e} (queries "
                        f"and keys of scale {scale}, seed {seed}, requests of (cached, new) tokens {batch})"
                    )
    finally:
        layer.kv_cache = kept
    draws = len(SCALES) * len(SEEDS)
    lengths = ", ".join(f"{past}+{new}" for past, new in batch)
    return (
        f"vllm.unified_attention_with_output ({layer.attn_backend.get_name()}, {str(spec.dtype)[6:]}, blocks of "
        f"{spec.block_size}, {layer.impl.num_heads} query and {layer.impl.num_kv_heads} key heads of "
        f"{layer.impl.head_size}) tested against softmax({_spoken(settings)}) · v: {draws} draws of normal values, "
        f"queries and keys at scales {', '.join(map(str, SCALES))}; {len(batch)} requests in a batch, cached+new "
        f"tokens {lengths}; positions increasing, slots distinct, blocks shuffled, other numbers in the rest of the "
        f"cache; worst difference {worst:.2f} of what rounding allows ({UNITS:.0f} units of the dtype for each unit of "
        "1 + largest score, of the largest magnitude)"
    )


def _spoken(settings: Account) -> str:
    inner = f"{settings.scale:.6g}·q·k"
    inner = f"{settings.cap:g}·tanh({inner}/{settings.cap:g})" if settings.cap else inner
    inner = f"{inner} + slope·(j − i)" if settings.slopes is not None else inner
    window = f", window {settings.window}" if settings.window > 0 else ""
    return f"{inner}; causal{window}{', sinks' if settings.sinks is not None else ''}"


def _compare(
    layer: Any, config: Any, settings: Account, batch: list[Request], scale: float, generator: torch.Generator
) -> tuple[float, float]:
    """The largest difference of kernel and definition, relative to the largest magnitude, and what rounding allows."""
    impl, spec = layer.impl, layer.get_kv_cache_spec(config)
    heads, groups, size = impl.num_heads, impl.num_kv_heads, impl.head_size
    lengths = [past + new for past, new in batch]

    def normal(tokens: int, count: int, spread: float) -> torch.Tensor:
        return (torch.randn(tokens, count, size, generator=generator) * spread).to(spec.dtype)

    keys = [normal(length, groups, scale) for length in lengths]
    values = [normal(length, groups, 1.0) for length in lengths]
    queries = [normal(new, heads, scale) for _, new in batch]
    result = _run(layer, config, batch, queries, keys, values, generator)
    off = magnitude = largest = 0.0
    at = 0
    for (_, new), query, key, value in zip(batch, queries, keys, values, strict=True):
        q, k, v = (x.double()[None] for x in (query, key, value))
        wanted = paged_attention(
            q, k, v, settings.scale, settings.cap, settings.window, settings.sinks, settings.slopes, ""
        )[0]
        got = result[at : at + new].double()
        difference = (got - wanted).abs().max().item()
        off = max(off, difference if difference == difference else float("inf"))
        magnitude = max(magnitude, wanted.abs().max().item())
        group = q[0].reshape(new, groups, heads // groups, size)
        largest = max(largest, torch.einsum("tghd,sgd->tghs", group, k[0]).abs().max().item() * abs(settings.scale))
        at += new
    allowed = UNITS * torch.finfo(spec.dtype).eps * (1 + largest)
    return off / magnitude, allowed


def _run(
    layer: Any,
    config: Any,
    batch: list[Request],
    queries: list[torch.Tensor],
    keys: list[torch.Tensor],
    values: list[torch.Tensor],
    generator: torch.Generator,
) -> torch.Tensor:
    """The kernel on a batch of requests: the cached part of each goes to the cache first, by the same operator."""
    from vllm.forward_context import set_forward_context
    from vllm.model_executor.layers.attention.attention import _encode_layer_name

    spec = layer.get_kv_cache_spec(config)
    block, name = spec.block_size, _encode_layer_name(layer.layer_name)
    needed = [-(-key.shape[0] // block) for key in keys]
    order = torch.randperm(sum(needed) + 1, generator=generator, dtype=torch.int32)
    table = torch.zeros(len(batch), max(needed), dtype=torch.int32)
    for row, (count, start) in enumerate(zip(needed, accumulate([0, *needed[:-1]]), strict=True)):
        table[row, :count] = order[start : start + count]
    shape = (sum(needed) + 1, spec.num_kv_heads, block, 2 * spec.head_size)
    layer.kv_cache = (torch.randn(shape, generator=generator) * LEFT_OVER).to(spec.dtype)
    slots = [slots_of(table[row], torch.arange(key.shape[0]), block) for row, key in enumerate(keys)]

    def rows(parts: list[torch.Tensor], cached: bool) -> torch.Tensor:
        pasts = [past for past, _ in batch]
        return torch.cat([x[:past] if cached else x[past:] for x, past in zip(parts, pasts, strict=True)])

    described = metadata(layer, config, batch, table, rows(slots, False))
    if any(past for past, _ in batch):
        none = {layer.layer_name: None}
        with set_forward_context(none, config, num_tokens=1, slot_mapping={layer.layer_name: rows(slots, True)}):
            torch.ops.vllm.unified_kv_cache_update(rows(keys, True), rows(values, True), name)
    query, key, value = torch.cat(queries), rows(keys, False), rows(values, False)
    output = torch.full_like(query, float("nan"))
    context = {layer.layer_name: described}
    with set_forward_context(
        context, config, num_tokens=len(query), slot_mapping={layer.layer_name: rows(slots, False)}
    ):
        written = torch.ops.vllm.unified_kv_cache_update(key, value, name)
        torch.ops.vllm.unified_attention_with_output(query, key, value, output, name, kv_cache_dummy_dep=written)
    return output


def slots_of(blocks: torch.Tensor, positions: torch.Tensor, size: int) -> torch.Tensor:
    """Where the tokens at these positions lie in the cache."""
    return blocks.long()[positions // size] * size + positions % size


def metadata(
    layer: Any, config: Any, batch: list[Request], table: torch.Tensor, slots: torch.Tensor
) -> Any:
    """What a scheduler says of a batch of requests to an attention layer: lengths, blocks, and slots of new tokens."""
    from vllm.v1.attention.backend import CommonAttentionMetadata

    new, lengths = [asked for _, asked in batch], [past + asked for past, asked in batch]
    start = torch.tensor([0, *accumulate(new)], dtype=torch.int32)
    tokens = torch.tensor(lengths, dtype=torch.int32)
    common = CommonAttentionMetadata(
        query_start_loc=start,
        query_start_loc_cpu=start,
        seq_lens=tokens,
        seq_lens_cpu_upper_bound=tokens,
        is_prefilling=torch.tensor([not past for past, _ in batch]),
        num_reqs=len(batch),
        num_actual_tokens=sum(new),
        max_query_len=max(new),
        max_seq_len=max(lengths),
        block_table_tensor=table,
        slot_mapping=slots,
        causal=True,
    )
    spec = layer.get_kv_cache_spec(config)
    builder = layer.attn_backend.get_builder_cls()(spec, [layer.layer_name], config, torch.device("cpu"))
    return builder.build(0, common)
