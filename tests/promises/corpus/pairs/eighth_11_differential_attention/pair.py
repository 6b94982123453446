import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
DIM, HEADS, DH, LAMBDA_INIT = 16, 2, 4, 0.8 - 0.6 * math.exp(-0.3)


class PaperDiffAttention(nn.Module):
    """Head by head, as the formula reads."""

    def __init__(self):
        super().__init__()
        self.wq = nn.ModuleList(nn.Linear(DIM, 2 * DH, bias=False) for _ in range(HEADS))
        self.wk = nn.ModuleList(nn.Linear(DIM, 2 * DH, bias=False) for _ in range(HEADS))
        self.wv = nn.ModuleList(nn.Linear(DIM, 2 * DH, bias=False) for _ in range(HEADS))
        self.wo = nn.Linear(2 * DH * HEADS, DIM, bias=False)
        for n in ("lq1", "lk1", "lq2", "lk2"):
            setattr(self, n, nn.Parameter(torch.randn(DH) * 0.3))
        self.sub = nn.Parameter(1 + 0.2 * torch.randn(2 * DH))

    def forward(self, x):
        n = x.shape[1]
        lam = torch.exp((self.lq1 * self.lk1).sum()) - torch.exp((self.lq2 * self.lk2).sum()) + LAMBDA_INIT
        mask = torch.full((n, n), float("-inf"), dtype=x.dtype).triu(1)
        outs = []
        for wq, wk, wv in zip(self.wq, self.wk, self.wv):
            q1, q2 = wq(x).chunk(2, -1)
            k1, k2 = wk(x).chunk(2, -1)
            a1 = F.softmax(q1 @ k1.transpose(1, 2) / math.sqrt(DH) + mask, -1)
            a2 = F.softmax(q2 @ k2.transpose(1, 2) / math.sqrt(DH) + mask, -1)
            o = (a1 - lam * a2) @ wv(x)
            o = o / torch.sqrt(o.pow(2).mean(-1, keepdim=True) + 1e-5) * self.sub
            outs.append(o * (1 - LAMBDA_INIT))
        return self.wo(torch.cat(outs, -1))


class BatchedDiffAttention(nn.Module):
    def __init__(self, p):
        super().__init__()
        with torch.no_grad():
            self.q_proj, self.k_proj, self.v_proj = (nn.Linear(DIM, 2 * DH * HEADS, bias=False) for _ in range(3))
            for mine, theirs in ((self.q_proj, p.wq), (self.k_proj, p.wk), (self.v_proj, p.wv)):
                mine.weight.copy_(torch.cat([l.weight for l in theirs]))
            self.out_proj = nn.Linear(2 * DH * HEADS, DIM, bias=False)
            self.out_proj.weight.copy_(p.wo.weight)
            self.lambdas = nn.Parameter(torch.stack([p.lq1, p.lk1, p.lq2, p.lk2]).view(2, 2, DH).clone())
            self.subln = nn.RMSNorm(2 * DH, eps=1e-5)
            self.subln.weight.copy_(p.sub)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, 2 * HEADS, DH).transpose(1, 2)
        k = self.k_proj(x).view(b, t, 2 * HEADS, DH).transpose(1, 2)
        v = self.v_proj(x).view(b, t, HEADS, 2 * DH).transpose(1, 2)
        q = q * DH ** -0.5
        att = torch.matmul(q, k.transpose(-1, -2))
        att = att.masked_fill(~torch.ones(t, t, dtype=torch.bool).tril(), float("-inf"))
        att = att.softmax(dim=-1).view(b, HEADS, 2, t, t)
        e = self.lambdas.prod(dim=1).sum(-1).exp()
        lam = e[0] - e[1] + LAMBDA_INIT
        att = att[:, :, 0] - lam * att[:, :, 1]
        y = self.subln(att @ v) * (1 - LAMBDA_INIT)
        return self.out_proj(y.transpose(1, 2).reshape(b, t, -1))


left = PaperDiffAttention()
right = BatchedDiffAttention(left)
inputs = (torch.randn(2, 5, DIM),)
