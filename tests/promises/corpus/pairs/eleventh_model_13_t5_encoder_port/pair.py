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


from transformers import T5Config, T5EncoderModel


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        config = T5Config(vocab_size=40, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_heads=3, relative_attention_num_buckets=8, relative_attention_max_distance=16, feed_forward_proj="gated-gelu")
        self.t5 = T5EncoderModel(config)

    def forward(self, ids):
        return self.t5(input_ids=ids).last_hidden_state


def rms(x, w):
    return w * x / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def buckets(n):
    rel = torch.arange(n)[None, :] - torch.arange(n)[:, None]
    far = rel.abs()
    log = 2 + (torch.log(far.clamp(min=1).float() / 2) / math.log(8) * 2).long()
    return torch.where(far < 2, far, log.clamp(max=3)) + 4 * (rel > 0).long()


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.embed = param(sd, "t5.shared.weight")
        self.table = param(sd, "t5.encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight")
        self.final = param(sd, "t5.encoder.final_layer_norm.weight")
        names = {"q": "layer.0.SelfAttention.q", "k": "layer.0.SelfAttention.k", "v": "layer.0.SelfAttention.v", "o": "layer.0.SelfAttention.o",
                 "n0": "layer.0.layer_norm", "n1": "layer.1.layer_norm", "g": "layer.1.DenseReluDense.wi_0", "u": "layer.1.DenseReluDense.wi_1", "d": "layer.1.DenseReluDense.wo"}
        self.blocks = nn.ModuleList([nn.ParameterDict({k: param(sd, f"t5.encoder.block.{i}.{n}.weight") for k, n in names.items()}) for i in range(2)])

    def forward(self, ids):
        x = self.embed[ids]
        bias = self.table[buckets(ids.shape[1])].permute(2, 0, 1)
        for w in self.blocks:
            h = rms(x, w["n0"])
            q, k, v = (torch.einsum("btd,hed->bhte", h, w[n].view(3, 6, 16)) for n in "qkv")
            p = torch.softmax(torch.einsum("bhqe,bhke->bhqk", q, k) + bias, -1)
            x = x + torch.einsum("bhqk,bhke,dhe->bqd", p, v, w["o"].view(16, 3, 6))
            h = rms(x, w["n1"])
            g = h @ w["g"].T
            g = 0.5 * g * (1 + torch.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g**3)))
            x = x + (g * (h @ w["u"].T)) @ w["d"].T
        return rms(x, self.final)


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randint(0, 40, (2, 9)),)
