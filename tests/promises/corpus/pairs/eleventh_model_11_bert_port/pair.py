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


from transformers import BertConfig, BertModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=20)
        self.bert = BertModel(config)

    def forward(self, ids, mask):
        out = self.bert(input_ids=ids, attention_mask=mask)
        return out.last_hidden_state, out.pooler_output


def norm(x, w, b, eps=1e-12):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * w + b


class Layer(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        a = p + "attention.self."
        self.wqkv = nn.Parameter(torch.cat([sd[a + n + ".weight"] for n in ("query", "key", "value")]))
        self.bqkv = nn.Parameter(torch.cat([sd[a + n + ".bias"] for n in ("query", "key", "value")]))
        self.o = linear(sd, p + "attention.output.dense")
        self.g1, self.b1 = param(sd, p + "attention.output.LayerNorm.weight"), param(sd, p + "attention.output.LayerNorm.bias")
        self.up, self.down = linear(sd, p + "intermediate.dense"), linear(sd, p + "output.dense")
        self.g2, self.b2 = param(sd, p + "output.LayerNorm.weight"), param(sd, p + "output.LayerNorm.bias")

    def forward(self, x, bias):
        b, t, d = x.shape
        q, k, v = (x @ self.wqkv.T + self.bqkv).view(b, t, 3, 2, d // 2).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / math.sqrt(d // 2) + bias
        y = (torch.softmax(s, -1) @ v).transpose(1, 2).reshape(b, t, d)
        x = norm(x + self.o(y), self.g1, self.b1)
        h = self.up(x)
        h = 0.5 * h * (1 + torch.erf(h / math.sqrt(2)))
        return norm(x + self.down(h), self.g2, self.b2)


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        e = "bert.embeddings."
        self.tokens, self.positions = param(sd, e + "word_embeddings.weight"), param(sd, e + "position_embeddings.weight")
        self.types = param(sd, e + "token_type_embeddings.weight")
        self.g, self.b = param(sd, e + "LayerNorm.weight"), param(sd, e + "LayerNorm.bias")
        self.layers = nn.ModuleList([Layer(sd, f"bert.encoder.layer.{i}.") for i in range(2)])
        self.pool = linear(sd, "bert.pooler.dense")

    def forward(self, ids, mask):
        x = self.tokens[ids] + self.positions[: ids.shape[1]] + self.types[0]
        x = norm(x, self.g, self.b)
        bias = torch.zeros_like(mask, dtype=x.dtype).masked_fill(mask == 0, torch.finfo(x.dtype).min)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pool(x[:, 0]))


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    mask = torch.ones(3, 7, dtype=torch.long)
    mask[1, 5:] = 0
    return {"ids": torch.randint(0, 50, (3, 7)), "mask": mask}
