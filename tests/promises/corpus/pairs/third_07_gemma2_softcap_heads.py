# EQUAL: Gemma2 attention (query_pre_attn_scalar, logit softcap, GQA) in one batch vs head by head with o_proj columns added up
import torch
from torch import nn

D, H, KV, HD, CAP, SCALAR = 16, 4, 2, 4, 50.0, 6


class Gemma2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, H * HD, bias=False)
        self.k_proj = nn.Linear(D, KV * HD, bias=False)
        self.v_proj = nn.Linear(D, KV * HD, bias=False)
        self.o_proj = nn.Linear(H * HD, D, bias=False)
        self.scaling = SCALAR**-0.5

    def forward(self, x, attention_mask):
        shape = (*x.shape[:-1], -1, HD)
        q = self.q_proj(x).view(shape).transpose(1, 2)
        k = self.k_proj(x).view(shape).transpose(1, 2)
        v = self.v_proj(x).view(shape).transpose(1, 2)
        k = k[:, :, None].expand(-1, -1, H // KV, -1, -1).reshape(x.shape[0], H, -1, HD)
        v = v[:, :, None].expand(-1, -1, H // KV, -1, -1).reshape(x.shape[0], H, -1, HD)
        w = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        w = w / CAP
        w = torch.tanh(w)
        w = w * CAP
        w = w + attention_mask
        w = nn.functional.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o_proj((w @ v).transpose(1, 2).reshape(*x.shape[:-1], -1))


class Heads(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.wq = nn.ParameterList(w.detach().clone() for w in src.q_proj.weight.split(HD))
        self.wk = nn.ParameterList(w.detach().clone() for w in src.k_proj.weight.split(HD))
        self.wv = nn.ParameterList(w.detach().clone() for w in src.v_proj.weight.split(HD))
        self.wo = nn.ParameterList(w.detach().clone() for w in src.o_proj.weight.split(HD, dim=1))

    def forward(self, x, attention_mask):
        y = 0
        for h in range(H):
            g = h // (H // KV)
            q = x @ self.wq[h].T * (SCALAR**-0.5 / CAP)
            s = torch.tanh(q @ (x @ self.wk[g].T).mT) * CAP
            p = torch.softmax(s + attention_mask[:, 0], -1)
            y = y + p @ (x @ self.wv[g].T) @ self.wo[h].T
        return y


left = Gemma2Attention()
right = Heads(left)


def inputs():
    t = 5
    mask = torch.zeros(2, 1, t, t).masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), torch.finfo(torch.float32).min)
    return (torch.randn(2, t, D), mask)
