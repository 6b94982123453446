"""Latent attention as vLLM's kernels compute it, and the test that it is what they compute.

The cache holds one latent vector and one rotated key for each token. A prompt is attended to by keys and values that
`kv_b_proj` expands from the latents; one more token by queries that are brought into the space of the latents, so that
nothing is expanded. Both are attention over the expanded keys and values, and that is what stands in a graph. The
kernels are run beside it, on prompts and on single tokens after a filled cache, in batches as a scheduler makes them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from samesame.capture.checkpoints.vllm_tests import LEFT_OVER, SCALES, SEEDS, UNITS, Request, metadata, slots_of
from samesame.evidence import Refused
from samesame.operators.definitions import paged_attention

PROMPTS: list[Request] = [(0, length) for length in (1, 2, 15, 16, 17, 40)]
DECODED: list[Request] = [(length, 1) for length in (1, 14, 15, 16, 31, 32)]

_accounts: dict[tuple[Any, ...], str] = {}


def is_latent(layer: Any) -> bool:
    """Whether an attention layer keeps latents in its cache."""
    return hasattr(layer, "kv_lora_rank") and hasattr(layer, "kv_b_proj")


def require_rotation(model: Any, name: str) -> None:
    """Raise Refused where the model turns heads by a kernel that turns others than those: latent attention hands it
    heads in a dimension of their own, and the kernel for a CPU takes each row for one head and steps by the wrong
    stride, so that it reads and writes beside the tensor."""
    for place, module in model.named_modules():
        if not (place.endswith("rotary_emb") and hasattr(module, "cos_sin_cache")):
            continue
        generator = torch.Generator().manual_seed(0)
        positions, size = torch.arange(3), module.cos_sin_cache.shape[-1]
        query, key = (torch.randn(3, heads, size, generator=generator).to(module.cos_sin_cache.dtype)
                      for heads in (2, 1))
        wanted, _ = module.forward_native(positions, query.clone(), key.clone())
        turned, _ = module(positions, query.clone(), key.clone())
        if not torch.allclose(turned, wanted, atol=1e-3):
            raise Refused(
                f"{name}: {place} is vLLM's rotary kernel for a CPU, which turns one head of each token and leaves the "
                "others as they are, so this model's outputs are wrong by themselves; to compare the rest of it, add "
                'custom_ops=["none"]'
            )


def follow(layer: Any) -> None:
    """Give the kernel for single tokens the weights of `kv_b_proj` as they are now: vLLM splits them when it loads."""
    heads, plain = layer.num_heads, layer.qk_nope_head_dim
    each = layer.kv_b_proj.weight.detach().reshape(heads, plain + layer.v_head_dim, layer.kv_lora_rank)
    for name, part in (("W_UK_T", each[:, :plain]), ("W_UV", each[:, plain:].transpose(1, 2))):
        if getattr(layer, name).shape != part.shape:
            raise Refused(f"{layer.layer_name} keeps {name} in a shape that is not known")
        layer._parameters.pop(name, None)                  # no weight of the model: made of one
        setattr(layer, name, part)


def expanded(
    latents: torch.Tensor, rotated: torch.Tensor, weight: torch.Tensor, layer: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys [B, S, H, P + R] and values [B, S, H, V] of latents [B, S, L] and rotated keys [B, S, R]."""
    heads, plain, width = layer.num_heads, layer.qk_nope_head_dim, layer.v_head_dim
    both = functional.linear(latents, weight).reshape(*latents.shape[:2], heads, plain + width)
    key, value = torch.split(both, [plain, width], -1)
    return torch.cat((key, rotated[:, :, None].expand(*key.shape[:3], rotated.shape[-1])), -1), value


def latent_account(layer: Any, config: Any, place: str) -> str:
    """How the kernels of a layer of latent attention were tested; once per process. Raises Refused where they compute
    something else than attention over the expanded keys and values."""
    spec = layer.get_kv_cache_spec(config)
    sizes = (layer.num_heads, layer.kv_lora_rank, layer.qk_nope_head_dim, layer.qk_rope_head_dim, layer.v_head_dim)
    key = (type(layer.impl).forward_mqa, sizes, spec.block_size, spec.dtype, float(layer.impl.scale))
    if key not in _accounts:
        kept, worst = layer.kv_cache, 0.0
        try:
            for batch in (PROMPTS, DECODED):
                for seed in SEEDS:
                    for scale in SCALES:
                        worst = max(worst, _off(layer, config, batch, scale, seed, place))
        finally:
            layer.kv_cache = kept
        _accounts[key] = (
            f"vllm.unified_mla_attention_with_output ({layer.attn_backend.get_name()}, {str(spec.dtype)[6:]}, blocks "
            f"of {spec.block_size}, {sizes[0]} heads over latents of {sizes[1]}, {sizes[3]} rotated dimensions) tested "
            f"against causal softmax({float(layer.impl.scale):.6g}·q·k) · v over the keys and values that kv_b_proj "
            f"expands: {2 * len(SCALES) * len(SEEDS)} draws of normal values, queries and keys at scales "
            f"{', '.join(map(str, SCALES))}; cached+new tokens of prompts {_listed(PROMPTS)}, of single tokens "
            f"{_listed(DECODED)}; blocks shuffled, other numbers in the rest of the cache; worst difference "
            f"{worst:.2f} of what rounding allows ({UNITS:.0f} units of the dtype for each unit of 1 + largest score, "
            "of the largest magnitude)"
        )
    return _accounts[key]


def _listed(batch: list[Request]) -> str:
    return ", ".join(f"{past}+{new}" for past, new in batch)


def _off(layer: Any, config: Any, batch: list[Request], scale: float, seed: int, place: str) -> float:
    """The largest difference of kernel and definition on a batch, as a share of what rounding allows."""
    generator = torch.Generator().manual_seed(seed)
    dtype = layer.get_kv_cache_spec(config).dtype
    weight = layer.kv_b_proj.weight

    def normal(*shape: int, spread: float = 1.0) -> torch.Tensor:
        return (torch.randn(*shape, generator=generator) * spread).to(dtype)

    width = layer.qk_nope_head_dim + layer.qk_rope_head_dim
    latents = [normal(past + new, layer.kv_lora_rank) for past, new in batch]
    rotated = [normal(past + new, layer.qk_rope_head_dim, spread=scale) for past, new in batch]
    queries = [normal(new, layer.num_heads, width, spread=scale) for _, new in batch]
    got = _run(layer, config, batch, queries, latents, rotated, generator).double()
    off = magnitude = largest = 0.0
    for query, latent, turned, result in zip(
        queries, latents, rotated, torch.split(got, [new for _, new in batch]), strict=True
    ):
        key, value = expanded(latent.double()[None], turned.double()[None], weight.double(), layer)
        wanted = paged_attention(query.double()[None], key, value, float(layer.impl.scale), 0.0, 0, None, None, "")[0]
        difference = (result.reshape(wanted.shape) - wanted).abs().max().item()
        off = max(off, difference if difference == difference else float("inf"))
        magnitude = max(magnitude, wanted.abs().max().item())
        scores = torch.einsum("thd,shd->ths", query.double(), key[0])
        largest = max(largest, scores.abs().max().item() * abs(float(layer.impl.scale)))
    allowed = UNITS * torch.finfo(dtype).eps * (1 + largest)
    if not off / magnitude <= allowed:
        raise Refused(
            f"{place}: vLLM's kernel for latent attention does not compute softmax(scale·q·k) · v over expanded keys "
            f"and values: they differ by {off / magnitude:.1e} of the largest magnitude, where rounding allows "
            f"{allowed:.1e} (queries of scale {scale}, seed {seed}, requests of (cached, new) tokens {batch})"
        )
    return off / magnitude / allowed


def _run(
    layer: Any,
    config: Any,
    batch: list[Request],
    queries: list[torch.Tensor],
    latents: list[torch.Tensor],
    rotated: list[torch.Tensor],
    generator: torch.Generator,
) -> torch.Tensor:
    """The kernel on a batch of requests, after what is cached of each was written."""
    from vllm.forward_context import set_forward_context
    from vllm.model_executor.layers.attention.attention import _encode_layer_name

    spec = layer.get_kv_cache_spec(config)
    block, name = spec.block_size, _encode_layer_name(layer.layer_name)
    needed = [-(-latent.shape[0] // block) for latent in latents]
    order = torch.randperm(sum(needed) + 1, generator=generator, dtype=torch.int32)
    table = torch.zeros(len(batch), max(needed), dtype=torch.int32)
    taken = 0
    for row, count in enumerate(needed):
        table[row, :count] = order[taken : taken + count]
        taken += count
    shape = (sum(needed) + 1, block, spec.head_size)
    layer.kv_cache = (torch.randn(shape, generator=generator) * LEFT_OVER).to(spec.dtype)
    slots = [slots_of(table[row], torch.arange(latent.shape[0]), block) for row, latent in enumerate(latents)]
    pasts = [past for past, _ in batch]

    def part(tensors: list[torch.Tensor], cached: bool) -> torch.Tensor:
        return torch.cat([x[:past] if cached else x[past:] for x, past in zip(tensors, pasts, strict=True)])

    if any(pasts):
        given = part(latents, True), part(rotated, True)[:, None], layer.kv_cache, part(slots, True)
        layer.impl.do_kv_cache_update(*given, layer.kv_cache_dtype, layer._k_scale)
    new, fresh = part(slots, False), (part(latents, False), part(rotated, False)[:, None])
    query = torch.cat(queries)
    output = torch.full((query.shape[0], layer.num_heads * layer.v_head_dim), float("nan"), dtype=spec.dtype)
    described = metadata(layer, config, batch, table, new)
    with set_forward_context(
        {layer.layer_name: described}, config, num_tokens=len(query), slot_mapping={layer.layer_name: new}
    ):
        written = torch.ops.vllm.unified_mla_kv_cache_update(*fresh, name, layer.kv_cache_dtype, layer._k_scale)
        torch.ops.vllm.unified_mla_attention_with_output(query, *fresh, output, name, kv_cache_dummy_dep=written)
    return output
