"""Attention and rotary positions, which newer versions have as one operator: the last part of the table."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from samesame.capture.onnx.elementwise import real
from samesame.capture.onnx.table import Application, Value, row, tensors

Tensor = torch.Tensor


def _heads(x: Tensor, count: int) -> Tensor:
    """[batch, length, heads · size] → [batch, heads, length, size]."""
    batch, length, size = x.shape
    return x.reshape(batch, length, count, size // count).transpose(1, 2)


@row("Attention")
def attention(
    node: Application, query: Value, key: Value, value: Value, mask: Value | None = None, *rest: Value | None
) -> Any:
    q, k, v, added = tensors(query, key, value, mask)
    assert q is not None and k is not None and v is not None
    if node.domain or any(part is not None for part in rest) or len(node.outputs) > 1 or node.get("softcap", 0.0):
        return NotImplemented
    flat = q.dim() == 3
    if flat:
        q = _heads(q, node.get("q_num_heads"))
        k, v = (_heads(x, node.get("kv_num_heads")) for x in (k, v))
    if node.get("is_causal", 0) and q.shape[2] != k.shape[2]:
        return NotImplemented
    if node.get("is_causal", 0) and added is not None:
        return NotImplemented
    scale = node.get("scale")
    made = F.scaled_dot_product_attention(
        q, k, v, attn_mask=added, is_causal=bool(node.get("is_causal", 0)),
        scale=None if scale is None else real(node, "scale", 1.0), enable_gqa=q.shape[1] != k.shape[1],
    )
    return made.transpose(1, 2).flatten(2) if flat else made


@row("RotaryEmbedding")
def rotary(node: Application, x: Value, cosines: Value, sines: Value, positions: Value | None = None) -> Any:
    found, cos, sin, at = tensors(x, cosines, sines, positions)
    assert found is not None and cos is not None and sin is not None
    if node.domain:
        return NotImplemented
    flat = found.dim() == 3
    if flat:
        found = _heads(found, node.get("num_heads"))
    turned = node.get("rotary_embedding_dim", 0) or found.shape[-1]
    part, rest = found[..., :turned], found[..., turned:]
    if at is not None:
        cos, sin = (F.embedding(at.to(torch.int64), table) for table in (cos, sin))
    cos, sin = (table[..., : turned // 2].unsqueeze(1) for table in (cos, sin))
    if node.get("interleaved", 0):
        a, b = part[..., 0::2], part[..., 1::2]
        made = torch.stack((cos * a - sin * b, sin * a + cos * b), -1).flatten(-2)
    else:
        a, b = part[..., : turned // 2], part[..., turned // 2 :]
        made = torch.cat((cos * a - sin * b, sin * a + cos * b), -1)
    made = torch.cat((made, rest), -1) if rest.shape[-1] else made
    return made.transpose(1, 2).flatten(2) if flat else made
