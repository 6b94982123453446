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


from transformers import WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder


class Original(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = WhisperEncoder(WhisperConfig(vocab_size=40, num_mel_bins=8, d_model=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=24, max_source_positions=7, pad_token_id=1, bos_token_id=1, eos_token_id=1, decoder_start_token_id=2))

    def forward(self, features):
        return self.enc(features).last_hidden_state


def gelu(x):
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))


class Block(nn.Module):
    def __init__(self, sd, p):
        super().__init__()
        a = p + "self_attn."
        self.qkv = nn.Linear(16, 48)
        self.qkv.weight.data.copy_(torch.cat([sd[f"{a}{n}_proj.weight"] for n in "qkv"]))
        self.qkv.bias.data.copy_(torch.cat([sd[a + "q_proj.bias"], torch.zeros(16), sd[a + "v_proj.bias"]]))
        self.out = linear(sd, a + "out_proj")
        self.g1, self.b1 = param(sd, p + "self_attn_layer_norm.weight"), param(sd, p + "self_attn_layer_norm.bias")
        self.g2, self.b2 = param(sd, p + "final_layer_norm.weight"), param(sd, p + "final_layer_norm.bias")
        self.fc1, self.fc2 = linear(sd, p + "fc1"), linear(sd, p + "fc2")

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(F.layer_norm(x, (C,), self.g1, self.b1)).view(B, T, 3, 2, 8).unbind(2)
        p = torch.softmax(torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(8), -1)
        x = x + self.out(torch.einsum("bhqk,bkhd->bqhd", p, v).flatten(2))
        return x + self.fc2(gelu(self.fc1(F.layer_norm(x, (C,), self.g2, self.b2))))


class Port(nn.Module):
    def __init__(self, sd):
        super().__init__()
        sd = {k.removeprefix("enc."): v for k, v in sd.items()}
        self.c1, self.cb1 = nn.Parameter(sd["conv1.weight"].permute(2, 1, 0).contiguous()), param(sd, "conv1.bias")
        self.c2, self.cb2 = nn.Parameter(sd["conv2.weight"].permute(2, 1, 0).contiguous()), param(sd, "conv2.bias")
        self.positions = nn.Parameter(sd["embed_positions.weight"].clone(), requires_grad=False)
        self.layers = nn.ModuleList([Block(sd, f"layers.{i}.") for i in range(2)])
        self.g, self.b = param(sd, "layer_norm.weight"), param(sd, "layer_norm.bias")

    def forward(self, features):
        x = F.pad(features.transpose(1, 2), (0, 0, 1, 1))
        n = x.shape[1] - 2
        x = gelu(x[:, :n] @ self.c1[0] + x[:, 1 : n + 1] @ self.c1[1] + x[:, 2 : n + 2] @ self.c1[2] + self.cb1)
        x = F.pad(x, (0, 0, 1, 1))
        x = gelu(x[:, 0:n:2] @ self.c2[0] + x[:, 1 : n + 1 : 2] @ self.c2[1] + x[:, 2 : n + 2 : 2] @ self.c2[2] + self.cb2)
        x = x + self.positions
        for layer in self.layers:
            x = layer(x)
        return F.layer_norm(x, (16,), self.g, self.b)


left = drawn(Original())
right = Port(left.state_dict()).eval()


def inputs():
    return (torch.randn(2, 8, 14),)
