import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
EDGES = torch.tensor([[0, 1, 2, 3, 4, 0, 2, 3, 1, 4, 4], [1, 0, 1, 2, 3, 4, 2, 3, 1, 0, 4]])  # source, target
NODES = 5


class GATConv(nn.Module):
    def __init__(self, din=6, dout=4, heads=2):
        super().__init__()
        self.heads, self.dout = heads, dout
        self.lin = nn.Linear(din, heads * dout, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, dout))
        self.att_dst = nn.Parameter(torch.randn(1, heads, dout))
        self.bias = nn.Parameter(torch.randn(heads * dout))

    def forward(self, x):
        src, dst = EDGES[0], EDGES[1]
        h = self.lin(x).view(-1, self.heads, self.dout)
        a_src = (h * self.att_src).sum(-1)
        a_dst = (h * self.att_dst).sum(-1)
        e = F.leaky_relu(a_src[src] + a_dst[dst], 0.2)
        index = dst[:, None].expand_as(e)
        m = torch.full((NODES, self.heads), float("-inf")).scatter_reduce(0, index, e, "amax")
        p = (e - m[dst]).exp()
        z = torch.zeros(NODES, self.heads).index_add(0, dst, p)
        alpha = p / z[dst]
        out = torch.zeros(NODES, self.heads, self.dout).index_add(0, dst, alpha[..., None] * h[src])
        return out.reshape(NODES, -1) + self.bias


class DenseGAT(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.w = nn.Parameter(ref.lin.weight.detach().view(2, 4, 6).transpose(1, 2).contiguous())
        self.a = nn.Parameter(torch.cat([ref.att_src, ref.att_dst], -1)[0].detach().clone())
        self.b = nn.Parameter(ref.bias.detach().view(2, 4).clone())
        adj = torch.zeros(NODES, NODES, dtype=torch.bool)
        adj[EDGES[1], EDGES[0]] = True
        self.register_buffer("adj", adj)

    def forward(self, x):
        heads = []
        for w, a, b in zip(self.w, self.a, self.b):
            h = x @ w
            score = F.leaky_relu((h @ a[4:])[:, None] + (h @ a[:4])[None, :], 0.2)
            alpha = score.masked_fill(~self.adj, -torch.inf).softmax(1)
            heads.append(alpha @ h + b)
        return torch.cat(heads, 1)


left = GATConv()
right = DenseGAT(left)
inputs = (torch.randn(NODES, 6),)
