"""NT-Xent as the original TensorFlow code has it: four blocks of similarities, a log-sum over two blocks for each view."""

import torch
from torch import nn


class SimCLRBlocks(nn.Module):
    def __init__(self, features=9, hidden=10, out=6, temperature=0.2):
        super().__init__()
        self.projector = nn.Sequential(nn.Linear(features, hidden), nn.LayerNorm(hidden), nn.ReLU(), nn.Linear(hidden, out))
        nn.init.normal_(self.projector[1].weight)
        nn.init.normal_(self.projector[1].bias)
        self.scale = 1 / temperature

    def embed(self, x):
        fc1, norm, _, fc2 = self.projector
        h = fc1(x)
        h = h - h.mean(-1, keepdim=True)
        h = h / (h.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias
        y = fc2(h.clamp_min(0))
        return y / y.square().sum(-1, keepdim=True).sqrt().clamp_min(1e-12)

    @staticmethod
    def without_diagonal(block):
        """The same rows less their own column: [N, N] → [N, N − 1]."""
        N = block.shape[0]
        columns = torch.arange(N - 1)[None, :] + (torch.arange(N - 1)[None, :] >= torch.arange(N)[:, None])
        return block.gather(1, columns)

    def forward(self, view1, view2):
        a, b = self.embed(view1), self.embed(view2)
        ab = torch.einsum("id,jd->ij", a, b) * self.scale
        aa = self.without_diagonal(a @ a.mT * self.scale)
        bb = self.without_diagonal(b @ b.mT * self.scale)
        row_a = torch.logsumexp(torch.cat([ab, aa], 1), 1)
        row_b = torch.log(ab.exp().sum(0) + bb.exp().sum(1))
        positive = ab.diagonal()
        return 0.5 * ((row_a - positive).mean() + (row_b - positive).mean())
