# EQUAL
"""nanoGPT over the whole sequence, and the generation path: a prefill and then token by token with a cache."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class GPTConfig:
    block_size: int = 16
    vocab_size: int = 31
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head

    def forward(self, x, cache=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        past = 0
        if cache is not None:
            if cache:
                pk, pv = cache.pop()
                past = pk.size(2)
                k, v = torch.cat([pk, k], 2), torch.cat([pv, v], 2)
            cache.append((k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = torch.ones(T, past + T, dtype=torch.bool).tril(past)
        att = att.masked_fill(~mask, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.Sequential(nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(approximate="tanh"),
                                 nn.Linear(4 * config.n_embd, config.n_embd))

    def forward(self, x, cache=None):
        x = x + self.attn(self.ln_1(x), cache)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.h = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, caches=None, start=0):
        pos = torch.arange(start, start + idx.size(1))
        x = self.wte(idx) + self.wpe(pos)
        for i, block in enumerate(self.h):
            x = block(x, None if caches is None else caches[i])
        return self.lm_head(self.ln_f(x))


class Generating(nn.Module):
    def __init__(self, gpt, prompt=4):
        super().__init__()
        self.gpt, self.prompt = gpt, prompt

    def forward(self, idx):
        caches = [[] for _ in self.gpt.h]
        logits = [self.gpt(idx[:, :self.prompt], caches)]
        for t in range(self.prompt, idx.size(1)):
            logits.append(self.gpt(idx[:, t:t + 1], caches, start=t))
        return torch.cat(logits, dim=1)


torch.manual_seed(1337)
left = GPT(GPTConfig()).eval()
right = Generating(left)
inputs = (torch.randint(0, 31, (2, 7)),)
