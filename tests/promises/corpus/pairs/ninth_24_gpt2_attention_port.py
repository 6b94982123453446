# DIFFERENT
"""GPT-2 stores its matrices as (in, out); a port to nn.Linear has to turn them over."""
import torch
from torch import nn
import torch.nn.functional as F
from transformers.pytorch_utils import Conv1D

D, H = 8, 2


def heads(t):
    return t.view(t.shape[0], t.shape[1], H, D // H).transpose(1, 2)


class GPT2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = Conv1D(3 * D, D)
        self.c_proj = Conv1D(D, D)
        for p in self.parameters():
            nn.init.normal_(p, std=0.3)

    def forward(self, x):
        q, k, v = map(heads, self.c_attn(x).split(D, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(x.shape))


class Ported(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.out = nn.Linear(D, D)

    def load_gpt2(self, sd):
        for mine, theirs in (("qkv", "c_attn"), ("out", "c_proj")):
            layer = getattr(self, mine)
            w = sd[f"{theirs}.weight"]
            if w.shape != layer.weight.shape:
                w = w.t()
            layer.weight.data.copy_(w)
            layer.bias.data.copy_(sd[f"{theirs}.bias"])
        return self

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, H, D // H).permute(2, 0, 3, 1, 4)
        att = (q @ k.mT) * (D // H) ** -0.5
        att = att.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -torch.inf)
        y = att.softmax(-1) @ v
        return self.out(y.permute(0, 2, 1, 3).flatten(2))


torch.manual_seed(0)
left = GPT2Attention()
right = Ported().load_gpt2(left.state_dict())
inputs = (torch.randn(2, 5, D),)
