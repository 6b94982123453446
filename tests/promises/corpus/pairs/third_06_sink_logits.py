# EQUAL: gpt-oss attention sinks: sink column concatenated and dropped vs sigmoid(lse - sink) rescaling of plain attention
import torch
from torch import nn
import torch.nn.functional as F

D, H, HD = 12, 3, 4


class Eager(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * H * HD)
        self.out = nn.Linear(H * HD, D)
        self.sinks = nn.Parameter(torch.randn(H))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (y.view(b, t, H, HD).transpose(1, 2) for y in (q, k, v))
        logits = q @ k.transpose(2, 3) * HD**-0.5
        logits = logits + torch.triu(torch.full((t, t), -float("inf")).to(x.dtype), 1)
        sinks = self.sinks.reshape(1, -1, 1, 1).expand(b, -1, t, -1)
        combined = torch.cat([logits, sinks], dim=-1)
        combined = combined - combined.max(dim=-1, keepdim=True).values
        probs = F.softmax(combined, dim=-1)
        scores = probs[..., :-1]
        return self.out((scores @ v).transpose(1, 2).reshape(b, t, -1))


class WithLSE(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, H * HD) for _ in range(3))
        for i, m in enumerate((self.q, self.k, self.v)):
            m.weight.data = src.qkv.weight.chunk(3)[i].detach().clone()
            m.bias.data = src.qkv.bias.chunk(3)[i].detach().clone()
        self.out = nn.Linear(H * HD, D)
        self.out.load_state_dict(src.out.state_dict())
        self.s_aux = nn.Parameter(src.sinks.detach().clone())

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q(x).unflatten(-1, (H, HD))
        k = self.k(x).unflatten(-1, (H, HD))
        v = self.v(x).unflatten(-1, (H, HD))
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) * (1.0 / HD**0.5)
        s = s.masked_fill(~torch.tril(torch.ones(t, t, dtype=torch.bool)), float("-inf"))
        lse = torch.logsumexp(s, -1)
        o = torch.einsum("bhqk,bkhd->bqhd", torch.exp(s - lse[..., None]), v)
        gate = torch.sigmoid(lse - self.s_aux[None, :, None])
        o = o * gate.transpose(1, 2)[..., None]
        return self.out(o.reshape(b, t, -1))


left = Eager()
right = WithLSE(left)


def inputs():
    return (torch.randn(2, 6, D),)
