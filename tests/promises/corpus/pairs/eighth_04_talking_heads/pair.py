import torch
from torch import nn

torch.manual_seed(4)


class TalkingHeads(nn.Module):
    def __init__(self, dim=12, heads=3):
        super().__init__()
        self.h, self.d = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.pre = nn.Parameter(torch.randn(heads, heads))
        self.post = nn.Parameter(torch.randn(heads, heads))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
        logits = torch.einsum("bhid,bhjd->bhij", q * self.d ** -0.5, k)
        logits = torch.einsum("bhij,hg->bgij", logits, self.pre)
        w = logits.softmax(-1)
        w = torch.einsum("bhij,hg->bgij", w, self.post)
        o = torch.einsum("bhij,bhjd->bihd", w, v)
        return self.out(o.reshape(b, n, c))


class TalkingConv(nn.Module):
    """The same with Conv2d(h, h, 1), as in CaiT ports."""

    def __init__(self, src):
        super().__init__()
        h, d = src.h, src.d
        self.h, self.d = h, d
        c = h * d
        self.to_q, self.to_k, self.to_v = (nn.Linear(c, c) for _ in range(3))
        for i, lin in enumerate((self.to_q, self.to_k, self.to_v)):
            lin.weight.data = src.qkv.weight.data[i * c:(i + 1) * c].clone()
            lin.bias.data = src.qkv.bias.data[i * c:(i + 1) * c].clone()
        self.mix_l = nn.Conv2d(h, h, 1, bias=False)
        self.mix_w = nn.Conv2d(h, h, 1, bias=False)
        self.mix_l.weight.data = src.pre.data.t().reshape(h, h, 1, 1).clone()
        self.mix_w.weight.data = src.post.data.t().reshape(h, h, 1, 1).clone()
        self.proj = nn.Linear(c, c)
        self.proj.load_state_dict(src.out.state_dict())

    def heads(self, t):
        return t.view(t.size(0), t.size(1), self.h, self.d).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.to_q(x)), self.heads(self.to_k(x)), self.heads(self.to_v(x))
        att = self.mix_l(q.matmul(k.mT) / self.d ** 0.5)
        att = self.mix_w(torch.softmax(att, dim=3))
        y = att.matmul(v).transpose(1, 2).contiguous().view(x.size(0), x.size(1), -1)
        return self.proj(y)


left = TalkingHeads()
right = TalkingConv(left)
inputs = (torch.randn(2, 4, 12),)
