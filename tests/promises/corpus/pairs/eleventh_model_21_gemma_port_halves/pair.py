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


from transformers import GemmaConfig, GemmaModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.gemma = GemmaModel(GemmaConfig(vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=32, bos_token_id=2, eos_token_id=1))

    def forward(self, ids):
        return self.gemma(input_ids=ids, use_cache=False).last_hidden_state


def rms(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + w)


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Layer(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        self.qkv = nn.Parameter(torch.cat([sd[f"{p}self_attn.{n}_proj.weight"] for n in "qkv"]))
        self.o = linear(sd, p + "self_attn.o_proj", bias=False)
        self.gate_up = nn.Parameter(torch.cat([sd[f"{p}mlp.{n}_proj.weight"] for n in ("gate", "up")]))
        self.down = linear(sd, p + "mlp.down_proj", bias=False)
        self.n1, self.n2 = param(sd, p + "input_layernorm.weight"), param(sd, p + "post_attention_layernorm.weight")

    def forward(self, x, cos, sin, mask):
        B, T, _ = x.shape
        q, k, v = (rms(x, self.n1) @ self.qkv.T).split([16, 8, 8], -1)
        q, k, v = q.view(B, T, 2, 8).transpose(1, 2), k.view(B, T, 1, 8).transpose(1, 2), v.view(B, T, 1, 8).transpose(1, 2)
        s = rope(q, cos, sin) @ rope(k, cos, sin).mT * 8**-0.5 + mask
        x = x + self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1))
        up, gate = (rms(x, self.n2) @ self.gate_up.T).chunk(2, -1)
        return x + self.down(F.gelu(gate, approximate="tanh") * up)


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.embed, self.norm = param(sd, "gemma.embed_tokens.weight"), param(sd, "gemma.norm.weight")
        self.layers = nn.ModuleList([Layer(sd, f"gemma.layers.{i}.") for i in range(2)])

    def forward(self, ids):
        T = ids.shape[1]
        x = self.embed[ids] * 16**0.5
        angles = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)
        mask = torch.full((T, T), -torch.inf).triu(1).to(x.dtype)
        for layer in self.layers:
            x = layer(x, angles.cos().to(x.dtype), angles.sin().to(x.dtype), mask)
        return rms(x, self.norm)


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randint(3, 40, (2, 6)),)
