# EQUAL
"""Attention over the joints of a skeleton: GATConv with its softmax over edges, and masked dense attention."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(40)
BONES = [(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (1, 6), (6, 7), (0, 8)]
J, F_IN, H, C = 9, 4, 2, 5
both = BONES + [(b, a) for a, b in BONES] + [(j, j) for j in range(J)]
EDGES = torch.tensor(both).t()


class GATConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(F_IN, H * C, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, H, C))
        self.att_dst = nn.Parameter(torch.randn(1, H, C))
        self.bias = nn.Parameter(torch.randn(H * C))
        self.register_buffer("edge_index", EDGES)

    def forward(self, x):
        src, dst = self.edge_index
        h = self.lin(x).view(-1, H, C)
        a_src, a_dst = (h * self.att_src).sum(-1), (h * self.att_dst).sum(-1)
        e = F.leaky_relu(a_src[src] + a_dst[dst], 0.2)
        top = torch.full((J, H), -torch.inf).scatter_reduce_(0, dst[:, None].expand(-1, H), e, "amax")
        e = (e - top[dst]).exp()
        total = torch.zeros(J, H).index_add_(0, dst, e)
        alpha = e / (total[dst] + 0.0)
        out = torch.zeros(J, H, C).index_add_(0, dst, alpha.unsqueeze(-1) * h[src])
        return F.elu(out.flatten(1) + self.bias)


class MaskedAttention(nn.Module):
    def __init__(self, gat):
        super().__init__()
        w = gat.lin.weight.detach().view(H, C, F_IN)
        self.w = nn.Parameter(w.clone())
        self.a = nn.Parameter(torch.cat([gat.att_src, gat.att_dst], -1).detach()[0].clone())
        self.bias = nn.Parameter(gat.bias.detach().view(H, C).clone())
        adj = torch.zeros(J, J, dtype=torch.bool)
        adj[EDGES[1], EDGES[0]] = True
        self.register_buffer("adj", adj)

    def forward(self, x):
        h = torch.einsum("jf,hcf->hjc", x, self.w)
        s = h @ self.a[:, :C, None]                     # h j 1
        d = h @ self.a[:, C:, None]
        e = F.leaky_relu(d + s.mT, negative_slope=0.2)
        alpha = e.masked_fill(~self.adj, float("-inf")).softmax(-1)
        y = (alpha @ h).transpose(0, 1) + self.bias
        return F.elu(y.reshape(J, H * C))


left = GATConv().eval()
right = MaskedAttention(left).eval()
inputs = (torch.randn(J, F_IN),)
