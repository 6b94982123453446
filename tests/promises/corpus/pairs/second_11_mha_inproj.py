# EQUAL.
"""nn.MultiheadAttention (in_proj, key padding mask, returned averaged weights) vs separate linears. EQUAL."""
import torch
import torch.nn as nn


class Ref(nn.Module):
    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(15, 3, batch_first=True)
        nn.init.normal_(self.mha.in_proj_bias)
        nn.init.normal_(self.mha.out_proj.bias)

    def forward(self, x, y, pad):
        out, w = self.mha(x, y, y, key_padding_mask=pad, need_weights=True)
        return out, w


class Mine(nn.Module):
    def __init__(self, mha):
        super().__init__()
        E = mha.embed_dim
        self.heads = mha.num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(E, E) for _ in range(4))
        for lin, w, b in zip([self.wq, self.wk, self.wv], mha.in_proj_weight.data.chunk(3), mha.in_proj_bias.data.chunk(3)):
            lin.weight.data.copy_(w)
            lin.bias.data.copy_(b)
        self.wo.load_state_dict(mha.out_proj.state_dict())

    def split(self, t):
        b, n, e = t.shape
        return t.reshape(b, n, self.heads, e // self.heads).permute(0, 2, 1, 3)

    def forward(self, x, y, pad):
        q, k, v = self.split(self.wq(x)), self.split(self.wk(y)), self.split(self.wv(y))
        logits = q @ k.transpose(-2, -1) * (q.size(-1) ** -0.5)
        logits = logits.masked_fill(pad[:, None, None], -torch.inf)
        p = logits.softmax(dim=-1)
        ctx = (p @ v).permute(0, 2, 1, 3).flatten(2)
        return self.wo(ctx), p.mean(dim=1)


left = Ref()
right = Mine(left.mha)


def inputs():
    pad = torch.zeros(2, 7, dtype=torch.bool)
    pad[1, 5:] = True
    return torch.randn(2, 4, 15), torch.randn(2, 7, 15), pad
