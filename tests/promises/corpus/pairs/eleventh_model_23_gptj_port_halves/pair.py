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


from transformers import GPTJConfig, GPTJForCausalLM


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = GPTJForCausalLM(GPTJConfig(vocab_size=40, n_positions=24, n_embd=16, n_layer=2, n_head=2, rotary_dim=4, bos_token_id=0, eos_token_id=0))

    def forward(self, ids):
        return self.m(input_ids=ids, use_cache=False).logits


def halves(w):
    """Rows 0 1 2 3 of the rotary part of each head become 0 2 1 3."""
    return w.view(2, 8, 16)[:, [0, 2, 1, 3, 4, 5, 6, 7]].reshape(16, 16).clone()


def rope(x, cos, sin):
    rot, rest = x[..., :4], x[..., 4:]
    turned = torch.cat([-rot[..., 2:], rot[..., :2]], -1)
    return torch.cat([rot * cos + turned * sin, rest], -1)


class Block(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        self.wq, self.wk = nn.Parameter(halves(sd[p + "attn.q_proj.weight"])), nn.Parameter(halves(sd[p + "attn.k_proj.weight"]))
        self.wv, self.wo = param(sd, p + "attn.v_proj.weight"), param(sd, p + "attn.out_proj.weight")
        self.g, self.b = param(sd, p + "ln_1.weight"), param(sd, p + "ln_1.bias")
        self.up, self.down = linear(sd, p + "mlp.fc_in"), linear(sd, p + "mlp.fc_out")

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        h = F.layer_norm(x, (C,), self.g, self.b, 1e-5)
        q, k, v = ((h @ w.T).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(rope(q, cos, sin), rope(k, cos, sin), v, is_causal=True)
        y = y.transpose(1, 2).reshape(B, T, C) @ self.wo.T
        return x + y + self.down(F.gelu(self.up(h), approximate="tanh"))


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.wte = param(sd, "m.transformer.wte.weight")
        self.h = nn.ModuleList([Block(sd, f"m.transformer.h.{i}.") for i in range(2)])
        self.g, self.b = param(sd, "m.transformer.ln_f.weight"), param(sd, "m.transformer.ln_f.bias")
        self.head = linear(sd, "m.lm_head")

    def forward(self, ids):
        angles = torch.arange(ids.shape[1])[:, None] * torch.tensor([1.0, 0.01])
        angles = torch.cat([angles, angles], -1)
        x = self.wte[ids]
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for block in self.h:
            x = block(x, cos, sin)
        return self.head(F.layer_norm(x, (16,), self.g, self.b))


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randint(0, 40, (2, 6)),)
