# DIFFERENT
"""Pythia in nanoGPT's manner: one c_attn with q, k, v one after the other, partial rotary, parallel residual."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM


@dataclass
class GPTConfig:
    block_size: int = 32
    vocab_size: int = 67
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 32
    rotary_pct: float = 0.25


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head, self.n_embd = config.n_head, config.n_embd
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.rot = int(config.n_embd // config.n_head * config.rotary_pct)
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, self.rot, 2).float() / self.rot), persistent=False)
        mask = torch.tril(torch.ones(config.block_size, config.block_size, dtype=torch.bool))
        self.register_buffer("mask", mask.view(1, 1, config.block_size, config.block_size), persistent=False)

    def rotate(self, x):
        T = x.size(-2)
        angle = torch.outer(torch.arange(T, device=x.device).to(self.inv_freq), self.inv_freq)
        cos, sin = angle.cos(), angle.sin()
        a, b = x[..., : self.rot // 2], x[..., self.rot // 2 : self.rot]
        return torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., self.rot :]], dim=-1)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q, k = self.rotate(q), self.rotate(k)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(~self.mask[:, :, :T, :T], float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = MLP(config)

    def forward(self, x):
        h = self.ln_1(x)
        return x + self.attn(h) + self.mlp(h)


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.h = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx):
        x = self.wte(idx)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))

    @classmethod
    @torch.no_grad()
    def from_pretrained(cls, hf):
        config = GPTConfig()
        model = cls(config)
        H, D, C = config.n_head, config.n_embd // config.n_head, config.n_embd
        model.wte.load_state_dict(hf.gpt_neox.embed_in.state_dict())
        model.ln_f.load_state_dict(hf.gpt_neox.final_layer_norm.state_dict())
        model.lm_head.load_state_dict(hf.embed_out.state_dict() if hasattr(hf, "embed_out") else hf.lm_head.state_dict())
        for mine, theirs in zip(model.h, hf.gpt_neox.layers):
            mine.ln_1.load_state_dict(theirs.input_layernorm.state_dict())
            mine.ln_2.load_state_dict(theirs.post_attention_layernorm.state_dict())
            qkv = theirs.attention.query_key_value
            mine.attn.c_attn.weight.copy_(qkv.weight.view(H, 3, D, C).transpose(0, 1).reshape(3 * C, C))
            mine.attn.c_attn.bias.copy_(qkv.bias.view(H, 3, D).transpose(0, 1).reshape(3 * C))
            mine.attn.c_proj.load_state_dict(theirs.attention.dense.state_dict())
            mine.mlp.c_fc.load_state_dict(theirs.mlp.dense_h_to_4h.state_dict())
            mine.mlp.c_proj.load_state_dict(theirs.mlp.dense_4h_to_h.state_dict())
        return model.eval()


def pythia():
    config = GPTNeoXConfig(
        vocab_size=67, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128,
        max_position_embeddings=32, use_parallel_residual=True, use_cache=False,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
    )
    model = GPTNeoXForCausalLM(config).eval()
    for name, p in model.named_parameters():   # a fresh model has norms of one and biases of zero
        if p.dim() == 1:
            nn.init.normal_(p, 1.0 if "norm" in name and "weight" in name else 0.0, 0.2)
    return model


reference = pythia()
right = GPT.from_pretrained(reference)


def left(idx):
    return reference(idx).logits


inputs = (torch.randint(0, 67, (2, 9)),)
