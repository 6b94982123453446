import math

import torch
from torch import nn
from torch.nn import functional as F


def drawn(model, seed=0):
    """Weights of every parameter from a fixed seed, norms and biases too."""
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape, generator=g) * (p.shape[-1] ** -0.5 if p.ndim > 1 else 0.2))
            if p.ndim == 1 and name.endswith("weight"):
                p.add_(1.0)
    return model.eval()


def linear(sd, name, bias=True):
    w = sd[name + ".weight"]
    layer = nn.Linear(w.shape[1], w.shape[0], bias=bias)
    layer.weight.data.copy_(w)
    if bias:
        layer.bias.data.copy_(sd[name + ".bias"])
    return layer


def param(sd, name):
    return nn.Parameter(sd[name].clone())


from transformers import GPT2Config, GPT2LMHeadModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = GPT2LMHeadModel(GPT2Config(vocab_size=48, n_positions=24, n_embd=16, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0))

    def forward(self, ids):
        return self.m(input_ids=ids, use_cache=False).logits


def conv1d(sd, name):
    w = sd[name + ".weight"]
    layer = nn.Linear(w.shape[0], w.shape[1])
    layer.weight.data.copy_(w.T)
    layer.bias.data.copy_(sd[name + ".bias"])
    return layer


class Block(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.ln_1.load_state_dict({k: sd[f"{p}ln_1.{k}"] for k in ("weight", "bias")})
        self.ln_2.load_state_dict({k: sd[f"{p}ln_2.{k}"] for k in ("weight", "bias")})
        self.qkv, self.proj = conv1d(sd, p + "attn.c_attn"), conv1d(sd, p + "attn.c_proj")
        self.fc, self.out = conv1d(sd, p + "mlp.c_fc"), conv1d(sd, p + "mlp.c_proj")

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln_1(x)).split(C, dim=2)
        q, k, v = (z.view(B, T, 4, C // 4).transpose(1, 2) for z in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
        att = F.softmax(att.masked_fill(~mask, float("-inf")), dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        x = x + self.proj(y)
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.wte, self.wpe = param(sd, "m.transformer.wte.weight"), param(sd, "m.transformer.wpe.weight")
        self.h = nn.ModuleList([Block(sd, f"m.transformer.h.{i}.") for i in range(2)])
        self.ln_f = nn.LayerNorm(16)
        self.ln_f.load_state_dict({k: sd[f"m.transformer.ln_f.{k}"] for k in ("weight", "bias")})

    def forward(self, ids):
        x = F.embedding(ids, self.wte) + self.wpe[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.T


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randint(0, 48, (2, 6)),)
