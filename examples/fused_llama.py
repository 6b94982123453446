"""Llama the way a serving engine writes it, to be checked against Transformers' LlamaForCausalLM.

It computes the same function from the same weights, by other operators in another order: one projection makes queries,
keys and values, one makes gate and up; adding to the residual stream and normalising it are one step, which crosses the
boundaries of layers; rotary embeddings read rows of a table and act on [tokens, heads · size]; queries that share a key
and value head are grouped instead of repeating that head. Each of these is where ports go wrong.

    fused = FusedLlama.from_transformers(model)
    logits = fused(input_ids)                     # [batch, length, vocabulary], equal to model(input_ids).logits
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Scale each row of `x` [..., hidden] to unit mean square, in float32, then by `weight` [hidden]."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).to(x.dtype) * weight


def add_rms_norm(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Add `x` to the residual stream; return that stream normalised, for the next block to read, and itself."""
    residual = x + residual
    return rms_norm(residual, weight, eps), residual


def rotary_table(positions: int, size: int, theta: float) -> Tensor:
    """A row for each position: cosines then sines of its `size` / 2 angles. [positions, size], float32."""
    inverse_frequency = 1.0 / (theta ** (torch.arange(0, size, 2, dtype=torch.float) / size))
    angles = torch.arange(positions, dtype=torch.float)[:, None] * inverse_frequency
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def rotate(x: Tensor, rows: Tensor) -> Tensor:
    """Turn the heads of `x` [tokens, heads · size] by the angles in `rows` [tokens, size] of the rotary table."""
    tokens, size = rows.shape
    cos, sin = rows.unsqueeze(1).chunk(2, dim=-1)
    first, second = x.view(tokens, -1, size).chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).view(tokens, -1)


class Layer(nn.Module):
    """One block: attention and a gated MLP, each reading the normalised stream. All is [tokens, hidden]."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        hidden, inner = config.hidden_size, config.intermediate_size
        self.size = config.head_dim
        self.queries = config.num_attention_heads * self.size
        self.keys = config.num_key_value_heads * self.size
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.scale = self.size**-0.5
        self.eps = config.rms_norm_eps
        self.input_norm = nn.Parameter(torch.ones(hidden))
        self.qkv = nn.Linear(hidden, self.queries + 2 * self.keys, bias=config.attention_bias)
        self.out = nn.Linear(self.queries, hidden, bias=config.attention_bias)
        self.post_norm = nn.Parameter(torch.ones(hidden))
        self.gate_up = nn.Linear(hidden, 2 * inner, bias=config.mlp_bias)
        self.down = nn.Linear(inner, hidden, bias=config.mlp_bias)

    def forward(self, x: Tensor, residual: Tensor | None, rows: Tensor, batch: int) -> tuple[Tensor, Tensor]:
        """The MLP's result, not yet added, and the stream it is to be added to; the next norm adds them."""
        if residual is None:
            x, residual = rms_norm(x, self.input_norm, self.eps), x
        else:
            x, residual = add_rms_norm(x, residual, self.input_norm, self.eps)
        x, residual = add_rms_norm(self.attention(x, rows, batch), residual, self.post_norm, self.eps)
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up), residual

    def attention(self, x: Tensor, rows: Tensor, batch: int) -> Tensor:
        """Causal attention among the tokens of each sequence of the batch."""
        q, k, v = self.qkv(x).split((self.queries, self.keys, self.keys), dim=-1)
        q, k = rotate(q, rows), rotate(k, rows)
        length = x.shape[0] // batch
        q = q.view(batch, length, -1, self.groups, self.size)             # batch, time, key head, group, size
        k, v = (part.reshape(batch, length, -1, self.size) for part in (k, v))
        scores = torch.einsum("btkgd,bskd->bkgts", q, k) * self.scale
        future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1, dtype=torch.float32).to(x.dtype)
        return self.out(torch.einsum("bkgts,bskd->btkgd", weights, v).reshape(x.shape[0], -1))


class FusedLlama(nn.Module):
    """Llama with fused projections, norms and grouped attention; see the module's text.

    Raises ValueError for settings it does not implement: another activation than SiLU, scaled rotary embeddings.
    """

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        rope = config.rope_parameters
        for setting, wanted in (config.hidden_act, "silu"), (rope["rope_type"], "default"):
            if setting != wanted:
                raise ValueError(f"FusedLlama implements silu and default RoPE, not {setting}")
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.Parameter(torch.ones(config.hidden_size))
        self.eps = config.rms_norm_eps
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        table = rotary_table(config.max_position_embeddings, config.head_dim, rope["rope_theta"])
        self.register_buffer("rotary", table, persistent=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Logits [batch, length, vocabulary] for token ids [batch, length]."""
        batch, length = input_ids.shape
        rows = self.rotary[torch.arange(length, device=input_ids.device).repeat(batch)]
        x, residual = self.embed(input_ids.flatten()), None
        for layer in self.layers:
            x, residual = layer(x, residual, rows, batch)
        x, _ = add_rms_norm(x, residual, self.norm, self.eps)
        return self.head(x).view(batch, length, -1)

    @classmethod
    def from_transformers(cls, model: LlamaForCausalLM) -> FusedLlama:
        """The same model, with copies of `model`'s weights."""
        fused = cls(model.config).to(dtype=model.dtype, device=model.device)
        fused.load_state_dict(fuse_weights(model))
        return fused.train(model.training)


SOURCES = {                                       # our name: Transformers' names, concatenated over output features
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "out": ("self_attn.o_proj",),
    "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
    "down": ("mlp.down_proj",),
}


def fuse_weights(model: LlamaForCausalLM) -> dict[str, Tensor]:
    """`model`'s weights under the names of FusedLlama."""
    weights = {
        "embed.weight": model.model.embed_tokens.weight,
        "norm": model.model.norm.weight,
        "head.weight": model.lm_head.weight,
    }
    for number, layer in enumerate(model.model.layers):
        place = f"layers.{number}."
        weights[place + "input_norm"] = layer.input_layernorm.weight
        weights[place + "post_norm"] = layer.post_attention_layernorm.weight
        for ours, theirs in SOURCES.items():
            linears = [layer.get_submodule(name) for name in theirs]
            weights[f"{place}{ours}.weight"] = torch.cat([linear.weight for linear in linears])
            if linears[0].bias is not None:
                weights[f"{place}{ours}.bias"] = torch.cat([linear.bias for linear in linears])
    return weights
