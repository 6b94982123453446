import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=8, heads=2, ratio=2):
        super().__init__()
        theirs = Left(dim, heads, ratio)
        self.heads, self.ratio = heads, ratio
        self.norm1, self.norm2, self.sr_norm = theirs.norm1, theirs.norm2, theirs.sr_norm
        self.to_q, self.to_out, self.fc1, self.fc2 = theirs.q, theirs.proj, theirs.fc1, theirs.fc2
        self.to_k, self.to_v = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.to_k.weight.data, self.to_v.weight.data = (p.clone() for p in theirs.kv.weight.detach().chunk(2))
        self.to_k.bias.data, self.to_v.bias.data = (p.clone() for p in theirs.kv.bias.detach().chunk(2))
        self.reduce = nn.Linear(ratio * ratio * dim, dim)
        self.reduce.weight.data = theirs.sr.weight.detach().permute(0, 2, 3, 1).reshape(dim, -1).clone()
        self.reduce.bias.data = theirs.sr.bias.detach().clone()

    def forward(self, image):
        b, c, h, w = image.shape
        r = self.ratio
        x = image.permute(0, 2, 3, 1)
        y = self.norm1(x)
        squares = y.reshape(b, h // r, r, w // r, r, c).transpose(2, 3).reshape(b, (h // r) * (w // r), r * r * c)
        context = self.sr_norm(self.reduce(squares))
        q, k, v = (
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in (self.to_q(y.flatten(1, 2)), self.to_k(context), self.to_v(context))
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.to_out(y).view(b, h, w, c)
        x = x + self.fc2(F.gelu(self.fc1(self.norm2(x))))
        return x.permute(0, 3, 1, 2)


def inputs():
    return (torch.randn(2, 8, 4, 6),)
