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


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(30, 16), nn.Embedding(30, 16)
        self.t = nn.Transformer(16, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=24, dropout=0.0, batch_first=True)
        self.generator = nn.Linear(16, 30)

    def forward(self, src, tgt):
        mask = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1)
        y = self.t(self.src_embed(src) * 4.0, self.tgt_embed(tgt) * 4.0, tgt_mask=mask)
        return F.log_softmax(self.generator(y), -1)


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.params = nn.ParameterDict({k.replace(".", "/"): nn.Parameter(v.clone()) for k, v in sd.items()})

    def w(self, name):
        return self.params[name.replace(".", "/")]

    def norm(self, x, name):
        return F.layer_norm(x, (16,), self.w(name + ".weight"), self.w(name + ".bias"))

    def attend(self, x, memory, name, causal=False):
        wq, wk, wv = self.w(name + ".in_proj_weight").view(3, 2, 8, 16)
        bq, bk, bv = self.w(name + ".in_proj_bias").view(3, 2, 1, 8)
        q = x[:, None] @ wq.mT + bq
        k = memory[:, None] @ wk.mT + bk
        v = memory[:, None] @ wv.mT + bv
        s = q @ k.mT / 8**0.5
        if causal:
            i, j = torch.arange(x.shape[1]), torch.arange(memory.shape[1])
            s = torch.where(j[None, :] <= i[:, None], s, -torch.inf)
        s = (s - s.amax(-1, keepdim=True)).exp()
        y = (s @ v) / s.sum(-1, keepdim=True)
        return y.transpose(1, 2).flatten(2) @ self.w(name + ".out_proj.weight").T + self.w(name + ".out_proj.bias")

    def feed(self, x, p):
        h = torch.relu(x @ self.w(p + "linear1.weight").T + self.w(p + "linear1.bias"))
        return h @ self.w(p + "linear2.weight").T + self.w(p + "linear2.bias")

    def forward(self, src, tgt):
        p = "t.encoder.layers.0."
        x = self.w("src_embed.weight")[src] * math.sqrt(16)
        x = self.norm(x + self.attend(x, x, p + "self_attn"), p + "norm1")
        x = self.norm(x + self.feed(x, p), p + "norm2")
        memory = self.norm(x, "t.encoder.norm")
        p = "t.decoder.layers.0."
        y = self.w("tgt_embed.weight")[tgt] * math.sqrt(16)
        y = self.norm(y + self.attend(y, y, p + "self_attn", causal=True), p + "norm1")
        y = self.norm(y + self.attend(y, memory, p + "multihead_attn"), p + "norm2")
        y = self.norm(y + self.feed(y, p), p + "norm3")
        z = self.norm(y, "t.decoder.norm") @ self.w("generator.weight").T + self.w("generator.bias")
        return z - z.logsumexp(-1, keepdim=True)


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randint(0, 30, (3, 6)), torch.randint(0, 30, (3, 4)))
