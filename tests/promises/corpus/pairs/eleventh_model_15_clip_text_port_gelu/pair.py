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


from transformers import CLIPTextConfig, CLIPTextModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.clip = CLIPTextModel(CLIPTextConfig(vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=12, eos_token_id=39, bos_token_id=38, pad_token_id=39))

    def forward(self, ids):
        return self.clip(input_ids=ids).last_hidden_state


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 2, batch_first=True)
        self.ln_1, self.ln_2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.c_fc, self.c_proj = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        h = self.ln_1(x)
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        x = x + self.attn(h, h, h, need_weights=False, attn_mask=mask.to(x.dtype))[0]
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))


class Port(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embedding, self.positional_embedding = nn.Embedding(40, 16), nn.Parameter(torch.zeros(12, 16))
        self.blocks = nn.ModuleList([Block(), Block()])
        self.ln_final = nn.LayerNorm(16)

    def forward(self, ids):
        x = self.token_embedding(ids) + self.positional_embedding[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.ln_final(x)


def convert(sd):
    at = {k.split("embeddings.")[0] for k in sd if "embeddings." in k}.pop()
    out = {"token_embedding.weight": sd[at + "embeddings.token_embedding.weight"], "positional_embedding": sd[at + "embeddings.position_embedding.weight"]}
    for kind in ("weight", "bias"):
        out[f"ln_final.{kind}"] = sd[f"{at}final_layer_norm.{kind}"]
        for i in range(2):
            p, b = f"{at}encoder.layers.{i}.", f"blocks.{i}."
            out[f"{b}attn.in_proj_{kind}"] = torch.cat([sd[f"{p}self_attn.{n}_proj.{kind}"] for n in "qkv"])
            for mine, theirs in {"attn.out_proj": "self_attn.out_proj", "ln_1": "layer_norm1", "ln_2": "layer_norm2", "c_fc": "mlp.fc1", "c_proj": "mlp.fc2"}.items():
                out[f"{b}{mine}.{kind}"] = sd[f"{p}{theirs}.{kind}"]
    return out


left = drawn(Original())
right = Port()
right.load_state_dict(convert(left.state_dict()))
right.eval()


def inputs():
    return (torch.randint(0, 38, (2, 7)),)
