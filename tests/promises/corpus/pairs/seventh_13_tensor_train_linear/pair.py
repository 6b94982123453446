import torch
from torch import nn

torch.manual_seed(113)
INS, OUTS, RANKS = (2, 3, 2), (3, 2, 2), (2, 3)


class Dense(nn.Module):
    """Builds the whole weight, then a linear."""

    def __init__(self):
        super().__init__()
        (i, j, k), (a, b, c), (r, s) = INS, OUTS, RANKS
        self.g1 = nn.Parameter(torch.randn(i, a, r))
        self.g2 = nn.Parameter(torch.randn(r, j, b, s))
        self.g3 = nn.Parameter(torch.randn(s, k, c))
        self.bias = nn.Parameter(torch.randn(a * b * c))

    def forward(self, x):
        w = torch.einsum("iar,rjbs,skc->ijkabc", self.g1, self.g2, self.g3)
        return x @ w.reshape(x.shape[-1], -1) + self.bias


class CoreByCore(nn.Module):
    """As matmuls over one mode at a time; cores stored as matrices."""

    def __init__(self):
        super().__init__()
        (i, j, k), (a, b, c), (r, s) = INS, OUTS, RANKS
        self.m1 = nn.Parameter(torch.empty(i, a * r))
        self.m2 = nn.Parameter(torch.empty(r * j, b * s))
        self.m3 = nn.Parameter(torch.empty(s * k, c))
        self.bias = nn.Parameter(torch.empty(a * b * c))

    def forward(self, x):
        (i, j, k), (a, b, c), (r, s) = INS, OUTS, RANKS
        n = x.shape[0]
        t = x.view(n, i, j, k).permute(0, 2, 3, 1) @ self.m1             # n j k (a r)
        t = t.view(n, j, k, a, r).permute(0, 2, 3, 4, 1)                 # n k a r j
        t = t.reshape(n, k, a, r * j) @ self.m2                          # n k a (b s)
        t = t.view(n, k, a, b, s).permute(0, 2, 3, 4, 1)                 # n a b s k
        t = t.reshape(n, a, b, s * k) @ self.m3                          # n a b c
        return t.reshape(n, a * b * c) + self.bias


left = Dense()
right = CoreByCore()
s = left.state_dict()
right.load_state_dict({
    "m1": s["g1"].flatten(1), "m2": s["g2"].flatten(2).flatten(0, 1),
    "m3": s["g3"].flatten(0, 1), "bias": s["bias"],
})
inputs = (torch.randn(3, 12),)
