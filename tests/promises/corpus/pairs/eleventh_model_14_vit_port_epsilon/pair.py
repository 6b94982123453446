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


from transformers import ViTConfig, ViTModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.vit = ViTModel(ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16, patch_size=8), add_pooling_layer=False)

    def forward(self, images):
        return self.vit(pixel_values=images).last_hidden_state[:, 0]


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C)
        x = x + self.proj(y)
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Port(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 16))
        self.pos_embed = nn.Parameter(torch.zeros(1, 5, 16))
        self.patch = nn.Conv2d(3, 16, 8, stride=8)
        self.blocks = nn.ModuleList([Block(16, 2) for _ in range(2)])
        self.norm = nn.LayerNorm(16, eps=1e-6)

    def forward(self, images):
        x = self.patch(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.norm(x)[:, 0]


def convert(sd):
    sd = {k.removeprefix("vit."): v for k, v in sd.items()}
    out = {"cls_token": sd["embeddings.cls_token"], "pos_embed": sd["embeddings.position_embeddings"]}
    for kind in ("weight", "bias"):
        out[f"patch.{kind}"] = sd[f"embeddings.patch_embeddings.projection.{kind}"]
        out[f"norm.{kind}"] = sd[f"layernorm.{kind}"]
        for i in range(2):
            p, b = f"layers.{i}.", f"blocks.{i}."
            out[f"{b}qkv.{kind}"] = torch.cat([sd[f"{p}attention.{n}_proj.{kind}"] for n in "qkv"])
            for mine, theirs in {"proj": "attention.o_proj", "norm1": "layernorm_before", "norm2": "layernorm_after", "fc1": "mlp.fc1", "fc2": "mlp.fc2"}.items():
                out[f"{b}{mine}.{kind}"] = sd[f"{p}{theirs}.{kind}"]
    return out


left = drawn(Original())
right = Port().eval()
right.load_state_dict(convert(left.state_dict()))


def inputs():
    return (0.1 * torch.randn(2, 3, 16, 16),)
