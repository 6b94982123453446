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


from transformers import BloomConfig, BloomModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.bloom = BloomModel(BloomConfig(vocab_size=40, hidden_size=16, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2, pad_token_id=3))

    def forward(self, ids):
        return self.bloom(input_ids=ids, use_cache=False).last_hidden_state


class Block(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        self.w = nn.Parameter(sd[p + "self_attention.query_key_value.weight"].view(4, 3, 4, 16).transpose(0, 1).reshape(48, 16).clone())
        self.b = nn.Parameter(sd[p + "self_attention.query_key_value.bias"].view(4, 3, 4).transpose(0, 1).reshape(48).clone())
        self.dense = linear(sd, p + "self_attention.dense")
        self.up, self.down = linear(sd, p + "mlp.dense_h_to_4h"), linear(sd, p + "mlp.dense_4h_to_h")
        self.g1, self.b1 = param(sd, p + "input_layernorm.weight"), param(sd, p + "input_layernorm.bias")
        self.g2, self.b2 = param(sd, p + "post_attention_layernorm.weight"), param(sd, p + "post_attention_layernorm.bias")

    def forward(self, x, bias):
        B, T, C = x.shape
        q, k, v = F.linear(F.layer_norm(x, (C,), self.g1, self.b1), self.w, self.b).chunk(3, -1)
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in (q * 0.5, k, v))
        y = torch.softmax(q @ k.mT + bias, -1) @ v
        x = x + self.dense(y.transpose(1, 2).reshape(B, T, C))
        h = self.up(F.layer_norm(x, (C,), self.g2, self.b2))
        h = 0.5 * h * (1 + torch.tanh(0.79788456 * (h + 0.044715 * h**3)))
        return x + self.down(h)


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        sd = {k.removeprefix("bloom."): v for k, v in sd.items()}
        self.embed = param(sd, "word_embeddings.weight")
        self.g0, self.b0 = param(sd, "word_embeddings_layernorm.weight"), param(sd, "word_embeddings_layernorm.bias")
        self.h = nn.ModuleList([Block(sd, f"h.{i}.") for i in range(2)])
        self.g, self.b = param(sd, "ln_f.weight"), param(sd, "ln_f.bias")

    def forward(self, ids):
        T = ids.shape[1]
        x = F.layer_norm(self.embed[ids], (16,), self.g0, self.b0)
        slopes = torch.tensor([0.25, 0.0625, 0.015625, 0.00390625], dtype=x.dtype)
        distance = torch.arange(T)[None, :] - torch.arange(T)[:, None]
        bias = (slopes[:, None, None] * distance).masked_fill(distance > 0, -torch.inf)
        for block in self.h:
            x = block(x, bias)
        return F.layer_norm(x, (16,), self.g, self.b)


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randint(4, 40, (2, 6)),)
