"""E(n)-equivariant graph layer on a complete graph without self-loops."""
import torch
import torch.nn.functional as F
from torch import nn

N, H, M = 5, 6, 8


class EGCL(nn.Module):
    """Edge list, as in the authors' code."""

    def __init__(self):
        super().__init__()
        self.edge_mlp = nn.Sequential(nn.Linear(2 * H + 1, M), nn.SiLU(), nn.Linear(M, M), nn.SiLU())
        self.coord_mlp = nn.Sequential(nn.Linear(M, M), nn.SiLU(), nn.Linear(M, 1, bias=False))
        self.node_mlp = nn.Sequential(nn.Linear(H + M, M), nn.SiLU(), nn.Linear(M, H))
        pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
        self.register_buffer("row", torch.tensor([p[0] for p in pairs]))
        self.register_buffer("col", torch.tensor([p[1] for p in pairs]))

    def forward(self, h, x):
        row, col = self.row, self.col
        diff = x[row] - x[col]
        radial = (diff ** 2).sum(1, keepdim=True)
        m = self.edge_mlp(torch.cat([h[row], h[col], radial], dim=1))
        trans = diff * self.coord_mlp(m)
        x = x + torch.zeros_like(x).index_add(0, row, trans) / (N - 1)
        agg = torch.zeros(N, M, dtype=h.dtype).index_add_(0, row, m)
        return h + self.node_mlp(torch.cat([h, agg], 1)), x


class DenseEGCL(nn.Module):
    def __init__(self, s):
        super().__init__()
        w = s.edge_mlp[0].weight.detach()
        self.src, self.dst = nn.Linear(H, M), nn.Linear(H, M, bias=False)
        self.rad = nn.Parameter(w[:, 2 * H].clone())
        with torch.no_grad():
            self.src.weight.copy_(w[:, :H]); self.src.bias.copy_(s.edge_mlp[0].bias)
            self.dst.weight.copy_(w[:, H:2 * H])
        self.e2, self.c1, self.c2 = nn.Linear(M, M), nn.Linear(M, M), nn.Linear(M, 1, bias=False)
        self.n1, self.n2 = nn.Linear(H + M, M), nn.Linear(M, H)
        for a, b in ((self.e2, s.edge_mlp[2]), (self.c1, s.coord_mlp[0]), (self.c2, s.coord_mlp[2]), (self.n1, s.node_mlp[0]), (self.n2, s.node_mlp[2])):
            a.load_state_dict(b.state_dict())

    def forward(self, h, x):
        sq = x.square().sum(-1)
        d2 = sq[:, None] + sq[None] - 2 * x @ x.T
        e = self.src(h)[:, None] + self.dst(h)[None] + d2[..., None] * self.rad
        m = F.silu(self.e2(F.silu(e)))
        off = 1.0 - torch.eye(N, dtype=h.dtype)
        phi = self.c2(F.silu(self.c1(m))).squeeze(-1) * off
        x_new = x + (phi.sum(1, keepdim=True) * x - phi @ x) / (N - 1)
        agg = torch.einsum("ij,ijm->im", off, m)
        return h + self.n2(F.silu(self.n1(torch.cat([h, agg], -1)))), x_new


torch.manual_seed(0)
left = EGCL()
right = DenseEGCL(left)
inputs = (torch.randn(N, H), torch.randn(N, 3))
